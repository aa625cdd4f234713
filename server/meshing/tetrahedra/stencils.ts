/**
 * Cuts one lattice tetrahedron at the surface: the part inside is at most three tetrahedra, determined by the signs of
 * the corners alone. Source: Labelle and Shewchuk, Isosurface Stuffing (2007), section 3 and figure 3. The paper's
 * figure is expressed here as rules that depend only on a face, so that both sides of a face agree:
 *
 *   a face with two inside corners and one outside leaves a quadrilateral, inside corners p q and cut points cp cq:
 *
 *     m outside        - one cut edge long, one short: the diagonal ends at the long edge's cut point
 *     |\               - both short: at the inside corner that is below m (has the smaller coordinate)
 *     cp cq              along an even number of axes (the Parity Rule)
 *     |   \
 *     p----q
 *
 *   and the quadrilateral of four cut points between two inside and two outside corners takes the one diagonal that
 *   leaves a prism that can be cut (no three diagonals in a cycle). It is on the boundary, so no neighbor depends on
 *   it.
 */

export const OUTSIDE = -1;
export const ON_SURFACE = 0;
export const INSIDE = 1;

/** Input of the stencils: a lattice tetrahedron. Corners 0-1 and 2-3 are the long edges. */
export interface StencilInput {
  /** Mesh vertex of each corner; read only for corners inside or on the surface. */
  corner: ArrayLike<number>;
  /** OUTSIDE, ON_SURFACE or INSIDE for each corner. */
  sign: ArrayLike<number>;
  /** Mesh vertex of the cut point between corner i (inside) and j (outside). */
  cut(i: number, j: number): number;
  /** True if corner i has the smaller coordinate than corner j along an even number of axes. */
  evenBelow(i: number, j: number): boolean;
}

function isLong(i: number, j: number): boolean {
  return (i ^ 1) === j;
}

/** True if the diagonal of the face (p, q inside, m outside) ends at p, false if it ends at q. */
function diagonalAtFirst(t: StencilInput, p: number, q: number, m: number): boolean {
  // It ends at the cut point of the long edge, so it starts at the other inside corner.
  if (isLong(q, m)) return true;
  if (isLong(p, m)) return false;
  return t.evenBelow(p, m);
}

/** Parity of the permutation (a b c d) of 0 1 2 3. */
function isOdd(a: number, b: number, c: number, d: number): boolean {
  const p = [a, b, c, d];
  let odd = false;
  for (let i = 0; i < 4; i++) for (let j = i + 1; j < 4; j++) if (p[i]! > p[j]!) odd = !odd;
  return odd;
}

type Emit = (a: number, b: number, c: number, d: number) => void;

/**
 * Cuts a prism (a0 a1 a2, b0 b1 b2) into three tetrahedra. Its side i has corners a_i a_{i+1} b_{i+1} b_i; if `up[i]`,
 * its diagonal is a_i b_{i+1}, else b_i a_{i+1}. A corner with two diagonals sees all faces: the result is the cone
 * from it. (a0 a1 a2 b_i) must be positively oriented.
 */
function cutPrism(a: readonly number[], b: readonly number[], up: readonly boolean[], emit: Emit): void {
  for (let i = 0; i < 3; i++) {
    const j = (i + 1) % 3;
    const k = (i + 2) % 3;
    // Sides that meet at corner i: i (between i and j) and k (between k and i).
    if (up[i] && !up[k]) {
      // a_i has both diagonals.
      emit(a[i]!, b[j]!, b[k]!, b[i]!);
      if (up[j]) {
        emit(a[i]!, a[j]!, a[k]!, b[k]!);
        emit(a[i]!, a[j]!, b[k]!, b[j]!);
      } else {
        emit(a[i]!, a[j]!, a[k]!, b[j]!);
        emit(a[i]!, b[j]!, a[k]!, b[k]!);
      }
      return;
    }
  }
  throw new Error("a prism with three diagonals in a cycle cannot be cut: the face rules are broken");
}

/**
 * Cuts one tetrahedron.
 * @param t corners, signs and cut points; positively oriented
 * @param emit called with the mesh vertices of each positively oriented piece, 0 to 3 times
 */
export function cutTetrahedron(t: StencilInput, emit: Emit): void {
  const inside: number[] = [];
  const outside: number[] = [];
  const on: number[] = [];
  for (let i = 0; i < 4; i++) (t.sign[i]! > 0 ? inside : t.sign[i]! < 0 ? outside : on).push(i);
  if (inside.length === 0) return;
  if (outside.length === 0) {
    emit(t.corner[0]!, t.corner[1]!, t.corner[2]!, t.corner[3]!);
    return;
  }
  if (inside.length === 1) {
    const p = inside[0]!;
    const v = [0, 1, 2, 3].map((i) => (t.sign[i]! < 0 ? t.cut(p, i) : t.corner[i]!));
    emit(v[0]!, v[1]!, v[2]!, v[3]!);
    return;
  }
  if (inside.length === 2 && on.length === 1) {
    const m = outside[0]!;
    const z = on[0]!;
    const [p, q] = isOdd(inside[0]!, inside[1]!, m, z) ? [inside[1]!, inside[0]!] : [inside[0]!, inside[1]!];
    const [vp, vq, vz, cp, cq] = [t.corner[p]!, t.corner[q]!, t.corner[z]!, t.cut(p, m), t.cut(q, m)];
    if (diagonalAtFirst(t, p, q, m)) {
      emit(vp, vq, cq, vz);
      emit(vp, cq, cp, vz);
    } else {
      emit(vp, vq, cp, vz);
      emit(vq, cq, cp, vz);
    }
    return;
  }
  if (inside.length === 3) {
    const m = outside[0]!;
    const p = isOdd(inside[0]!, inside[1]!, inside[2]!, m) ? [inside[1]!, inside[0]!, inside[2]!] : inside;
    const up = [0, 1, 2].map((i) => diagonalAtFirst(t, p[i]!, p[(i + 1) % 3]!, m));
    cutPrism(
      p.map((i) => t.corner[i]!),
      p.map((i) => t.cut(i, m)),
      up,
      emit,
    );
    return;
  }
  // Two inside, two outside: the prism (p, cut p-m, cut p-n) to (q, cut q-m, cut q-n).
  const [m, n] = [outside[0]!, outside[1]!];
  const [p, q] = isOdd(inside[0]!, inside[1]!, m, n) ? [inside[1]!, inside[0]!] : [inside[0]!, inside[1]!];
  const first = diagonalAtFirst(t, p, q, m);
  const last = !diagonalAtFirst(t, p, q, n);
  // Sides: 0 = p, cut p-m; 1 = cut p-m, cut p-n (free); 2 = cut p-n, p. By the face rules sides 0 and 2 have the same
  // direction, and three equal ones would form a cycle.
  cutPrism(
    [t.corner[p]!, t.cut(p, m), t.cut(p, n)],
    [t.corner[q]!, t.cut(q, m), t.cut(q, n)],
    [first, !first, last],
    emit,
  );
}
