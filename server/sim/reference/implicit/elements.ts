/**
 * Twin of kernel/assembly/implicit/solids.ts and sheets.ts: energies of a body, their gradients, and products with
 * their Hessians, whose stress part is projected to be positive semidefinite (Teran et al. 2005), so that conjugate
 * gradients may be used:
 *   dP = F dS + dF S+,   S+ = the stress without its negative eigenvalues
 * A tetrahedron of less than CRUSHED of its volume resists with V K/2 ((J - CRUSHED)/CRUSHED)^2, K = lambda + 2 mu.
 * Viscous elements also resist the rate of their strain (kernel/assembly/implicit/viscosity.ts). The same operations in
 * the same order as the kernel give the same bits.
 */
import type { BendElements, TetElements, TriangleElements } from "../../constraints/elements.ts";
import type { SheetStiffness, Stencils } from "../../implicit/model.ts";
import { positivePart } from "./positivePart.ts";

const CRUSHED = 0.5;
const f = Math.fround;
type Four = [number, number, number, number];
type Six = [number, number, number, number, number, number];

/**
 * Rates of a viscous body in a step: theta times the energy of s - past, past = a s(x) + b s(x1), with s the strains of
 * the energy.
 */
interface Rates {
  theta: number;
  a: number;
  b: number;
}

/** Elements of a body. Vectors are float64[3n]; those of a sheet's products are float32[3n]. */
export interface ElasticSet<Product = Float64Array> {
  /** Elastic energy, J. */
  energy: (x: Float64Array) => number;
  /**
   * Sets the strains from which rates are measured in a step that begins at x, with the previous position x1 and the
   * first iterate y.
   */
  keepPast: (rates: Rates, x: Float64Array, x1: Float64Array, y: Float64Array) => void;
  /**
   * g += dE/dx; keeps data for `product`.
   * @param stresses also updates the positive parts of a solid's stresses; otherwise the last ones are used
   */
  linearize: (x: Float64Array, g: Float64Array, stresses: boolean) => void;
  /** q += H+ p of the last linearization. */
  product: (p: Product, q: Product) => void;
}

/** sum_j x_j b_j^T, row by row, -> out. */
function tetGradient(
  x: Float64Array,
  { particles, dmInverse: m }: TetElements,
  e: number,
  out: Float64Array,
  at: number,
): void {
  const p0 = 3 * particles[4 * e]!;
  const p1 = 3 * particles[4 * e + 1]!;
  const p2 = 3 * particles[4 * e + 2]!;
  const p3 = 3 * particles[4 * e + 3]!;
  const d = 9 * e;
  for (let r = 0; r < 3; r++) {
    const a = x[p0 + r]! - x[p3 + r]!;
    const b = x[p1 + r]! - x[p3 + r]!;
    const c = x[p2 + r]! - x[p3 + r]!;
    for (let k = 0; k < 3; k++) out[at + 3 * r + k] = a * m[d + k]! + b * m[d + 3 + k]! + c * m[d + 6 + k]!;
  }
}

/** g += P b_j of the four corners. */
function scatterTet({ particles, dmInverse: m }: TetElements, e: number, P: ArrayLike<number>, g: Float64Array): void {
  const d = 9 * e;
  const p3 = 3 * particles[4 * e + 3]!;
  for (let r = 0; r < 3; r++) {
    const f = [0, 1, 2].map(
      (j) => P[3 * r]! * m[d + 3 * j]! + P[3 * r + 1]! * m[d + 3 * j + 1]! + P[3 * r + 2]! * m[d + 3 * j + 2]!,
    );
    f.forEach((force, j) => (g[3 * particles[4 * e + j]! + r]! += force));
    g[p3 + r]! -= f[0]! + f[1]! + f[2]!;
  }
}

