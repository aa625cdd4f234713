/**
 * Rooms of bodies with simulation methods of their own under three grabs, one thread: CPU time of a tick, which does
 * not depend on other load, and the share of real time that follows from it. The grabs begin in the second second, each
 * on a body of its own if there are enough, and move in circles.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { readScene } from "../../../server/sim/scene/readScene.ts";
import type { Input } from "../../../server/sim/types.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { quantile, type Row } from "../../part.ts";

export const name = "methods";
export const about =
  "rooms of one-cube (each grab on one cube, and on all), one-sheet, integrators, modes, melt, smoke and tank under three grabs, one thread: CPU time of a tick, and the real time that it allows";
export const runs = 3;

const SCENES = join(dirname(fileURLToPath(import.meta.url)), "../../../scenes");
const ROOMS: [scene: string, together?: true][] = [
  ["one-cube"],
  ["one-cube", true],
  ...["one-sheet", "integrators", "modes", "melt", "smoke", "tank"].map((scene): [string] => [scene]),
];
const HANDS = 3;
const SECONDS = 10;
/** Radius, m, and frequency, Hz. */
const RADIUS = 0.15;
const FREQUENCY = 0.5;

async function measure(scene: string, together?: true): Promise<Row[]> {
  const whole = await readScene(join(SCENES, `${scene}.json`));
  const { memory, layout } = await createWorld(whole, { baseDir: SCENES });
  const world = openWorld(memory, layout);
  const hz = layout.tickHz;
  const hands = Array.from({ length: HANDS }, (_, n) => {
    const body = Math.floor((n * layout.bodyCount) / HANDS);
    // The grab is at the particle in the middle of the streamed list.
    const place = Math.floor(layout.bodies[body]!.streamedCount / 2);
    return { member: 1 + n, grab: 0, body, triangle: place, at: world.position(body, place) };
  });
  const inputs = (tick: number): Input[] => {
    if (tick < hz) return [];
    const angle = (2 * Math.PI * FREQUENCY * (tick - hz)) / hz;
    return hands.map(({ at, body, triangle, member, grab }): Input => {
      const [x, y, z] = [RADIUS * Math.sin(angle), RADIUS * (1 - Math.cos(angle)), 0.5 * RADIUS * Math.sin(angle)];
      const target: [number, number, number] = [at[0] + x, at[1] + y, at[2] + z];
      if (tick > hz) return { type: "move", member, grab, target };
      return { type: "grab", member, grab, body, triangle, u: 0.3, v: 0.3, target, ...(together && { together }) };
    });
  };
  const ms: number[] = [];
  for (let tick = 0; tick < SECONDS * hz; tick++) {
    const before = process.threadCpuUsage();
    const { events } = world.step(inputs(tick));
    const { user, system } = process.threadCpuUsage(before);
    // In `integrators` one body explodes on purpose, so only refused inputs are errors.
    const refused = events.find(({ type }) => type === "inputRejected");
    if (refused) throw new Error(`${scene}, tick ${tick}: ${JSON.stringify(refused)}`);
    if (tick >= hz) ms.push((user + system) / 1000);
  }
  const mean = ms.reduce((sum, value) => sum + value, 0) / ms.length;
  const hash = world.stateHash();
  const room = together ? `${scene}, all by each hand` : scene;
  return [
    { what: `${room}, processor time of a tick, median`, value: quantile(ms, 0.5), unit: "ms", hash },
    { what: `${room}, processor time of a tick, p99`, value: quantile(ms, 0.99), unit: "ms" },
    {
      ...{ what: `${room}, real time over its processor time, ${hz} Hz`, unit: "times" },
      ...{ value: 1000 / hz / mean, target: { atLeast: 1 } },
    },
  ];
}

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const room of ROOMS) rows.push(...(await measure(...room)));
  return rows;
}
