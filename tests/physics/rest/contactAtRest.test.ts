/**
 * The cost of contact at rest is proportional to motion (kernel/assembly/contact/detect/stirredLeaves.ts). Counts of
 * the kernel stand for cost: leaf pairs tested and blocks of rows checked. A leaf that has moved by its play is looked
 * at, and nothing passes through a pair that was quiet.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { foldedSheet, SUBSTEPS } from "../../../load-tests/folds/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { testFolder } from "../../support/testFolder.ts";

const H = 1 / 60 / SUBSTEPS;
/** Distance of sheets that do not meet, m. */
const APART = 0.5;
const STILL = 24;

/** Sheets of n x n particles, folded on themselves, after they have settled. */
async function folded(n: number, sheets = 1): Promise<Laboratory> {
  const folder = testFolder("rest");
  const { mesh, scene } = foldedSheet(n, "fold.obj");
  writeFileSync(join(folder, "fold.obj"), mesh);
  const { bodies, colliders, substeps, tickHz } = scene;
  const sheet = bodies[0]!;
  const lab = await laboratory(
    {
      bodies: Array.from({ length: sheets }, (_, k) => ({
        ...sheet,
        name: `sheet ${k}`,
        transform: { translate: [APART * k, 0.0006, 0] },
      })),
      colliders,
      substeps,
      tickHz,
      gravity: [0, -9.81, 0],
    },
    folder,
  );
  lab.run(STILL);
  return lab;
}

const words = (lab: Laboratory): Int32Array => new Int32Array(lab.created.memory.buffer);
const header = (lab: Laboratory, offset: number): number => words(lab)[(L.HEADER + offset) / 4]!;
const front = (lab: Laboratory, offset: number): number => words(lab)[(header(lab, L.H_FRONT) + offset) / 4]!;

/** Parts of all leaf pairs and blocks that a substep looks at, when it advances the front twice, on average. */
function lookedAt(lab: Laboratory, ticks: number): { pairs: number; blocks: number } {
  const [tested, checked] = [front(lab, L.FRONT_TESTED), front(lab, L.FRONT_CHECKED)];
  lab.run(ticks);
  const times = 2 * ticks * SUBSTEPS;
  return {
    pairs: (front(lab, L.FRONT_TESTED) - tested) / times / front(lab, L.FRONT_LEAF_PAIR_COUNT),
    blocks: (front(lab, L.FRONT_CHECKED) - checked) / times / header(lab, L.H_CONTACT_BLOCK_COUNT),
  };
}

/** Leaves that contain a particle, with their plays, m. */
function leavesOf(lab: Laboratory, particle: number): { leaf: number; play: number }[] {
  const i32 = words(lab);
  const f32 = new Float32Array(lab.created.memory.buffer);
  const address = lab.created.layout.x + 16 * particle;
  return Array.from({ length: front(lab, L.FRONT_LEAF_COUNT) }, (_, leaf) => leaf).flatMap((leaf) => {
    const row = (front(lab, L.FRONT_LEAVES) + leaf * L.LEAF_BYTES) / 4;
    const particles = i32.subarray(row + L.LEAF_PARTICLE / 4, row + L.LEAF_PARTICLE / 4 + i32[row]!);
    const play = f32[(front(lab, L.FRONT_STIRS) + leaf * L.STIR_BYTES + L.STIR_PLAY) / 4]!;
    return particles.includes(address) ? [{ leaf, play }] : [];
  });
}

/** Particle of the upper layer in the middle of a sheet of n x n particles. */
const above = (n: number): number => Math.round(0.75 * n) * n + Math.round(n / 2);

/** A substep in which one particle alone moves by `d`, m. */
function moveAlone(lab: Laboratory, particle: number, d: [number, number, number]): void {
  const { kernel } = lab.world;
  kernel.saveSafePositions();
  d.forEach((value, r) => (lab.x[4 * particle + r]! += value));
  kernel.verifyContacts(H);
}

const floats = (lab: Laboratory): Float32Array => new Float32Array(lab.created.memory.buffer);
const floatOf = (lab: Laboratory, offset: number): number => (header(lab, L.H_FRONT) + offset) / 4;

/** Forgets the paths of all leaves since they were last stirred. */
function forgetPaths(lab: Laboratory): void {
  const f32 = new Float32Array(lab.created.memory.buffer);
  for (let leaf = 0; leaf < front(lab, L.FRONT_LEAF_COUNT); leaf++)
    f32[(front(lab, L.FRONT_STIRS) + leaf * L.STIR_BYTES + L.STIR_MOVED) / 4] = 0;
}

describe("cost", () => {
  test("a sheet at rest looks at a tenth of its pairs and blocks, though all of its particles tremble", async () => {
    const lab = await folded(30);
    const before = lab.positions();
    const { pairs, blocks } = lookedAt(lab, 4);
    const after = lab.positions();
    expect(after.filter((x, k) => x !== before[k]).length).toBeGreaterThan(0.8 * after.length);
    expect(header(lab, L.H_CONTACT_BLOCK_COUNT)).toBeGreaterThan(4000);
    expect(pairs).toBeLessThan(0.1);
    expect(blocks).toBeLessThan(0.1);
  });

  test("beside a moving sheet, five sheets at rest are not looked at", async () => {
    const sheets = 6;
    const lab = await folded(16, sheets);
    const calm = lookedAt(lab, 4);
    lab.put(
      0,
      (x) => x,
      () => [0, 0, 0.5],
    );
    const moving = lookedAt(lab, 4);
    // the moving sheet's own share, and that of the others at rest
    expect(moving.pairs).toBeGreaterThan(2 * calm.pairs);
    expect(moving.pairs).toBeLessThan(1.5 / sheets + calm.pairs);
    expect(moving.blocks).toBeLessThan(1.5 / sheets + calm.blocks);
  });
});