/** (F^T D + D^T F)/2 as 00 11 22 12 02 01. */
function symmetricPart(F: ArrayLike<number>, f: number, D: ArrayLike<number>, d: number): number[] {
  const dot = (i: number, j: number): number =>
    F[f + i]! * D[d + j]! + F[f + 3 + i]! * D[d + 3 + j]! + F[f + 6 + i]! * D[d + 6 + j]!;
  return [
    dot(0, 0),
    dot(1, 1),
    dot(2, 2),
    0.5 * (dot(1, 2) + dot(2, 1)),
    0.5 * (dot(0, 2) + dot(2, 0)),
    0.5 * (dot(0, 1) + dot(1, 0)),
  ];
}

/** Green's strain (F^T F - 1)/2. */
function greenStrain(F: ArrayLike<number>, f: number): number[] {
  const [a, b, c, u, v, w] = symmetricPart(F, f, F, f) as [number, number, number, number, number, number];
  return [0.5 * (a - 1), 0.5 * (b - 1), 0.5 * (c - 1), 0.5 * u, 0.5 * v, 0.5 * w];
}

function determinant(F: ArrayLike<number>): number {
  const [a, b, c, d, e, f, g, h, k] = Array.from(F) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return a * (e * k - f * h) + b * (f * g - d * k) + c * (d * h - e * g);
}

/** 2 mu E + lambda tr E 1 */
function hooke({ mu, lambda }: Pick<TetElements, "mu" | "lambda">, E: readonly number[]): number[] {
  const pressure = lambda * (E[0]! + E[1]! + E[2]!);
  return [
    2 * mu * E[0]! + pressure,
    2 * mu * E[1]! + pressure,
    2 * mu * E[2]! + pressure,
    2 * mu * E[3]!,
    2 * mu * E[4]!,
    2 * mu * E[5]!,
  ];
}

/** V A S, row by row; S is symmetric, as 00 11 22 12 02 01. */
function timesSymmetric(V: number, A: ArrayLike<number>, a: number, S: ArrayLike<number>, s: number): number[] {
  const P: number[] = [];
  for (let r = a; r < a + 9; r += 3) {
    P.push(
      V * (A[r]! * S[s]! + A[r + 1]! * S[s + 5]! + A[r + 2]! * S[s + 4]!),
      V * (A[r]! * S[s + 5]! + A[r + 1]! * S[s + 1]! + A[r + 2]! * S[s + 3]!),
      V * (A[r]! * S[s + 4]! + A[r + 1]! * S[s + 3]! + A[r + 2]! * S[s + 2]!),
    );
  }
  return P;
}

/**
 * Strains s that enter a viscous law. Its energy is (1 + theta) times that of the strain
 * s - theta/(1 + theta) (a s(x) + b s(x1)), up to a constant.
 */
class Past {
  stiffening = 1;
  private kept: Float64Array | undefined;
  private readonly size: number;
  private readonly strain: (x: Float64Array, i: number) => number[];

  /** @param strain of element i, `size` numbers */
  constructor(size: number, strain: (x: Float64Array, i: number) => number[]) {
    this.size = size;
    this.strain = strain;
  }

  keep(count: number, { theta, a, b }: Rates, x: Float64Array, x1: Float64Array): void {
    const { size } = this;
    const share = theta / (1 + theta);
    this.stiffening = 1 + theta;
    this.kept = new Float64Array(size * count);
    for (let i = 0; i < count; i++) {
      this.strain(x, i).forEach((s, k) => (this.kept![size * i + k]! += share * a * s));
      if (b !== 0) this.strain(x1, i).forEach((s, k) => (this.kept![size * i + k]! += share * b * s));
    }
  }

  /** Strain minus the kept strain of element i. */
  since(strain: number[], i: number): number[] {
    return this.kept ? strain.map((s, k) => s - this.kept![this.size * i + k]!) : strain;
  }
}

