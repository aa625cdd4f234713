/**
 * A world restored from a checkpoint continues with the same bits as the original. This file covers spawned bodies,
 * stored impulses of rigid contacts and damaged bytes. golden.test.ts covers every bundled scene.
 */
import { describe, expect, it } from "vitest";
import type { Body, Collider } from "../../shared/scene/scene.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { CheckpointError, loadState, saveState } from "../../server/sim/world/checkpoint.ts";
import type { Input } from "../../server/sim/types.ts";
import { openWorld } from "../../server/sim/world.ts";
import { copyMemory } from "../../server/workers/stepping/memoryCopy.ts";
import { laboratory } from "../physics/laboratory.ts";
import { build, script } from "./run.ts";
import { softBox } from "../support/bodies.ts";

/** Ticks of the checkpoints: before and after the spawn at tick 30. */
const TAKEN = [26, 36];
/** Ticks to compare after each checkpoint. */
const ON = 8;

/** Inputs of the script, and at tick 30 the spawn of a body. */
const inputs = (tick: number, spawnable: readonly number[]): Input[] =>
  tick === 30
    ? [{ type: "spawn", member: 1, body: spawnable[0]!, position: [0, 1, 0], heading: [1, 0], occupied: "lift" }]
    : script(tick);

const G: [number, number, number] = [0, -9.81, 0];
const FLOOR: Collider = { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 };
const standing = (n: number): Body =>
  softBox(`box ${n}`, [0.2, 0.2, 0.2], [2, 2, 2], {
    transform: { translate: [0.01 * n, 0.105 + 0.21 * n, 0] },
    material: { density: 500, model: "shape-matching", mode: "rigid", friction: 0.5 },
  });

describe("checkpoints", () => {
  it("a world with a spawned body continues with the same bits", async () => {
    const created = await build("put-in");
    const { layout } = created;
    const memory = copyMemory(created.memory);
    const live = openWorld(memory, layout);
    const spawnable = layout.bodies.flatMap((body, b) => (body.spawnable ? [b] : []));
    expect(spawnable.length).toBeGreaterThan(0);
    let tick = 0;
    for (const taken of TAKEN) {
      while (tick < taken) live.step(inputs(++tick, spawnable));
      const state = saveState(memory, created.memory, layout);
      const restored = copyMemory(created.memory);
      loadState(restored, layout, state);
      const other = openWorld(restored, layout);
      expect(other.stateHash()).toBe(live.stateHash());
      for (let n = 0; n < ON; n++) {
        const now = inputs(++tick, spawnable);
        const [one, two] = [live.step(now), other.step(now)];
        expect(two.events).toEqual(one.events);
        expect(other.stateHash(), `tick ${tick}, ${n + 1} after the checkpoint`).toBe(live.stateHash());
        expect(other.contactCounts()).toEqual(live.contactCounts());
      }
      // checkpoints of both worlds have the same bytes
      expect(
        Buffer.compare(saveState(restored, created.memory, layout), saveState(memory, created.memory, layout)),
      ).toBe(0);
    }
  });

  it("the stored impulses of rigid contacts are part of a checkpoint", async () => {
    const { created, world, run } = await laboratory({ bodies: [0, 1].map(standing), colliders: [FLOOR], gravity: G });
    const { memory, layout } = created;
    const template = copyMemory(memory);
    run(60);
    const state = saveState(memory, template, layout);
    const restored = copyMemory(template);
    loadState(restored, layout, state);
    const without = copyMemory(template);
    loadState(without, layout, state);
    const i32 = new Int32Array(without.buffer);
    const kept = i32[(L.HEADER + L.H_RIGID_KEPT) / 4]! / 4;
    const words = (i32[(L.HEADER + L.H_RIGID_KEPT_CAPACITY) / 4]! * L.RIGID_KEPT_BYTES) / 4;
    expect(i32.subarray(kept, kept + words).some((word) => word !== 0)).toBe(true);
    i32.fill(0, kept, kept + words);
    const [other, bare] = [openWorld(restored, layout), openWorld(without, layout)];
    for (const each of [other, bare]) each.mayRest = false;
    let differed = false;
    for (let n = 0; n < ON; n++) {
      run(1);
      other.step([]);
      bare.step([]);
      expect(other.stateHash(), `${n + 1} ticks after the checkpoint`).toBe(world.stateHash());
      differed ||= bare.stateHash() !== world.stateHash();
    }
    expect(differed, "without the stored impulses the world must diverge").toBe(true);
  });

  it("low words are part of a checkpoint: an undamped body in motion, 300 m from the origin", async () => {
    const cube = (name: string, at: number): Body =>
      softBox(name, [0.2, 0.2, 0.2], [2, 2, 2], {
        solver: "compliant",
        transform: { translate: [at, at, at] },
        material: { density: 500, youngsModulus: 1e5, poissonsRatio: 0.3 },
      });
    const { created, world, run } = await laboratory({
      gravity: G,
      worldRadius: 1e4,
      bodies: [cube("far", 300), cube("near", -300)],
    });
    const { memory, layout } = created;
    const template = copyMemory(memory);
    const { first, count } = layout.bodies[0]!;
    const words = new Int32Array(memory.buffer);
    const [low, lowSpeed] = [L.H_LOW, L.H_LOW_SPEED].map((at) => words[(L.HEADER + at) / 4]! / 4 + 4 * first);
    // every particle gets a velocity of its own
    const v = new Float32Array(memory.buffer, layout.v + 16 * first, 4 * count);
    for (let i = 0; i < count; i++) v.set([0.3 * Math.sin(i), 0.2 * Math.cos(3 * i), 0.1 * Math.sin(2 * i)], 4 * i);
    run(37);
    for (const at of [low!, lowSpeed!])
      expect(words.subarray(at, at + 4 * count).some((word) => word !== 0)).toBe(true);
    const state = saveState(memory, template, layout);
    const restored = copyMemory(template);
    loadState(restored, layout, state);
    const without = copyMemory(template);
    loadState(without, layout, state);
    for (const at of [low!, lowSpeed!]) new Int32Array(without.buffer).fill(0, at, at + 4 * count);
    const [other, bare] = [openWorld(restored, layout), openWorld(without, layout)];
    for (const each of [other, bare]) each.mayRest = false;
    let differed = false;
    for (let n = 0; n < 60; n++) {
      run(1);
      other.step([]);
      bare.step([]);
      expect(other.stateHash(), `${n + 1} ticks after the checkpoint`).toBe(world.stateHash());
      differed ||= bare.stateHash() !== world.stateHash();
    }
    expect(differed, "without low words the world must diverge").toBe(true);
  });

  it("truncated bytes and addresses outside of the state are refused", async () => {
    const created = await build("stretched-cloth");
    const { layout } = created;
    const memory = copyMemory(created.memory);
    openWorld(memory, layout).step([]);
    const state = saveState(memory, created.memory, layout);
    const load = (bytes: Uint8Array): void => loadState(copyMemory(created.memory), layout, bytes);
    expect(() => load(state.subarray(0, state.length - 1))).toThrow(CheckpointError);
    expect(() => load(state.subarray(0, state.length - 1))).toThrow(/are left/);
    const elsewhere = state.slice();
    new DataView(elsewhere.buffer).setUint32(0, 128, true);
    expect(() => load(elsewhere)).toThrow(/at address 128 are no part of this scene's state/);
    const inList = state.slice();
    const second = 8 + new DataView(state.buffer).getUint32(4, true);
    new DataView(inList.buffer).setUint32(second, layout.lists[0]!.address, true);
    expect(() => load(inList)).toThrow(/no part of this scene's state/);
  });
});
