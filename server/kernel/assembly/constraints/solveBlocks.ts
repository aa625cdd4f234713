/** Selects the function that solves blocks of a kind: the only place in the kernel that names every constraint. */
import * as L from "../layout/layout";
import { solveBending, solveBendDashpots } from "./bending";
import { solveDistances } from "./distance";
import { solveEnclosedVolumes } from "./enclosedVolume";
import { solveHexahedra } from "./hexahedron";
import { solveNeoHookean, solveStableNeoHookean } from "./hyperelastic";
import { solvePaperBending } from "./paper/paperBending";
import { paperTetrahedronBytes, solvePaperTetrahedra } from "./paper/paperTetrahedron";
import { solvePaperTriangles } from "./paper/paperTriangle";
import { flow } from "./plasticity";
import { solveOrthotropic, solvePlastic, solveTetrahedra, solveTetrahedronDashpots } from "./tetrahedron";
import { solveTriangles, solveTriangleDashpots } from "./triangle";
import { keepBends, keepTetrahedra, keepTriangles } from "./dashpots";
import { solveVolumes } from "./volume";
import { findLowWords } from "../math/lanes";

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
  findLowWords();
  const n = <usize>first;
  const inverseH2: f32 = 1 / (h * h);
  const tet = own + n * L.TET_KEPT_BYTES;
  const hyper = own + n * L.HYPER_KEPT_BYTES;
  if (kind === L.KIND_TET) solveTetrahedra(data + n * L.TET_BYTES, tet, count, pass, inverseH2, scratch, memory);
  else if (kind === L.KIND_TET_ORTHO)
    solveOrthotropic(data + n * L.TET_ORTHO_BYTES, tet, count, pass, inverseH2, scratch, memory);
  else if (kind === L.KIND_TET_PLASTIC)
    solvePlastic(data + n * L.TET_PLASTIC_BYTES, tet, count, pass, inverseH2, scratch, memory);
  else if (kind === L.KIND_PLASTIC) flow(data + n * L.TET_PLASTIC_BYTES, count, h);
  else if (kind === L.KIND_TET_DASHPOT)
    solveTetrahedronDashpots(data + n * L.TET_PLASTIC_BYTES, tet, count, pass, inverseH2);
  else if (kind === L.KIND_TET_PAST) keepTetrahedra(data + n * L.TET_PLASTIC_BYTES, count);
  else if (kind === L.KIND_NEO_HOOKEAN)
    solveNeoHookean(data + n * L.HYPER_BYTES, hyper, count, pass, inverseH2, scratch, memory);
  else if (kind === L.KIND_STABLE_NEO_HOOKEAN)
    solveStableNeoHookean(data + n * L.HYPER_BYTES, hyper, count, pass, inverseH2, scratch, memory);
  else if (kind === L.KIND_TRIANGLE)
    solveTriangles(data + n * L.TRI_BYTES, own + n * L.TRI_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === L.KIND_TRIANGLE_DASHPOT)
    solveTriangleDashpots(data + n * L.TRI_DASHPOT_BYTES, own + n * L.TRI_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === L.KIND_TRIANGLE_PAST) keepTriangles(data + n * L.TRI_DASHPOT_BYTES, count);
  else if (kind === L.KIND_BEND_DASHPOT)
    solveBendDashpots(data + n * L.BEND_DASHPOT_BYTES, own + n * L.BEND_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === L.KIND_BEND_PAST) keepBends(data + n * L.BEND_DASHPOT_BYTES, count);
  else if (kind === L.KIND_BEND)
    solveBending(data + n * L.BEND_BYTES, own + n * L.BEND_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === L.KIND_DISTANCE)
    solveDistances(data + n * L.DISTANCE_BYTES, own + n * L.DISTANCE_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === L.KIND_VOLUME) solveVolumes(data + n * L.VOLUME_BYTES, count, pass, inverseH2);
  else if (kind === L.KIND_HEXAHEDRON) solveHexahedra(data + n * L.HEXAHEDRON_BYTES, count, pass, inverseH2, scratch);
  else if (kind === L.KIND_ENCLOSED) solveEnclosedVolumes(data + n * L.ENCLOSED_BYTES, count, pass, inverseH2);
  else if (
    kind === L.KIND_PAPER_TET ||
    kind === L.KIND_PAPER_TET_ORTHO ||
    kind === L.KIND_PAPER_TET_PLASTIC ||
    kind === L.KIND_PAPER_NEO_HOOKEAN ||
    kind === L.KIND_PAPER_STABLE_NEO_HOOKEAN
  )
    solvePaperTetrahedra(data + <usize>(first * paperTetrahedronBytes(kind)), count, kind, scratch);
  else if (kind === L.KIND_PAPER_TRIANGLE) solvePaperTriangles(data + n * L.TRI_BYTES, count, scratch);
  else if (kind === L.KIND_PAPER_BEND) solvePaperBending(data + n * L.BEND_BYTES, count);
  else return false;
  return true;
}