/** Saint Venant-Kirchhoff: E = V (mu E:E + lambda/2 (tr E)^2), E Green's strain. */
export function tetSet(e: TetElements): ElasticSet {
  const count = e.volume.length;
  const past = new Past(6, (x, i) => {
    tetGradient(x, e, i, dF, 0);
    return greenStrain(dF, 0);
  });
  const stiffened = (strain: readonly number[]): number[] =>
    hooke({ mu: past.stiffening * e.mu, lambda: past.stiffening * e.lambda }, strain);
  const F = new Float64Array(9 * count);
  const S = new Float64Array(6 * count);
  const dF = new Float64Array(9);
  return {
    energy: (x) => {
      let sum = 0;
      for (let i = 0; i < count; i++) {
        tetGradient(x, e, i, dF, 0);
        const [a, b, c, u, v, w] = past.since(greenStrain(dF, 0), i) as Six;
        const trace = a + b + c;
        const J = determinant(dF);
        const squares = a * a + b * b + c * c + 2 * (u * u + v * v + w * w);
        const E = past.stiffening * (e.mu * squares + 0.5 * e.lambda * trace * trace);
        const part = (J - CRUSHED) / CRUSHED;
        sum += e.volume[i]! * (J >= CRUSHED ? E : E + 0.5 * (e.lambda + 2 * e.mu) * part * part);
      }
      return sum;
    },
    keepPast: (rates, x, x1) => past.keep(count, rates, x, x1),
    linearize: (x, g, stresses) => {
      for (let i = 0; i < count; i++) {
        tetGradient(x, e, i, F, 9 * i);
        const stress = stiffened(past.since(greenStrain(F, 9 * i), i));
        scatterTet(e, i, timesSymmetric(e.volume[i]!, F, 9 * i, stress, 0), g);
        resistCrushing(e, i, F.subarray(9 * i, 9 * i + 9), g);
        if (stresses) S.set(positivePart(stress), 6 * i);
      }
    },
    product: (p, q) => {
      for (let i = 0; i < count; i++) {
        tetGradient(p, e, i, dF, 0);
        const dS = stiffened(symmetricPart(F, 9 * i, dF, 0));
        const first = timesSymmetric(e.volume[i]!, F, 9 * i, dS, 0);
        const second = timesSymmetric(e.volume[i]!, dF, 0, S, 6 * i);
        scatterTet(
          e,
          i,
          first.map((P, k) => P + second[k]!),
          q,
        );
        resistCrushing(e, i, F.subarray(9 * i, 9 * i + 9), q, dF);
      }
    },
  };
}

/** Contribution of a crushed element to a gradient, or to a product with the deformation dF. */
function resistCrushing(e: TetElements, i: number, F: Float64Array, to: Float64Array, dF?: Float64Array): void {
  const at = (k: number): number => F[k]!;
  const cofactor = [
    at(4) * at(8) - at(5) * at(7),
    at(5) * at(6) - at(3) * at(8),
    at(3) * at(7) - at(4) * at(6),
    at(2) * at(7) - at(1) * at(8),
    at(0) * at(8) - at(2) * at(6),
    at(1) * at(6) - at(0) * at(7),
    at(1) * at(5) - at(2) * at(4),
    at(2) * at(3) - at(0) * at(5),
    at(0) * at(4) - at(1) * at(3),
  ];
  const row = (m: ArrayLike<number>, r: number): number =>
    cofactor[r]! * m[r]! + cofactor[r + 1]! * m[r + 1]! + cofactor[r + 2]! * m[r + 2]!;
  const J = row(F, 0);
  if (J >= CRUSHED) return;
  const by = dF ? row(dF, 0) + row(dF, 3) + row(dF, 6) : J - CRUSHED;
  const a = (e.volume[i]! * (e.lambda + 2 * e.mu) * by) / (CRUSHED * CRUSHED);
  scatterTet(
    e,
    i,
    cofactor.map((c) => a * c),
    to,
  );
}

/** sum_j x_j b_j^T as its two columns, weft then warp, -> out. */
function sheetGradient(
  x: Float64Array,
  { particles, dmInverse: m }: TriangleElements,
  e: number,
  out: Float64Array,
  at: number,
): void {
  const p0 = 3 * particles[3 * e]!;
  const p1 = 3 * particles[3 * e + 1]!;
  const p2 = 3 * particles[3 * e + 2]!;
  const d = 4 * e;
  for (let r = 0; r < 3; r++) {
    const a = x[p0 + r]! - x[p2 + r]!;
    const b = x[p1 + r]! - x[p2 + r]!;
    out[at + r] = a * m[d]! + b * m[d + 2]!;
    out[at + 3 + r] = a * m[d + 1]! + b * m[d + 3]!;
  }
}

