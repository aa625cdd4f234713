/**
 * Repairs the orientation of an arbitrary surface, so that as far as possible all triangles agree on the outside. The
 * winding numbers of the tetrahedralizer and two-sided cloth need this. Nothing is filled or cut: holes,
 * self-intersections and edges of three triangles only affect the shape that the winding numbers give.
 *
 *   twins     duplicate triangles count once: walls drawn from both sides enclose no volume
 *   patches   triangles joined by edges of exactly two triangles; oriented like most of the patch's area
 *   closed    a closed patch of negative volume is flipped, unless it lies inside another patch: then it is the
 *             cavity of a hollow body. If all outermost patches are flipped, the file is inside out, and all are
 *   open      flipped if more rays leave the scene from its inside than from its outside (K. Takayama, A. Jacobson,
 *             L. Kavan, O. Sorkine-Hornung 2014, A Simple Method for Correcting Facet Orientations in Polygon Meshes
 *             Based on Ray Casting, section 3, with a ray along the normal on each side)
 */
import { yieldPoint } from "../../../shared/yieldPoint.ts";
import { next, numberEdges, VertexSets } from "../surface/edges.ts";
import type { SurfaceMesh } from "../mesh.ts";
import { buildTriangleTree, rayMeets } from "../tetrahedra/triangleTree.ts";
import type { TriangleTree } from "../tetrahedra/triangleTree.ts";
import { weldPlaces } from "../surface/weldPlaces.ts";
import { buildWindingField, windingNumber, type WindingField } from "../tetrahedra/windingNumber.ts";

/** Findings; counts refer to the repaired surface, places are vertices. */
export interface SurfaceFindings {
  /** Duplicate triangles. */
  twins: number;
  /** Flipped triangles, and a vertex of one of them. */
  turned: number;
  turnedAt: number;
  /** Edges of one triangle, and a vertex of one of them. */
  open: number;
  openAt: number;
  /** Number of borders: these edges, joined by common vertices. */
  borders: number;
  /** Edges of three or more triangles, and a vertex of one of them. */
  crossed: number;
  crossedAt: number;
  /** Edges whose two sides cannot agree: the patch is one-sided, like a Moebius strip. */
  oneSided: number;
  /** Number of patches, and of closed ones. */
  patches: number;
  closed: number;
  /** Pieces without a common vertex, and a vertex of the one with the fewest triangles. */
  pieces: number;
  pieceAt: number;
}

export interface MendedSurface {
  surface: SurfaceMesh;
  findings: SurfaceFindings;
  /** uint8[triangles that were given]: 1 if its repair flipped the triangle, or the one that it duplicates. */
  flipped: Uint8Array;
}

/** Rays for each open patch, on each side. */
const RAYS = 24;

/** @param keepsOpen open patches keep their side: the front of a sheet is its author's choice */
export function mendSurface(surface: SurfaceMesh, keepsOpen = false): MendedSurface {
  const { positions } = surface;
  const { triangles, kept } = withoutTwins(surface);
  const findings: SurfaceFindings = {
    twins: kept.length - triangles.length / 3,
    turned: 0,
    turnedAt: -1,
    open: 0,
    openAt: -1,
    borders: 0,
    crossed: 0,
    crossedAt: -1,
    oneSided: 0,
    patches: 0,
    closed: 0,
    ...piecesOf(triangles, positions.length / 3),
  };
  const original = triangles.slice();
  const across = neighborsOf(triangles, positions.length / 3, findings);
  const { patch, whole } = agree(triangles, across, positions, findings);
  turnOutward({ positions, triangles }, patch, whole, keepsOpen);
  const flipped = new Uint8Array(triangles.length / 3);
  for (let i = 0; i < triangles.length; i += 3) {
    if (triangles[i + 1] === original[i + 1]) continue;
    flipped[i / 3] = 1;
    findings.turned++;
    if (findings.turnedAt < 0) findings.turnedAt = triangles[i]!;
  }
  return { surface: { ...surface, triangles }, findings, flipped: Uint8Array.from(kept, (t) => flipped[t]!) };
}

/** Each triangle once, and for every given triangle the number of the kept one with its corners. */
function withoutTwins({ triangles }: SurfaceMesh): { triangles: Uint32Array; kept: Uint32Array } {
  const { places, first } = weldPlaces(
    Float64Array.from(triangles, (_, i) => {
      const t = i - (i % 3);
      const [a, b, c] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
      const [low, high] = [Math.min(a, b, c), Math.max(a, b, c)];
      return [low, a + b + c - low - high, high][i % 3]!;
    }),
  );
  const unique = new Uint32Array(3 * first.length);
  first.forEach((t, i) => unique.set(triangles.subarray(3 * t, 3 * t + 3), 3 * i));
  return { triangles: unique, kept: places };
}

