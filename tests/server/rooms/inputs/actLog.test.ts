/** The log of acts: one act for a slider's moves or a shake, a bound, and what still stands. */
import { expect, test } from "vitest";
import { ActLog, MOST_ACTS } from "../../../../server/rooms/inputs/actLog.ts";
import type { Facts } from "../../../../server/rooms/roomFacts.ts";
import { NO_WIND } from "../../../../server/sim/tuning/windRow.ts";
import type { Input, SimEvent } from "../../../../server/sim/types.ts";
import type { Tuning } from "../../../../shared/members/tuningLimits.ts";

const HZ = 60;
const TUNING: Tuning = {
  gravity: [0, -9.81, 0],
  wind: NO_WIND,
  timeScale: 1,
  pausedTicks: 0,
  bodies: [{ body: 0, friction: 0.5 }],
};

const AS_SCENE: Facts = { tuning: TUNING, absent: new Set(), looks: new Map(), pins: new Map() };

const grab = (member: number): Input => ({
  type: "grab",
  member,
  grab: 1,
  body: 0,
  triangle: 0,
  u: 0.2,
  v: 0.2,
  target: [0, 0, 0],
});
const move = (member: number): Input => ({ type: "move", member, grab: 1, target: [0, 1, 0] });

test("moves of a grab are one act, also while another member pulls; after a pause a new act begins", () => {
  const log = new ActLog(HZ);
  for (let tick = 1; tick <= 100; tick++)
    log.take(tick, tick === 1 ? [grab(1), grab(2)] : [move(1), move(2)], [], TUNING);
  expect(log.acts.map(({ member, tick, until }) => [member, tick, until])).toEqual([
    [2, 1, 100],
    [1, 1, 100],
  ]);
  log.take(100 + HZ, [move(1)], [], TUNING);
  expect(log.acts[0]).toMatchObject({ member: 1, type: "pull", tick: 100 + HZ });
});

test("the log keeps a bounded number of acts, the newest", () => {
  const log = new ActLog(HZ);
  for (let k = 0; k < 3 * MOST_ACTS; k++) log.take(k * HZ, [grab(k)], [], TUNING);
  expect(log.acts.length).toBe(MOST_ACTS);
  expect(log.acts[0]!.member).toBe(3 * MOST_ACTS - 1);
});

test("a refused spawn is no act; an act whose inverse is refused can be tried again", () => {
  const log = new ActLog(HZ);
  const spawn: Input = { type: "spawn", member: 1, body: 3, position: [0, 0, 0], heading: [1, 0], occupied: "refuse" };
  const no: SimEvent = { type: "inputRejected", tick: 1, member: 1, field: "position", value: 0, limit: "", input: 0 };
  log.take(1, [spawn], [no], TUNING);
  expect(log.acts).toEqual([]);
  log.take(2, [spawn], [{ type: "spawned", tick: 2, member: 1, body: 3 }], TUNING);
  const [act] = log.acts;
  const remove: Input = { type: "remove", member: 1, body: 3 };
  log.undoBy(act!, [remove]);
  expect(log.acts).toEqual([]);
  log.take(3, [remove], [{ ...no, tick: 3 }], TUNING);
  expect(log.acts).toEqual([act]);
  const pose = { position: [0, 0, 0] as [number, number, number], heading: [1, 0] as [number, number] };
  log.take(4, [{ ...remove }], [{ type: "removed", tick: 4, member: 1, body: 3, ...pose }], TUNING);
  expect(log.acts).toMatchObject([{ type: "remove" }, { type: "spawn" }]);
  // The body is out: only its removal stands.
  expect(log.acts.map((one) => log.stands(one, { ...AS_SCENE, absent: new Set([3]) }))).toEqual([true, false]);
});

test("a change of physics stands until one of its values is changed again", () => {
  const log = new ActLog(HZ);
  const after: Tuning = { ...TUNING, gravity: [0, 1, 0] };
  log.take(
    1,
    [{ type: "tune", member: 1, gravity: [0, 1, 0] }],
    [{ type: "tuned", tick: 1, member: 1, tuning: after }],
    TUNING,
  );
  const stands = (now: Tuning): boolean => log.stands(log.acts[0]!, { ...AS_SCENE, tuning: now });
  expect(stands(after)).toBe(true);
  expect(stands({ ...after, bodies: [{ body: 0, friction: 1 }] })).toBe(true);
  expect(stands({ ...after, gravity: [0, 2, 0] })).toBe(false);
});