/** g += P b_j of the three corners, P by its two columns. */
function scatterSheet(
  { particles, dmInverse: m }: TriangleElements,
  e: number,
  P: ArrayLike<number>,
  g: Float64Array,
): void {
  const p0 = 3 * particles[3 * e]!;
  const p1 = 3 * particles[3 * e + 1]!;
  const p2 = 3 * particles[3 * e + 2]!;
  const d = 4 * e;
  for (let r = 0; r < 3; r++) {
    const first = m[d]! * P[r]! + m[d + 1]! * P[3 + r]!;
    const second = m[d + 2]! * P[r]! + m[d + 3]! * P[3 + r]!;
    g[p0 + r]! += first;
    g[p1 + r]! += second;
    g[p2 + r]! -= first + second;
  }
}

const dot3 = (a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number): number =>
  a[i]! * b[j]! + a[i + 1]! * b[j + 1]! + a[i + 2]! * b[j + 2]!;

/** Plane stress without its negative eigenvalues: weft, warp, shear. */
function positiveSheet([a, b, c]: readonly [number, number, number]): [number, number, number] {
  const middle = 0.5 * (a + b);
  const half = 0.5 * (a - b);
  const radius = Math.sqrt(half * half + c * c);
  const high = middle + radius;
  const low = middle - radius;
  if (low >= 0) return [a, b, c];
  if (high <= 0) return [0, 0, 0];
  const scale = high / (high - low);
  return [scale * (a - low), scale * (b - low), scale * c];
}

/** Saint Venant-Kirchhoff membranes: E = V/2 eps^T C eps (reference/triangle.ts). */
export function triangleSet(e: TriangleElements, { c00, c01, c11, c22 }: SheetStiffness): ElasticSet<Float32Array> {
  const count = e.volume.length;
  const F = new Float64Array(6 * count);
  const S = new Float64Array(3 * count);
  const dF = new Float64Array(6);
  const past = new Past(3, (x, i) => {
    sheetGradient(x, e, i, dF, 0);
    return strainAt(dF, 0);
  });
  const stressOf = (weft: number, warp: number, shear: number): [number, number, number] => [
    past.stiffening * (c00 * weft + c01 * warp),
    past.stiffening * (c01 * weft + c11 * warp),
    past.stiffening * (c22 * shear),
  ];
  const strainAt = (f: ArrayLike<number>, at: number): [number, number, number] => [
    0.5 * (dot3(f, at, f, at) - 1),
    0.5 * (dot3(f, at + 3, f, at + 3) - 1),
    dot3(f, at, f, at + 3),
  ];
  return {
    energy: (x) => {
      let sum = 0;
      for (let i = 0; i < count; i++) {
        sheetGradient(x, e, i, dF, 0);
        const [a, b, c] = past.since(strainAt(dF, 0), i) as [number, number, number];
        const stress = stressOf(a, b, c);
        sum += 0.5 * e.volume[i]! * (a * stress[0] + b * stress[1] + c * stress[2]);
      }
      return sum;
    },
    keepPast: (rates, x, x1) => past.keep(count, rates, x, x1),
    linearize: (x, g) => {
      for (let i = 0; i < count; i++) {
        sheetGradient(x, e, i, F, 6 * i);
        const f = 6 * i;
        const V = e.volume[i]!;
        const [a, b, c] = stressOf(...(past.since(strainAt(F, f), i) as [number, number, number]));
        const P: number[] = [];
        for (let r = f; r < f + 3; r++) {
          P[r - f] = V * (a * F[r]! + c * F[r + 3]!);
          P[r - f + 3] = V * (c * F[r]! + b * F[r + 3]!);
        }
        scatterSheet(e, i, P, g);
        S.set(positiveSheet([a, b, c]), 3 * i);
      }
    },
    product: productOfTriangles(e, { c00, c01, c11, c22 }, past, F, S),
  };
}