describe("a leaf that moves", () => {
  test("is stirred by more than its play, not by less", async () => {
    const lab = await folded(16);
    const particle = above(16);
    const leaves = leavesOf(lab, particle);
    expect(leaves.length).toBeGreaterThan(0);
    const { play } = leaves[0]!;
    forgetPaths(lab);
    moveAlone(lab, particle, [0.9999 * play, 0, 0]);
    expect(front(lab, L.FRONT_STIRRED_COUNT)).toBe(0);
    forgetPaths(lab);
    moveAlone(lab, particle, [-1.0001 * play, 0, 0]);
    expect(front(lab, L.FRONT_STIRRED_COUNT)).toBe(leaves.length);
  });

  test("is stirred by a path of its play, in any number of substeps and directions", async () => {
    const lab = await folded(16);
    const particle = above(16);
    const leaves = leavesOf(lab, particle);
    const { play } = leaves[0]!;
    forgetPaths(lab);
    for (let n = 0; n < 9; n++) {
      moveAlone(lab, particle, [(n % 2 ? -0.11 : 0.11) * play, 0, 0]);
      expect(front(lab, L.FRONT_STIRRED_COUNT), `${n + 1} moves`).toBe(0);
    }
    moveAlone(lab, particle, [0.11 * play, 0, 0]);
    expect(front(lab, L.FRONT_STIRRED_COUNT)).toBe(leaves.length);
  });

  test.each([1e-3, 2e-3, 0.02])("cannot pass through what was quiet: a jump of %s m downward", async (jump) => {
    const lab = await folded(16);
    const particle = above(16);
    const quiet = words(lab).subarray(
      header(lab, L.H_BLOCK_QUIET) / 4,
      header(lab, L.H_BLOCK_QUIET) / 4 + header(lab, L.H_VERTEX_CONTACT_BLOCKS),
    );
    expect(quiet.filter((word) => word >= L.QUIET_STIR && word & L.QUIET_STILL).length).toBeGreaterThan(
      0.8 * quiet.length,
    );
    const y = lab.x[4 * particle + 1]!;
    const checks = header(lab, L.H_COUNT_CHECKS);
    moveAlone(lab, particle, [0, -jump, 0]);
    expect(header(lab, L.H_COUNT_CHECKS)).toBeGreaterThan(checks);
    expect(lab.x[4 * particle + 1]!).toBeGreaterThan(y - jump);
    expect(lab.world.kernel.findIntersections(lab.created.layout.x)).toBe(0);
  });

  test("cannot creep through what was quiet", async () => {
    const lab = await folded(16);
    const particle = above(16);
    const step = 0.9 * leavesOf(lab, particle)[0]!.play;
    const y = lab.x[4 * particle + 1]!;
    const checks = header(lab, L.H_COUNT_CHECKS);
    for (let n = 0; n < 2 * Math.ceil(2e-3 / step); n++) moveAlone(lab, particle, [0, -step, 0]);
    expect(header(lab, L.H_COUNT_CHECKS)).toBeGreaterThan(checks);
    expect(lab.x[4 * particle + 1]!).toBeGreaterThan(y - 2e-3);
    expect(lab.world.kernel.findIntersections(lab.created.layout.x)).toBe(0);
  });
});

describe("boxes", () => {
  test("wait until a particle may have left their margin", async () => {
    const lab = await folded(16);
    const particle = above(16);
    // boxes are fitted in the last substep of each tick
    words(lab)[(L.HEADER + L.H_SUBSTEP) / 4] = 0;
    moveAlone(lab, particle, [leavesOf(lab, particle)[0]!.play, 0, 0]);
    expect(front(lab, L.FRONT_FITS)).toBe(0);
    moveAlone(lab, particle, [floats(lab)[floatOf(lab, L.FRONT_MARGIN)]!, 0, 0]);
    expect(front(lab, L.FRONT_FITS)).toBe(1);
  });

  test("that wait give the bits of boxes fitted in every substep", async () => {
    const run = async (waits: boolean): Promise<string> => {
      const lab = await folded(16, 2);
      lab.put(
        0,
        (x) => x,
        (x) => [0.05 * Math.sin(60 * x[2]), x[1] > 0.0012 ? -0.02 : 0, 0.03 * Math.cos(40 * x[0])],
      );
      for (let tick = 0; tick < 12; tick++) {
        if (!waits) floats(lab)[floatOf(lab, L.FRONT_MARGIN)] = 0;
        lab.run(1);
      }
      return lab.world.stateHash();
    };
    expect(await run(true)).toBe(await run(false));
  });
});

test("sheets that are thrown off their rest do not intersect", async () => {
  const lab = await folded(16, 2);
  lab.put(
    0,
    (x) => x,
    (x) => [4 * Math.sin(60 * x[2]), x[1] > 0.0012 ? -3 : 1, 2 * Math.cos(40 * x[0])],
  );
  for (let tick = 0; tick < 6; tick++) {
    lab.run(1);
    expect(lab.world.kernel.findIntersections(lab.created.layout.x), `tick ${tick}`).toBe(0);
  }
});
