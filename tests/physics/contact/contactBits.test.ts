/**
 * Contacts are exact to the bit in two ways. No threshold is a length, so the same scene at another size moves the same
 * up to the factor: lengths, gravity and speeds times a power of two, moduli as their units require. The list defines
 * the order of contacts, so one, two and three threads give the same bits.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { StepWorkers } from "../../../server/sim/threads/stepWorkers.ts";
import { openWorld } from "../../../server/sim/world.ts";
import * as scenes from "./contactScenes.ts";
import { tallyOf } from "./contactWatch.ts";
import { laboratory } from "../laboratory.ts";

const NAMES = ["clash", "crumple", "fourJellies", "pinch"] as const;
const TICKS = 40;

/** Returns the same scene, s times as large. */
function scaled(
  { bodies, colliders = [], gravity = [0, 0, 0], ...rest }: Partial<Scene> & Pick<Scene, "bodies">,
  s: number,
): Partial<Scene> & Pick<Scene, "bodies"> {
  const by = (v: Vec3): Vec3 => [s * v[0], s * v[1], s * v[2]];
  const material = (m: object): object =>
    Object.fromEntries(
      Object.entries(m).map(([key, value]) => [
        key,
        value * ({ thickness: s, youngsModulus: s ** 2, bendingStiffness: s ** 5 }[key] ?? 1),
      ]),
    );
  const body = (b: Body): Body =>
    ({
      ...b,
      material: material(b.material),
      mesh: { ...b.mesh, size: (b.mesh as { size: number[] }).size.map((l) => s * l) },
      transform: { ...b.transform, translate: by(b.transform?.translate ?? [0, 0, 0]) },
      velocity: by(b.velocity ?? [0, 0, 0]),
      ...(b.pins && {
        pins: b.pins.map(({ select }) => ({
          select: {
            box: {
              min: by((select as { box: { min: Vec3 } }).box.min),
              max: by((select as { box: { max: Vec3 } }).box.max),
            },
          },
        })),
      }),
    }) as Body;
  const collider = (c: Collider): Collider =>
    ({
      ...c,
      ...(c.type === "plane"
        ? { offset: s * c.offset }
        : c.type === "box"
          ? { center: by(c.center), halfExtents: by(c.halfExtents) }
          : {}),
      ...(c.motion && {
        motion: {
          ...c.motion,
          keys: c.motion.keys.map((key) => ({ ...key, ...(key.translate && { translate: by(key.translate) }) })),
        },
      }),
    }) as Collider;
  return {
    ...rest,
    gravity: by(gravity),
    worldRadius: 1000 * s,
    quantum: 1e-3,
    bodies: bodies.map(body),
    colliders: colliders.map(collider),
  };
}

describe.each(NAMES)("%s", (name) => {
  const { scene } = scenes[name];

  test("other sizes give the same motion to the last bit", async () => {
    const run = async (s: number): Promise<{ x: Float64Array[]; felt: number }> => {
      const lab = await laboratory(scaled(scene, s));
      expect(lab.run(TICKS)).toEqual([]);
      return { x: lab.created.bodies.map((_, b) => lab.positions(b)), felt: tallyOf(lab).impulses };
    };
    const one = await run(1);
    expect(one.felt).toBeGreaterThan(0);
    for (const s of [2 ** -10, 2 ** 6]) {
      const { x, felt } = await run(s);
      expect(felt).toBe(one.felt);
      x.forEach((body, b) => expect(body.map((v) => v / s)).toEqual(one.x[b]));
    }
  });

  test("any number of threads gives the same bits", async () => {
    const hashes = new Set<string>();
    for (const threads of [1, 2, 3]) {
      const created = await createWorld(validateScene({ version: 1, title: name, refine: false, ...scene }), {
        baseDir: ".",
      });
      const world = openWorld(created.memory, created.layout);
      const workers = await StepWorkers.start(world, created.memory, threads);
      for (let tick = 0; tick < TICKS; tick++) workers.step([]);
      await workers.stop();
      hashes.add(world.stateHash());
    }
    expect(hashes.size).toBe(1);
  });
});