/**
 * Product in float32, element after element.
 * @param F columns of the deformation, by element
 * @param S positive part of the stress, by element
 */
function productOfTriangles(
  { particles, dmInverse, volume }: TriangleElements,
  stiffness: SheetStiffness,
  past: Past,
  F: Float64Array,
  S: Float64Array,
): ElasticSet<Float32Array>["product"] {
  const dot = (a: readonly number[], b: readonly number[]): number =>
    f(f(a[0]! * b[0]!) + f(f(a[1]! * b[1]!) + f(a[2]! * b[2]!)));
  const both = (a: number, b: number, c: number, d: number): number => f(f(a * b) + f(c * d));
  const rounded = (values: Float64Array, from: number, count: number): number[] =>
    Array.from(values.subarray(from, from + count), f);
  const [c00, c01, c11, c22] = [stiffness.c00, stiffness.c01, stiffness.c11, stiffness.c22].map(f) as Four;
  return (p, q) => {
    const stiffening = f(past.stiffening);
    for (let e = 0; e < volume.length; e++) {
      const volume32 = f(volume[e]!);
      const m = rounded(dmInverse, 4 * e, 4) as Four;
      const U = rounded(F, 6 * e, 3);
      const V = rounded(F, 6 * e + 3, 3);
      const [t0, t1, t2] = rounded(S, 3 * e, 3) as [number, number, number];
      const [i, j, k] = [0, 1, 2].map((c) => 3 * particles[3 * e + c]!) as [number, number, number];
      const a = [0, 1, 2].map((r) => f(p[i + r]! - p[k + r]!));
      const b = [0, 1, 2].map((r) => f(p[j + r]! - p[k + r]!));
      const u = a.map((value, r) => both(value, m[0], b[r]!, m[2]));
      const v = a.map((value, r) => both(value, m[1], b[r]!, m[3]));
      const [s0, s1, s2] = [dot(U, u), dot(V, v), f(dot(U, v) + dot(V, u))];
      const [weft, warp, shear] = [both(c00, s0, c01, s1), both(c01, s0, c11, s1), f(c22 * s2)].map((stress) =>
        f(stiffening * stress),
      ) as [number, number, number];
      for (let r = 0; r < 3; r++) {
        const P = f(volume32 * f(both(weft, U[r]!, shear, V[r]!) + both(t0, u[r]!, t2, v[r]!)));
        const Q = f(volume32 * f(both(shear, U[r]!, warp, V[r]!) + both(t2, u[r]!, t1, v[r]!)));
        const [first, second] = [both(m[0], P, m[1], Q), both(m[2], P, m[3], Q)];
        q[i + r] = f(q[i + r]! + first);
        q[j + r] = f(q[j + r]! + second);
        q[k + r] = f(q[k + r]! - f(first + second));
      }
    }
  };
}

/**
 * Bending, E = (|C| - rest)^2 / (2 alpha), C = sum_j K_j x_j (constraints/bend.ts). For a stencil curved at rest, the
 * Hessian of the flat stencil, K K^T / alpha, replaces the true one: it is never below it.
 */
