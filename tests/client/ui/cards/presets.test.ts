/** Presets stay within the room's limits, and say whether they would change anything. */
import { expect, test } from "vitest";
import { isUseful, PRESETS } from "../../../../client/ui/cards/presets.ts";
import { embedCode } from "../../../../client/ui/room/embedCode.ts";
import { NO_WIND } from "../../../../server/sim/tuning/windRow.ts";
import { type Tuning, type TuningLimits, WIND_SPANS } from "../../../../shared/members/tuningLimits.ts";

const LIMITS: TuningLimits = {
  gravity: 20,
  wind: { velocity: 6, ...WIND_SPANS },
  bodies: [{ youngsModulus: { least: 500, most: 3000 } }, {}],
};
const NOW: Tuning = {
  gravity: [0, -9.81, 0],
  wind: NO_WIND,
  timeScale: 1,
  pausedTicks: 0,
  bodies: [
    { body: 0, damping: 1, youngsModulus: 1000 },
    { body: 1, friction: 0.3 },
  ],
};
const preset = (name: string) => PRESETS.find(({ text }) => text === name)!;
const changesOf = (name: string, now = NOW) => preset(name).changes(now, LIMITS);

test("a preset changes all bodies that have the value, and keeps to their limits", () => {
  expect(changesOf("presetHoney")).toEqual([{ body: 0, damping: 8 }]);
  expect(changesOf("presetSoft")).toEqual([{ body: 0, youngsModulus: 500 }]);
  expect(changesOf("presetStiff")).toEqual([{ body: 0, youngsModulus: 3000 }]);
  expect(changesOf("presetWindy")[0]!.wind).toMatchObject({ velocity: [6, 0, 0], density: 1.2 });
  expect(changesOf("presetMoon")).toEqual([{ gravity: [0, -1.62, 0] }]);
  expect(changesOf("presetSlow")).toEqual([{ timeScale: 0.25 }]);
});

test("a preset that would change nothing is not offered", () => {
  const rigid: Tuning = { ...NOW, bodies: [{ body: 1, friction: 0.3 }] };
  for (const name of ["presetHoney", "presetSoft", "presetStiff"]) {
    expect(isUseful(preset(name), NOW, LIMITS)).toBe(true);
    expect(isUseful(preset(name), rigid, LIMITS)).toBe(false);
  }
  expect(isUseful(preset("presetMoon"), rigid, LIMITS)).toBe(true);
});

test("the code of a frame is one element, whatever the address has in it", () => {
  expect(embedCode('https://a.example/r/x"><b', 480, 360)).toBe(
    '<iframe src="https://a.example/r/x&quot;><b?ui=minimal" width="480" height="360" title="Pliant" allow="fullscreen" style="border:0;max-width:100%"></iframe>',
  );
});
