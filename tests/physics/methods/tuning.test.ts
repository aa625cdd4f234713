/**
 * Tuning of a method by the owner of a running room. A room tuned before its first tick moves bit for bit as a scene
 * with these values, and the tuned values are part of the state.
 */
import { describe, expect, test } from "vitest";
import type { Method } from "../../../shared/scene/sceneMethodTypes.ts";
import { loadState, saveState } from "../../../server/sim/world/checkpoint.ts";
import type { Input } from "../../../server/sim/types.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import { type Laboratory, laboratory } from "../laboratory.ts";
import { cube } from "./kit.ts";

type Change = { steps?: number; modes?: number };

const PULL: Input = { type: "grab", member: 1, grab: 0, body: 0, triangle: 9, u: 0.2, v: 0.3, target: [0.1, 0.9, 0.2] };
const tune = (change: Change): Input => ({ type: "tune", member: 1, body: 0, ...change });

const ofCube = (method: Method): Promise<Laboratory> => laboratory({ bodies: [cube(method)], gravity: [0, -9.81, 0] });

/** float64[6N] positions and velocities in the method's state. */
function stateOf({ created: { memory, layout } }: Laboratory): Float64Array {
  const [own] = layout.methods;
  return new Float64Array(memory.buffer, own!.state, 6 * layout.bodies[own!.body]!.count).slice();
}

describe.each<[string, Method, Change]>([
  ["springs, explicit", { type: "mass-spring", integrator: "explicit", steps: 16 }, { steps: 40 }],
  ["springs, implicit", { type: "mass-spring" }, { steps: 3 }],
  ["elements", { type: "finite-elements" }, { steps: 1 }],
  ["volumes", { type: "finite-volumes", integrator: "symplectic", steps: 8 }, { steps: 9 }],
  ["modes", { type: "modal", modes: 20 }, { modes: 5 }],
  ["modes and steps", { type: "modal", modes: 20 }, { modes: 3, steps: 1 }],
])("%s", (_, method, change) => {
  test("a tuned room moves as a scene with these values", async () => {
    const tuned = await ofCube(method);
    const said = await ofCube({ ...method, ...change } as Method);
    const plain = await ofCube(method);
    expect(tuned.run(12, [tune(change), PULL])[0]).toMatchObject({
      type: "tuned",
      tuning: { bodies: [{ body: 0, ...change }] },
    });
    said.run(12, [PULL]);
    plain.run(12, [PULL]);
    expect(stateOf(tuned)).toEqual(stateOf(said));
    expect(stateOf(tuned)).not.toEqual(stateOf(plain));
    expect(tuned.world.methodEnergy(0)).toBe(said.world.methodEnergy(0));
  });

  test("a checkpoint stores tuned values, an undo restores earlier ones, and asScene resets them", async () => {
    const { created, world, run } = await ofCube(method);
    const { memory, template, layout } = { ...created, template: copyMemory(created.memory) };
    run(4, [PULL]);
    const before = saveState(memory, template, layout);
    const scene = world.tuning();
    run(4, [tune(change)]);
    const restored = copyMemory(template);
    loadState(restored, layout, saveState(memory, template, layout));
    const other = openWorld(restored, layout);
    expect(other.tuning().bodies[0]).toMatchObject(change);
    run(4);
    for (let tick = 0; tick < 4; tick++) other.step([]);
    expect(other.stateHash()).toBe(world.stateHash());
    const undone = copyMemory(template);
    loadState(undone, layout, before);
    expect(openWorld(undone, layout).tuning()).toEqual(scene);
    world.step([{ type: "tune", member: 1, asScene: true }]);
    expect(world.tuning()).toEqual(scene);
  });
});

test("explicit springs explode with long steps and not with short ones", async () => {
  const method: Method = { type: "mass-spring", integrator: "explicit", steps: 16, stiffnessDamping: 0.005 };
  const held = async (steps: number): Promise<boolean> =>
    (await ofCube(method)).run(120, [tune({ steps })]).some(({ type }) => type === "bodyHeld");
  expect(await held(32)).toBe(false);
  expect(await held(2)).toBe(true);
});

test("values that depend on the step are kept, and no more steps are allowed than in a scene", async () => {
  const boundary = await ofCube({ type: "boundary-elements" });
  expect(boundary.world.tuning().bodies[0]).toEqual({ body: 0, friction: 0.5 });
  const sheet = await laboratory({
    bodies: [
      {
        name: "sheet",
        kind: "cloth",
        mesh: { type: "grid", size: [1, 1], cells: [40, 40] },
        material: { model: "pbd", density: 300, thickness: 0.002, distance: { compliance: 0.03 } },
        contact: { self: false },
        method: { type: "mass-spring", steps: 1 },
      },
    ],
  });
  const most = Math.floor(2 ** 18 / 41 ** 2);
  expect(sheet.run(1, [tune({ steps: most + 1 })])).toMatchObject([
    { type: "inputRejected", field: "steps", value: most + 1, limit: `<= ${most} for its number of particles` },
  ]);
});
