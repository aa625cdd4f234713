/**
 * Comparison with the physics engines that a browser or a Node server can load: the same mesh, the same step of 1/60 s,
 * the same number of iterations, alternating within one process, so that other load affects all of them. Two figures:
 * the whole step with five iterations, and five iterations alone, without the engine's other work. For this kernel the
 * latter is its own clock, for the others the difference of a step with ten and one with five. The fastest of many
 * rounds counts.
 * The engines' iterations differ in quality: this kernel keeps multipliers, Jolt's iteration is a substep, and its
 * tetrahedra are volumes and edges, while those of this kernel are Saint Venant-Kirchhoff solids.
 *
 * Then a cloth with self-contact under grabs, compared with the engine that has such contact (peers/drape.ts), in time
 * and in the number of intersections.
 */
import { edgesOf } from "../../../server/sim/constraints/distance.ts";
import { boxTets, gridCloth } from "../../../server/meshing/generators.ts";
import type { Row } from "../../part.ts";
import { drapeRows } from "../../peers/drape.ts";
import { bulletPeer } from "../../peers/bullet.ts";
import { joltPeer } from "../../peers/jolt.ts";
import { ownPeer } from "../../peers/own.ts";
import type { Peer, Problem } from "../../peers/peer.ts";
import { plainJs } from "../../peers/plainJs.ts";

export const name = "peers";
export const about =
  "Jolt and Bullet (WebAssembly) and plain JavaScript compared with this kernel: a cloth of distances, a solid of 50,400 tetrahedra; Rapier: drape under three grabs";
export const runs = 3;

const ITERATIONS = 5;
const TURNS = 40;
const WARM_UP = 3;
/** 3 n^2 + 2 n edges. */
const CLOTH_CELLS = 282;
const CLOTH_SIZE = 4;
/** Five tetrahedra per cell. */
const SOLID_CELLS = [24, 21, 20] as const;
const SOLID_SIZE = [1.2, 1.05, 1] as const;

function cloth(): Problem {
  const { positions, triangles } = gridCloth([CLOTH_SIZE, CLOTH_SIZE], [CLOTH_CELLS, CLOTH_CELLS]);
  return {
    positions,
    triangles,
    edges: edgesOf(triangles, 3),
    pinned: [0, CLOTH_CELLS],
    mass: CLOTH_SIZE ** 2 * 0.3,
    cells: [CLOTH_CELLS, CLOTH_CELLS],
  };
}

function solid(): Problem {
  const { positions, tets } = boxTets(SOLID_SIZE, SOLID_CELLS);
  const edges = edgesOf(tets, 4);
  const left = -SOLID_SIZE[0] / 2 + 1e-6;
  const pinned = Array.from({ length: positions.length / 3 }, (_, i) => i).filter((i) => positions[3 * i]! < left);
  return {
    positions,
    tets,
    edges,
    triangles: tets.slice(0, 3),
    pinned,
    mass: SOLID_SIZE[0] * SOLID_SIZE[1] * SOLID_SIZE[2] * 1000,
  };
}

/** Alternates: a step of every engine with five iterations, then a step of every engine with ten. */
function race(what: string, peers: readonly Peer[], targetMs: number): Row[] {
  const best = peers.map(() => ({ five: Infinity, ten: Infinity, solved: Infinity, first: 0 }));
  for (let turn = 0; turn < WARM_UP + TURNS; turn++) {
    for (const n of [ITERATIONS, 2 * ITERATIONS]) {
      peers.forEach((peer, p) => {
        const seconds = peer.step(n);
        const entry = best[p]!;
        if (turn === 0 && n === ITERATIONS) entry.first = seconds;
        if (turn < WARM_UP) return;
        if (n === ITERATIONS) {
          entry.five = Math.min(entry.five, seconds);
          entry.solved = Math.min(entry.solved, peer.solved?.(n) ?? Infinity);
        } else entry.ten = Math.min(entry.ten, seconds);
      });
    }
  }
  const alone = best.map(({ five, ten, solved }) => (Number.isFinite(solved) ? solved : ten - five));
  return [
    ...peers.map(
      (peer, p): Row => ({
        what: `${what}, ${ITERATIONS} iterations alone, ${peer.name}`,
        value: 1000 * alone[p]!,
        unit: "ms",
        hash: peer.hash(),
        ...(p === 0 && { target: { atMost: targetMs } }),
      }),
    ),
    ...peers.map(
      (peer, p): Row => ({
        what: `${what}, whole step, ${peer.name}`,
        value: 1000 * best[p]!.five,
        unit: "ms",
        warmUp: 1000 * best[p]!.first,
        hash: peer.hash(),
      }),
    ),
    ...peers.slice(1).map(
      (peer, p): Row => ({
        what: `${what}, ${peer.name} over ${peers[0]!.name}, iterations alone`,
        value: alone[p + 1]! / alone[0]!,
        unit: "x",
      }),
    ),
  ];
}

export async function run(): Promise<Row[]> {
  const counts = [ITERATIONS, 2 * ITERATIONS];
  const sheet = cloth();
  const block = solid();
  const ownCloth = await ownPeer(
    {
      bodies: [
        {
          name: "cloth",
          kind: "cloth",
          mesh: { type: "grid", size: [CLOTH_SIZE, CLOTH_SIZE], cells: [CLOTH_CELLS, CLOTH_CELLS] },
          contact: { self: false },
          material: { model: "pbd", density: 300, thickness: 0.001, distance: { compliance: 1e-7 } },
          pins: [{ select: { particles: [...sheet.pinned] } }],
        },
      ],
    },
    counts,
  );
  const rows = race(
    `cloth, ${sheet.edges.length / 2} links`,
    [ownCloth, await joltPeer(sheet), await bulletPeer(sheet), plainJs(sheet)],
    6,
  );
  const ownSolid = await ownPeer(
    {
      bodies: [
        {
          name: "block",
          kind: "soft",
          mesh: { type: "box", size: [...SOLID_SIZE], cells: [...SOLID_CELLS] },
          contact: { self: false },
          material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 },
          pins: [{ select: { particles: [...block.pinned] } }],
        },
      ],
    },
    counts,
  );
  return [
    ...rows,
    ...race(`${block.tets!.length / 4} tetrahedra`, [ownSolid, await joltPeer(block)], 3.3),
    ...(await drapeRows()),
  ];
}
