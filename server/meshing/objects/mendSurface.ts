/**
 * Repairs the orientation of an arbitrary surface, so that as far as possible all triangles agree on the outside. The
 * winding numbers of the tetrahedralizer and two-sided cloth need this. Nothing is filled or cut: holes,
 * self-intersections and edges of three triangles only affect the shape that the winding numbers give.
 *
 *   twins     duplicate triangles count once: walls drawn from both sides enclose no volume
 *   patches   triangles joined by edges of exactly two triangles; oriented like most of the patch's area
 *   closed    a closed patch of negative volume is flipped, unless it lies inside another patch: then it is the
 *             cavity of a hollow body
 *   open      flipped if more rays leave the scene from its inside than from its outside (K. Takayama, A. Jacobson,
 *             L. Kavan, O. Sorkine-Hornung 2014, A Simple Method for Correcting Facet Orientations in Polygon Meshes
 *             Based on Ray Casting, section 3, with a ray along the normal on each side)
 */
import { yieldPoint } from "../../../shared/yieldPoint.ts";
import type { SurfaceMesh } from "../mesh.ts";
import { buildTriangleTree, rayMeets } from "../triangleTree.ts";
import type { TriangleTree } from "../triangleTree.ts";
import { buildWindingField, windingNumber } from "../windingNumber.ts";

/** Findings; counts refer to the repaired surface, places are vertices. */
export interface SurfaceFindings {
  /** Duplicate triangles. */
  twins: number;
  /** Flipped triangles. */
  turned: number;
  /** Edges of one triangle, and a vertex of one of them. */
  open: number;
  openAt: number;
  /** Edges of three or more triangles, and a vertex of one of them. */
  crossed: number;
  crossedAt: number;
  /** Edges whose two sides cannot agree: the patch is one-sided, like a Moebius strip. */
  oneSided: number;
  /** Number of patches, and of closed ones. */
  patches: number;
  closed: number;
}

export interface MendedSurface {
  surface: SurfaceMesh;
  findings: SurfaceFindings;
}

/** Rays for each open patch, on each side. */
const RAYS = 24;

const next = (h: number): number => (h % 3 === 2 ? h - 2 : h + 1);

export function mendSurface(surface: SurfaceMesh): MendedSurface {
  const { positions } = surface;
  const { triangles, twins } = withoutTwins(surface);
  const findings: SurfaceFindings = {
    twins,
    turned: 0,
    open: 0,
    openAt: -1,
    crossed: 0,
    crossedAt: -1,
    oneSided: 0,
    patches: 0,
    closed: 0,
  };
  const original = triangles.slice();
  const across = neighborsOf(triangles, positions.length / 3, findings);
  const { patch, whole } = agree(triangles, across, positions, findings);
  turnOutward({ positions, triangles }, patch, whole);
  for (let i = 0; i < triangles.length; i += 3) if (triangles[i + 1] !== original[i + 1]) findings.turned++;
  return { surface: { positions, triangles }, findings };
}

function withoutTwins({ positions, triangles }: SurfaceMesh): { triangles: Uint32Array; twins: number } {
  const vertices = positions.length / 3;
  const seen = new Map<number, number[]>();
  const kept = new Uint32Array(triangles.length);
  let length = 0;
  for (let i = 0; i < triangles.length; i += 3) {
    yieldPoint();
    const [a, b, c] = [...triangles.subarray(i, i + 3)].sort((p, q) => p - q) as [number, number, number];
    const key = a * vertices + b;
    const thirds = seen.get(key);
    if (thirds?.includes(c)) continue;
    if (thirds) thirds.push(c);
    else seen.set(key, [c]);
    kept.set(triangles.subarray(i, i + 3), length);
    length += 3;
  }
  return { triangles: kept.slice(0, length), twins: (triangles.length - length) / 3 };
}

/**
 * int32[3m]: for the edge that starts at each corner, the start corner of the same edge in the neighboring triangle; -1
 * for none.
 */
function neighborsOf(triangles: Uint32Array, vertices: number, findings: SurfaceFindings): Int32Array {
  const across = new Int32Array(triangles.length).fill(-1);
  const first = new Map<number, number>();
  const CROSSED = -2;
  for (let h = 0; h < triangles.length; h++) {
    yieldPoint();
    const [a, b] = [triangles[h]!, triangles[next(h)]!];
    const key = Math.min(a, b) * vertices + Math.max(a, b);
    const g = first.get(key);
    if (g === undefined) first.set(key, h);
    else if (across[g] === -1) {
      across[g] = h;
      across[h] = g;
    } else {
      // A third triangle: no patch continues across this edge.
      if (across[g] !== CROSSED) across[across[g]!] = CROSSED;
      across[g] = CROSSED;
      across[h] = CROSSED;
    }
  }
  for (const h of first.values()) {
    if (across[h] === -1) {
      findings.open++;
      findings.openAt = triangles[h]!;
    } else if (across[h] === CROSSED) {
      findings.crossed++;
      findings.crossedAt = triangles[h]!;
    }
  }
  return across;
}

