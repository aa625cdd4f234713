/**
 * The scene `drape` under three grabs, here and in Rapier: the same sheet, colliders and targets (hands/circles.ts),
 * tick by tick in alternation. Here a grab is the simulation's own; in Rapier the corners of the grabbed triangle are
 * kinematic. CPU time of this thread.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Vec3 } from "../../shared/scene/scene.ts";
import { createWorld } from "../../server/sim/world/createWorld.ts";
import { readScene } from "../../server/sim/scene/readScene.ts";
import { openWorld } from "../../server/sim/world.ts";
import { circles, offsetOf, spread } from "../hands/circles.ts";
import { quantile, type Row } from "../part.ts";
import { rapierCloth } from "./rapier.ts";
import { selfIntersections } from "./selfIntersections.ts";

const SCENE = fileURLToPath(new URL("../../scenes/drape.json", import.meta.url));
const HANDS = 3;
/** Ticks before the grabs begin, and ticks with them. */
const SETTLE = 60;
const TICKS = 60;

/** CPU time of this thread for `work`, ms. */
function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

export async function drapeRows(): Promise<Row[]> {
  const scene = await readScene(SCENE);
  const created = await createWorld(scene, { baseDir: dirname(SCENE) });
  const world = openWorld(created.memory, created.layout);
  world.mayRest = false;
  const { positions, triangles, mass, friction, damping } = created.bodies[0]!;
  const { tickHz, origin } = created.layout;
  if (origin.some((c) => c !== 0)) throw new Error(`drape: origin is ${origin.join(" ")}, but must be the world's`);
  const { material } = scene.bodies[0]!;
  const thickness = "thickness" in material ? material.thickness : 0;
  const peer = await rapierCloth({
    positions,
    triangles,
    mass: mass.reduce((sum, m) => sum + m, 0),
    thickness,
    friction,
    damping,
    colliders: scene.colliders ?? [],
    tickHz,
  });
  const particleOf =
    (x: Float32Array) =>
    (p: number): Vec3 => [x[3 * p]!, x[3 * p + 1]!, x[3 * p + 2]!];
  const own: number[] = [];
  const theirs: number[] = [];
  let pull: ReturnType<typeof circles> | undefined;
  let led: { hand: number; particle: number; start: Vec3 }[] = [];
  for (let tick = 0; tick < SETTLE + TICKS; tick++) {
    if (tick === SETTLE) {
      pull = circles(created, world, HANDS);
      const at = particleOf(peer.positions());
      led = spread([{ body: 0, triangles, at }], HANDS).flatMap(({ triangle }, hand) =>
        [0, 1, 2].map((k) => triangles[3 * triangle + k]!).map((particle) => ({ hand, particle, start: at(particle) })),
      );
    }
    const inputs = pull?.() ?? [];
    const seconds = (tick + 1 - SETTLE) / tickHz;
    const targets = new Map(
      led.map(({ hand, particle, start }) => [
        particle,
        start.map((c, r) => c + offsetOf(hand, HANDS, seconds)[r]!) as Vec3,
      ]),
    );
    const ownMs = cpuMs(() => world.step(inputs));
    const theirMs = cpuMs(() => peer.step(targets));
    if (tick >= SETTLE) own.push(ownMs);
    if (tick >= SETTLE) theirs.push(theirMs);
  }
  const streamed = new Float32Array(3 * created.topology.particles);
  world.readStreamed(streamed);
  const what = `drape, ${HANDS} hands`;
  return [
    { what: `${what}, median tick, Pliant`, value: quantile(own, 0.5), unit: "ms", hash: world.stateHash() },
    { what: `${what}, median tick, Rapier`, value: quantile(theirs, 0.5), unit: "ms" },
    {
      what: `${what}, Rapier over Pliant`,
      value: quantile(theirs, 0.5) / quantile(own, 0.5),
      unit: "x",
      target: { atLeast: 15 },
    },
    {
      what: `${what}, intersections at the end, Pliant`,
      value: selfIntersections(streamed, triangles),
      unit: "",
      target: { atMost: 0 },
    },
    {
      what: `${what}, intersections at the end, Rapier`,
      value: selfIntersections(peer.positions(), triangles),
      unit: "",
    },
  ];
}
