/** Selects the function that solves blocks of a kind: the only place in the kernel that names every constraint. */
import {
  KIND_BEND,
  KIND_BEND_PAST,
  KIND_BEND_DASHPOT,
  KIND_DISTANCE,
  KIND_ENCLOSED,
  KIND_HEXAHEDRON,
  KIND_NEO_HOOKEAN,
  KIND_PAPER_BEND,
  KIND_PAPER_NEO_HOOKEAN,
  KIND_PAPER_STABLE_NEO_HOOKEAN,
  KIND_PAPER_TET,
  KIND_PAPER_TET_ORTHO,
  KIND_PAPER_TET_PLASTIC,
  KIND_PAPER_TRIANGLE,
  KIND_PLASTIC,
  KIND_STABLE_NEO_HOOKEAN,
  KIND_TET,
  KIND_TET_ORTHO,
  KIND_TET_DASHPOT,
  KIND_TET_PAST,
  KIND_TET_PLASTIC,
  KIND_TRIANGLE,
  KIND_TRIANGLE_PAST,
  KIND_TRIANGLE_DASHPOT,
  KIND_VOLUME,
  BEND_BYTES,
  BEND_KEPT_BYTES,
  BEND_DASHPOT_BYTES,
  DISTANCE_BYTES,
  DISTANCE_KEPT_BYTES,
  ENCLOSED_BYTES,
  HEXAHEDRON_BYTES,
  HYPER_BYTES,
  HYPER_KEPT_BYTES,
  TET_BYTES,
  TET_KEPT_BYTES,
  TET_ORTHO_BYTES,
  TET_PLASTIC_BYTES,
  TRI_BYTES,
  TRI_KEPT_BYTES,
  TRI_DASHPOT_BYTES,
  VOLUME_BYTES,
} from "../layout/layout";
import { solveBending, solveBendDashpots } from "./bending";
import { solveDistances } from "./distance";
import { solveEnclosedVolumes } from "./enclosedVolume";
import { solveHexahedra } from "./hexahedron";
import { solveNeoHookean, solveStableNeoHookean } from "./hyperelastic";
import { solvePaperBending } from "./paperBending";
import { paperTetrahedronBytes, solvePaperTetrahedra } from "./paperTetrahedron";
import { solvePaperTriangles } from "./paperTriangle";
import { flow } from "./plasticity";
import { solveOrthotropic, solvePlastic, solveTetrahedra, solveTetrahedronDashpots } from "./tetrahedron";
import { solveTriangles, solveTriangleDashpots } from "./triangle";
import { keepBends, keepTetrahedra, keepTriangles } from "./dashpots";
import { solveVolumes } from "./volume";

/**
 * @param kind KIND_*; data address of a range's first block, own of the values that it keeps between iterations; first,
 * count: blocks of the range; pass PASS_FIRST and PASS_LAST, added; h s; scratch this thread's SCRATCH_BYTES; memory
 * remembered stress of the first of them, if this substep starts from it; else 0
 * @returns whether it is a kind of constraint
 */
export function solveBlocks(
  kind: i32,
  data: usize,
  own: usize,
  first: i32,
  count: i32,
  pass: i32,
  h: f32,
  scratch: usize,
  memory: usize,
): bool {
  const n = <usize>first;
  const inverseH2: f32 = 1 / (h * h);
  const tet = own + n * TET_KEPT_BYTES;
  const hyper = own + n * HYPER_KEPT_BYTES;
  if (kind === KIND_TET) solveTetrahedra(data + n * TET_BYTES, tet, count, pass, inverseH2, scratch, memory);
  else if (kind === KIND_TET_ORTHO)
    solveOrthotropic(data + n * TET_ORTHO_BYTES, tet, count, pass, inverseH2, scratch, memory);
  else if (kind === KIND_TET_PLASTIC)
    solvePlastic(data + n * TET_PLASTIC_BYTES, tet, count, pass, inverseH2, scratch, memory);
  else if (kind === KIND_PLASTIC) flow(data + n * TET_PLASTIC_BYTES, count, h);
  else if (kind === KIND_TET_DASHPOT)
    solveTetrahedronDashpots(data + n * TET_PLASTIC_BYTES, tet, count, pass, inverseH2);
  else if (kind === KIND_TET_PAST) keepTetrahedra(data + n * TET_PLASTIC_BYTES, count);
  else if (kind === KIND_NEO_HOOKEAN)
    solveNeoHookean(data + n * HYPER_BYTES, hyper, count, pass, inverseH2, scratch, memory);
  else if (kind === KIND_STABLE_NEO_HOOKEAN)
    solveStableNeoHookean(data + n * HYPER_BYTES, hyper, count, pass, inverseH2, scratch, memory);
  else if (kind === KIND_TRIANGLE)
    solveTriangles(data + n * TRI_BYTES, own + n * TRI_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === KIND_TRIANGLE_DASHPOT)
    solveTriangleDashpots(data + n * TRI_DASHPOT_BYTES, own + n * TRI_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === KIND_TRIANGLE_PAST) keepTriangles(data + n * TRI_DASHPOT_BYTES, count);
  else if (kind === KIND_BEND_DASHPOT)
    solveBendDashpots(data + n * BEND_DASHPOT_BYTES, own + n * BEND_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === KIND_BEND_PAST) keepBends(data + n * BEND_DASHPOT_BYTES, count);
  else if (kind === KIND_BEND) solveBending(data + n * BEND_BYTES, own + n * BEND_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === KIND_DISTANCE)
    solveDistances(data + n * DISTANCE_BYTES, own + n * DISTANCE_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === KIND_VOLUME) solveVolumes(data + n * VOLUME_BYTES, count, pass, inverseH2);
  else if (kind === KIND_HEXAHEDRON) solveHexahedra(data + n * HEXAHEDRON_BYTES, count, pass, inverseH2, scratch);
  else if (kind === KIND_ENCLOSED) solveEnclosedVolumes(data + n * ENCLOSED_BYTES, count, pass, inverseH2);
  else if (
    kind === KIND_PAPER_TET ||
    kind === KIND_PAPER_TET_ORTHO ||
    kind === KIND_PAPER_TET_PLASTIC ||
    kind === KIND_PAPER_NEO_HOOKEAN ||
    kind === KIND_PAPER_STABLE_NEO_HOOKEAN
  )
    solvePaperTetrahedra(data + <usize>(first * paperTetrahedronBytes(kind)), count, kind, scratch);
  else if (kind === KIND_PAPER_TRIANGLE) solvePaperTriangles(data + n * TRI_BYTES, count, scratch);
  else if (kind === KIND_PAPER_BEND) solvePaperBending(data + n * BEND_BYTES, count);
  else return false;
  return true;
}