function piecesOf(triangles: Uint32Array, vertices: number): { pieces: number; pieceAt: number } {
  const sets = new VertexSets(vertices);
  for (let h = 0; h < triangles.length; h++) sets.join(triangles[h]!, triangles[next(h)]!);
  const sizes = new Map<number, number>();
  for (let t = 0; t < triangles.length; t += 3) {
    const root = sets.root(triangles[t]!);
    sizes.set(root, (sizes.get(root) ?? 0) + 1);
  }
  let pieceAt = -1;
  for (const [root, size] of sizes) if (pieceAt < 0 || size < sizes.get(pieceAt)!) pieceAt = root;
  return { pieces: sizes.size, pieceAt };
}

/**
 * int32[3m]: for the edge that starts at each corner, the start corner of the same edge in the neighboring triangle; -1
 * for none.
 */
function neighborsOf(triangles: Uint32Array, vertices: number, findings: SurfaceFindings): Int32Array {
  const CROSSED = -2;
  const across = new Int32Array(triangles.length).fill(-1);
  const { edgeOf, first } = numberEdges(triangles);
  for (let h = 0; h < triangles.length; h++) {
    const g = first[edgeOf[h]!]!;
    if (g === h) continue;
    if (across[g] === -1) {
      across[g] = h;
      across[h] = g;
    } else {
      // A third triangle: no patch continues across this edge.
      if (across[g] !== CROSSED) across[across[g]!] = CROSSED;
      across[g] = CROSSED;
      across[h] = CROSSED;
    }
  }
  const border = new VertexSets(vertices);
  const onBorder = new Set<number>();
  for (const h of first) {
    if (across[h] === -1) {
      findings.open++;
      findings.openAt = triangles[h]!;
      const [a, b] = [triangles[h]!, triangles[next(h)]!];
      onBorder.add(a).add(b);
      if (border.join(a, b)) findings.borders--;
    } else if (across[h] === CROSSED) {
      findings.crossed++;
      findings.crossedAt = triangles[h]!;
    }
  }
  findings.borders += onBorder.size;
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
function turnOutward(
  { positions: x, triangles }: SurfaceMesh,
  patch: Int32Array,
  whole: readonly boolean[],
  keepsOpen: boolean,
): void {
  const members: number[][] = whole.map(() => []);
  patch.forEach((p, t) => members[p]!.push(t));
  const turn = (p: number): void => members[p]!.forEach((t) => turnOver(triangles, t));
  const volumes = members.map((list) => volumeOf(x, triangles, list));
  const closed = members.map((_, p) => p).filter((p) => whole[p]);
  // Test for cavities against a copy of the surface with all closed patches facing outward.
  const inward = closed.filter((p) => volumes[p]! < 0);
  inward.forEach(turn);
  if (inward.length > 0 && inward.length < closed.length) {
    const upright = Uint32Array.from(closed.flatMap((p) => members[p]!.flatMap((t) => cornersOf(triangles, t))));
    const field = buildWindingField(buildTriangleTree(x, upright));
    const inner = new Set(closed.filter((p) => isWithin(x, triangles, members[p]!, field)));
    const allInward = closed.every((p) => volumes[p]! < 0 || inner.has(p));
    for (const p of inner) if (volumes[p]! < 0 !== allInward) turn(p);
  }
  const open = members.map((_, p) => p).filter((p) => !whole[p]);
  if (open.length === 0 || keepsOpen) return;
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

const cornersOf = (triangles: Uint32Array, t: number): number[] => [...triangles.subarray(3 * t, 3 * t + 3)];

/**
 * Whether a closed patch lies inside of another one: more than one patch encloses the space below its largest triangle.
 * @param field of all closed patches, facing outward
 */
function isWithin(x: Float64Array, triangles: Uint32Array, members: readonly number[], field: WindingField): boolean {
  let [largest, area] = [members[0]!, 0];
  for (const t of members) {
    const size = doubleArea(x, triangles, t);
    if (size > area) [largest, area] = [t, size];
  }
  const corners = cornersOf(triangles, largest);
  const below = doubleNormal(x, triangles, largest).map((n, k) => {
    const center = corners.reduce((sum, v) => sum + x[3 * v + k]!, 0) / 3;
    return center - (1e-4 * n) / Math.sqrt(area || 1);
  }) as [number, number, number];
  return windingNumber(field, ...below) > 1.5;
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