/** Orients the triangles of each patch like most of its area, in place. */
function agree(
  triangles: Uint32Array,
  across: Int32Array,
  x: Float64Array,
  findings: SurfaceFindings,
): { patch: Int32Array; whole: boolean[] } {
  const patch = new Int32Array(triangles.length / 3).fill(-1);
  const turned = new Uint8Array(patch.length);
  const whole: boolean[] = [];
  for (let seed = 0; seed < patch.length; seed++) {
    if (patch[seed]! >= 0) continue;
    const members = [seed];
    patch[seed] = whole.length;
    let closed = true;
    let difference = 0;
    for (let m = 0; m < members.length; m++) {
      yieldPoint();
      const t = members[m]!;
      difference += turned[t] ? -doubleArea(x, triangles, t) : doubleArea(x, triangles, t);
      for (let h = 3 * t; h < 3 * t + 3; h++) {
        const g = across[h]!;
        if (g < 0) {
          closed = false;
          continue;
        }
        const u = Math.floor(g / 3);
        // Neighbors that traverse their edge in the same direction have opposite orientations.
        const opposed = triangles[g] === triangles[h];
        const want = opposed ? 1 - turned[t]! : turned[t]!;
        if (patch[u]! < 0) {
          patch[u] = whole.length;
          turned[u] = want;
          members.push(u);
        } else if (turned[u] !== want && u < t) {
          findings.oneSided++;
          closed = false;
        }
      }
    }
    const turn = difference >= 0 ? 1 : 0;
    for (const t of members) if (turned[t] === turn) turnOver(triangles, t);
    whole.push(closed);
  }
  findings.patches = whole.length;
  findings.closed = whole.filter(Boolean).length;
  return { patch, whole };
}

function turnOver(triangles: Uint32Array, t: number): void {
  const b = triangles[3 * t + 1]!;
  triangles[3 * t + 1] = triangles[3 * t + 2]!;
  triangles[3 * t + 2] = b;
}

function doubleNormal(x: Float64Array, triangles: Uint32Array, t: number): [number, number, number] {
  const [a, b, c] = [3 * triangles[3 * t]!, 3 * triangles[3 * t + 1]!, 3 * triangles[3 * t + 2]!];
  const u = [0, 1, 2].map((k) => x[b + k]! - x[a + k]!) as [number, number, number];
  const v = [0, 1, 2].map((k) => x[c + k]! - x[a + k]!) as [number, number, number];
  return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
}

function doubleArea(x: Float64Array, triangles: Uint32Array, t: number): number {
  const [a, b, c] = doubleNormal(x, triangles, t);
  return Math.sqrt(a * a + b * b + c * c);
}

/** Flips whole patches that are inside out, in place. */
function turnOutward({ positions: x, triangles }: SurfaceMesh, patch: Int32Array, whole: readonly boolean[]): void {
  const members: number[][] = whole.map(() => []);
  patch.forEach((p, t) => members[p]!.push(t));
  const turn = (p: number): void => members[p]!.forEach((t) => turnOver(triangles, t));
  const volumes = members.map((list) => volumeOf(x, triangles, list));
  const closed = members.map((_, p) => p).filter((p) => whole[p]);
  // Test for cavities against a copy of the surface with all closed patches facing outward.
  const inward = closed.filter((p) => volumes[p]! < 0);
  inward.forEach(turn);
  if (inward.length > 0 && inward.length < closed.length) {
    const upright = triangles.slice();
    for (const p of inward) if (isWithin(x, upright, members, closed, p, volumes)) turn(p);
  }
  const open = members.map((_, p) => p).filter((p) => !whole[p]);
  if (open.length === 0) return;
  const tree = buildTriangleTree(x, triangles.slice());
  for (const p of open) if (insideOut(x, triangles, members[p]!, tree)) turn(p);
}

function volumeOf(x: Float64Array, triangles: Uint32Array, members: readonly number[]): number {
  const o = 3 * triangles[3 * members[0]!]!;
  let six = 0;
  for (const t of members) {
    const n = doubleNormal(x, triangles, t);
    const a = 3 * triangles[3 * t]!;
    for (let k = 0; k < 3; k++) six += n[k]! * (x[a + k]! - x[o + k]!);
  }
  return six / 6;
}

/** Whether a closed patch lies inside of larger closed patches that faced outward in the input. */
function isWithin(
  x: Float64Array,
  triangles: Uint32Array,
  members: readonly number[][],
  closed: readonly number[],
  p: number,
  volumes: readonly number[],
): boolean {
  const others = closed.filter((q) => q !== p && volumes[q]! > Math.abs(volumes[p]!));
  const corners = others.flatMap((q) => members[q]!.flatMap((t) => [...triangles.subarray(3 * t, 3 * t + 3)]));
  if (corners.length === 0) return false;
  const field = buildWindingField(buildTriangleTree(x, Uint32Array.from(corners)));
  const v = 3 * triangles[3 * members[p]![0]!]!;
  return windingNumber(field, x[v]!, x[v + 1]!, x[v + 2]!) > 0.5;
}

/** Whether more rays leave from the inside of a patch than from its outside. */
function insideOut(x: Float64Array, triangles: Uint32Array, members: readonly number[], tree: TriangleTree): boolean {
  let votes = 0;
  const step = Math.max(1, Math.floor(members.length / RAYS));
  for (let m = 0; m < members.length; m += step) {
    const t = members[m]!;
    const n = doubleNormal(x, triangles, t);
    const length = Math.hypot(...n);
    if (!(length > 0)) continue;
    const center = [0, 1, 2].map(
      (k) =>
        (x[3 * triangles[3 * t]! + k]! + x[3 * triangles[3 * t + 1]! + k]! + x[3 * triangles[3 * t + 2]! + k]!) / 3,
    );
    const leaves = (side: 1 | -1): boolean => {
      // Start slightly off the triangle, and tilt the ray so that it does not run along the faces of boxes.
      const direction = n.map((c, k) => side * (c / length) + 0.01 * [0.37, 0.61, 0.83][k]!);
      const start = center.map((c, k) => c + 1e-6 * Math.sqrt(length) * direction[k]!);
      return !rayMeets(tree, start, direction);
    };
    const [out, back] = [leaves(1), leaves(-1)];
    if (out !== back) votes += (out ? -1 : 1) * length;
  }
  return votes > 0;
}