export function bendSet(e: BendElements, { start, columns, values }: Stencils): ElasticSet<Float32Array> {
  const count = e.alpha.length;
  const C = [0, 0, 0];
  const curvature = (x: Float64Array, i: number): number => {
    const [p0, p1, p2, p3] = [0, 1, 2, 3].map((j) => 3 * e.particles[4 * i + j]!) as [number, number, number, number];
    const k = 4 * i;
    for (let r = 0; r < 3; r++)
      C[r] =
        e.K[k + 1]! * (x[p1 + r]! - x[p0 + r]!) +
        e.K[k + 2]! * (x[p2 + r]! - x[p0 + r]!) +
        e.K[k + 3]! * (x[p3 + r]! - x[p0 + r]!);
    return dot3(C, 0, C, 0);
  };
  let stiffening = 1;
  let theta = 0;
  let past: Float64Array | undefined;
  const scatter = (g: Float64Array, i: number, scale: number, k: number): void => {
    for (let r = 0; r < 3; r++) {
      let f = scale * C[r]!;
      if (past) f += theta * k * (C[r]! - past[3 * i + r]!);
      const forces = [1, 2, 3].map((j) => e.K[4 * i + j]! * f);
      forces.forEach((force, j) => (g[3 * e.particles[4 * i + j + 1]! + r]! += force));
      g[3 * e.particles[4 * i]! + r]! -= forces[0]! + forces[1]! + forces[2]!;
    }
  };
  return {
    energy: (x) => {
      let sum = 0;
      for (let i = 0; i < count; i++) {
        const square = curvature(x, i);
        const beyond = Math.sqrt(square) - e.rest[i]!;
        let squared = e.rest[i] === 0 ? square : beyond * beyond;
        if (past) {
          const since = C.map((c, r) => c - past![3 * i + r]!);
          squared += theta * dot3(since, 0, since, 0);
        }
        sum += 0.5 * squared * (1 / e.alpha[i]!);
      }
      return sum;
    },
    keepPast: (rates, x, x1, y) => {
      stiffening = 1 + rates.theta;
      theta = stiffening - 1; // rounded as in the kernel
      past = new Float64Array(3 * count);
      for (let i = 0; i < count; i++) {
        const seen = (at: Float64Array, factor: number): number[] => {
          curvature(at, i);
          return stencilFrame(at, e, i).map((axis) => factor * dot3(axis, 0, C, 0));
        };
        const now = seen(x, rates.a);
        const before = rates.b !== 0 ? seen(x1, rates.b) : undefined;
        const [along, across, out] = before ? now.map((s, k) => s + before[k]!) : now;
        const [u, v, n] = stencilFrame(y, e, i);
        for (let r = 0; r < 3; r++) past[3 * i + r] = along! * u[r]! + across! * v[r]! + out! * n[r]!;
      }
    },
    linearize: (x, g) => {
      for (let i = 0; i < count; i++) {
        const square = curvature(x, i);
        const k = 1 / e.alpha[i]!;
        scatter(g, i, e.rest[i] !== 0 && square > 0 ? (1 - e.rest[i]! / Math.sqrt(square)) * k : k, k);
      }
    },
    product: (p, q) => {
      const stiffer = f(stiffening);
      for (let i = 0; i + 1 < start.length; i++)
        for (let n = start[i]!; n < start[i + 1]!; n++)
          for (let r = 0; r < 3; r++)
            q[3 * i + r] = f(q[3 * i + r]! + f(f(stiffer * values[n]!) * p[3 * columns[n]! + r]!));
    },
  };
}

/** Unit vectors: along a stencil's first edge; normal to both edges; and perpendicular to these two. */
function stencilFrame(x: Float64Array, { particles }: BendElements, i: number): [number[], number[], number[]] {
  const [p0, p1, p2, p3] = [0, 1, 2, 3].map((j) => 3 * particles[4 * i + j]!) as Four;
  const edge = (from: number, to: number): number[] => [0, 1, 2].map((r) => x[to + r]! - x[from + r]!);
  const cross = (a: number[], b: number[]): number[] => [
    a[1]! * b[2]! - a[2]! * b[1]!,
    a[2]! * b[0]! - a[0]! * b[2]!,
    a[0]! * b[1]! - a[1]! * b[0]!,
  ];
  const unit = (a: number[]): number[] => {
    const length = Math.sqrt(dot3(a, 0, a, 0));
    const over = length > 0 ? 1 / length : 0;
    return a.map((value) => over * value);
  };
  const first = edge(p0, p1);
  const n = unit(cross(first, edge(p2, p3)));
  const u = unit(first);
  return [u, cross(u, n), n];
}