test("other members' inputs are known by tick; a return to an earlier tick forgets the later acts", () => {
  const log = new ActLog(HZ);
  log.take(10, [grab(1)], [], TUNING);
  expect(log.othersActedSince(1, 10)).toBe(false);
  log.take(100, [grab(2)], [], TUNING);
  log.take(200, [grab(1)], [], TUNING);
  log.take(300, [move(1)], [], TUNING);
  expect(log.othersActedSince(1, 100)).toBe(true);
  expect(log.othersActedSince(1, 101)).toBe(false);
  log.wentBack(99);
  expect(log.acts.map(({ tick }) => tick)).toEqual([10]);
});

test("changes of a look in a row are one act; it stands while the body looks so, and a removal remembers the look", () => {
  const log = new ActLog(HZ);
  const dress = (color: string): Input => ({ type: "dress", member: 1, body: 3, color });
  const dressed = (tick: number, before: object, look: object): SimEvent => ({
    type: "dressed",
    tick,
    member: 1,
    body: 3,
    before,
    look,
    input: 0,
  });
  const red = { color: "#ff0000" };
  const blue = { color: "#0000ff" };
  log.take(1, [dress(red.color)], [dressed(1, {}, red)], TUNING);
  log.take(9, [dress(blue.color)], [dressed(9, red, blue)], TUNING);
  expect(log.acts).toMatchObject([{ type: "dress", before: {}, after: blue, tick: 1, until: 9 }]);
  const stands = (look: object): boolean => log.stands(log.acts[0]!, { ...AS_SCENE, looks: new Map([[3, look]]) });
  expect([stands(blue), stands(red), stands({})]).toEqual([true, false, false]);

  const pose = { position: [0, 0, 0] as [number, number, number], heading: [1, 0] as [number, number] };
  const { input: _, ...undressed } = dressed(99, blue, {}) as Extract<SimEvent, { type: "dressed" }>;
  log.take(
    99,
    [{ type: "remove", member: 1, body: 3 }],
    [{ type: "removed", tick: 99, member: 1, body: 3, ...pose }, undressed],
    TUNING,
  );
  expect(log.acts[0]).toMatchObject({ type: "remove", look: blue });
  // The server's own changes are no acts.
  log.take(200, [{ ...dress(red.color), member: 0 }], [dressed(200, {}, red)], TUNING);
  expect(log.acts[0]).toMatchObject({ type: "remove" });
});

test("a pin and its removal stand while the pin is as they left it; the server's removals are no acts", () => {
  const log = new ActLog(HZ);
  const at = { body: 3, triangle: 0, u: 0.25, v: 0.5, target: [0, 1, 0] as [number, number, number], by: 1 };
  const stands = (pins: [number, typeof at][], absent: number[] = []): boolean =>
    log.stands(log.acts[0]!, { ...AS_SCENE, absent: new Set(absent), pins: new Map(pins) });
  const set: SimEvent = { type: "pinned", tick: 1, member: 1, pin: 2, after: at, input: 0 };
  log.take(1, [{ type: "pin", member: 1, grab: 1, ...at }], [set], TUNING);
  expect(log.acts).toMatchObject([{ type: "pin", pin: 2, after: at }]);
  expect([stands([[2, at]]), stands([[2, { ...at, by: 5 }]]), stands([])]).toEqual([true, false, false]);

  const gone: SimEvent = { type: "pinned", tick: 50, member: 1, pin: 2, before: at, input: 0 };
  log.take(50, [{ type: "unpin", member: 1, pin: 2 }], [gone], TUNING);
  expect(log.acts[0]).toMatchObject({ type: "pin", before: at, after: undefined });
  expect([stands([]), stands([[2, at]]), stands([], [3])]).toEqual([true, false, false]);

  log.take(60, [{ type: "unpin", member: 0, pin: 2 }], [{ ...gone, tick: 60, member: 0 }], TUNING);
  log.take(70, [{ type: "unpin", member: 1, pin: 2 }], [], TUNING);
  expect(log.acts).toHaveLength(2);
  // A reset put the body back: pinning it at the old place would pull it there.
  log.take(80, [{ type: "reset", member: 2 }], [{ type: "reset", tick: 80, member: 2 }], TUNING);
  const removal = log.acts[1]!;
  expect(log.stands(removal, { ...AS_SCENE, pins: new Map() })).toBe(false);
});
