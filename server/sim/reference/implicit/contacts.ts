/**
 * Twin of kernel/assembly/implicit/contacts.ts: near pairs of bodies that are solved together, as springs in the
 * objective of their step,
 *   E = P(r - n . s) + D(|u|),   s = sum_k b_k y_k
 *   P(d) = k/2 d^2 m/(m - d) up to STEEP m, with m = MOST r, then continued with the curvature there;  k d^2/2 below 0
 *   D(u) = q u^2/2 up to F/q, F (u - F/2q) beyond,   u = t + (1 - n n^T)(s - s_0),   F = mu p
 * p is the push of the last solve, t = f/q of the friction f kept from the previous step.
 */
import type { Vector } from "../vector.ts";

const STIFFNESS = 1;
const MOST = 0.8;
const STEEP = 0.9;
const YIELDS = 0.05;
const STEADY = 4;
const CHANGED = 0.05;
/** Speed at which a pair that is too near separates, in thicknesses per second. */
const RISE = 2;

/** A member of a pair: a particle of a body of the group, or a place at the step's start and end. */
export type Who = { body: number; particle: number } | { start: Vector; end: Vector };

/** Two primitives that are near at the step's start. */
export interface NearPair {
  /** Key of the pair, the same in every step; and key of its first vertex or edge. */
  key: string;
  first: string;
  who: readonly Who[];
  /** Unit vector to the first primitive; weights of the closest points, negative for the second. */
  normal: Vector;
  weights: readonly number[];
  thickness: number;
  mu: { static: number; dynamic: number };
  /** Largest external acceleration on its particles, squared. */
  acceleration2: number;
}

/** Properties of the bodies that a pair needs. */
export interface TouchingBody {
  x: Float64Array;
  v: Float64Array;
  /** N/m by particle: diagonal of the matrix at rest. */
  diagonal: Float64Array;
}

interface Row {
  pair: NearPair;
  n: Vector;
  fixed: Vector;
  start: Vector;
  here: Vector;
  rest: number;
  stiffness: number;
  hold: number;
  approach: number;
  resting: number;
  push: number;
  shear: Vector;
  slid: boolean;
  /** Displacement of s in the step by v; and the slip without friction, including the elastic part so far. */
  motion: Vector;
  glide: Vector;
  on: boolean;
  between: boolean;
  // of the last linearization
  slip: Vector;
  drag: number;
  curve: number;
  steady: boolean;
}

/** Friction by coordinate, N, and the kept gap, below 0 if the pair slid; float32. */
export interface Kept {
  force: Vector;
  rest: number;
  /** `first` of the NearPair. */
  first: string;
}

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

export class Contacts {
  private rows: Row[] = [];
  private readonly before: ReadonlyMap<string, Kept>;
  /** The same by first vertex or edge: of several pairs the first kept one. */
  private readonly first = new Map<string, Kept>();
  private readonly after: Map<string, Kept>;

  /**
   * @param before data kept by pairs in the previous step, by key
   * @param after data kept for the next step
   */
  constructor(before: ReadonlyMap<string, Kept> = new Map(), after = new Map<string, Kept>()) {
    this.before = before;
    for (const kept of before.values()) if (!this.first.has(kept.first)) this.first.set(kept.first, kept);
    this.after = after;
  }

  get any(): boolean {
    return this.rows.length > 0;
  }

  /** True if all pairs are between free particles. */
  get between(): boolean {
    return this.rows.every((row) => row.between);
  }

  /** @param h s */
  find(pairs: readonly NearPair[], bodies: readonly TouchingBody[], h: number): void {
    this.rows = pairs.map((pair) => this.recall(open(pair, bodies, h), h));
  }

  private recall(row: Row, h: number): Row {
    const r = row.pair.thickness;
    const kept = this.before.get(row.pair.key) ?? this.first.get(row.pair.first);
    const here = dot(row.n, row.here);
    row.rest = kept ? Math.min(r, Math.abs(kept.rest) + RISE * h * r) : Math.min(r, here);
    row.push = kept ? pushAt(row, row.rest - here) : 0;
    row.hold = Math.max(row.stiffness, row.push / (YIELDS * row.rest));
    if (kept) {
      row.slid = kept.rest < 0;
      const lift = dot(kept.force, row.n);
      row.shear = kept.force.map((f, r) => (f - lift * row.n[r]!) / row.hold) as unknown as Vector;
    }
    const lift = dot(row.n, row.motion);
    row.glide = row.shear.map((t, r) => t + (row.motion[r]! - lift * row.n[r]!)) as unknown as Vector;
    return row;
  }

  /**
   * Sets the initial active set.
   * @param y vectors by body
   * @param too whether currently active pairs stay active
   */
  guess(y: readonly Float64Array[], too: boolean): void {
    for (const row of this.rows)
      row.on = depth(row, place(row, y)) > 0 || row.rest > dot(row.n, row.here) || (too && row.on);
  }

  /** True if a separated pair comes together. */
  get hits(): boolean {
    return this.rows.some(
      ({ n, here, rest, approach, resting }) => dot(n, here) - rest < approach && approach > resting,
    );
  }

  /** Energy at y, J. */
  energy(y: readonly Float64Array[]): number {
    let sum = 0;
    for (const row of this.pushing()) sum += energyOf(row, place(row, y));
    return sum;
  }

  /** Energy at the start of the step, J. */
  energyHere(): number {
    let sum = 0;
    for (const row of this.pushing()) sum += energyOf(row, row.here);
    return sum;
  }

  /**
   * g += dE/dy.
   * @param first before the first solve of this step: a sliding pair then gets the friction of its predicted slip
   */
  linearize(y: readonly Float64Array[], g: readonly Float64Array[], first: boolean): void {
    for (const row of this.pushing()) {
      const s = place(row, y);
      const { u, length } = slip(row, s);
      const push = -pushAt(row, depth(row, s));
      const F = limit(row);
      row.curve = curveAt(row, depth(row, s));
      const drag = row.hold * length <= F ? row.hold : F / length;
      const far = Math.sqrt(dot(row.glide, row.glide));
      const glides = first && far > length;
      const reach = glides ? far : length;
      row.drag = row.hold * reach <= F ? row.hold : F / reach;
      row.steady = row.hold * reach > F && reach - F / row.hold > row.resting * STEADY;
      row.slip = glides ? row.glide : u;
      scatter(row, g, row.n.map((n, r) => push * n + drag * u[r]!) as unknown as Vector);
    }
  }

  /** q += H p of the last linearization. */
  product(p: readonly Float64Array[], q: readonly Float64Array[]): void {
    for (const row of this.pushing()) {
      const { n, slip: e } = row;
      const s = weighted(row, p);
      const lift = dot(n, s);
      let along = s.map((value, r) => value - lift * n[r]!) as unknown as Vector;
      if (row.steady) {
        const part = dot(e, along) / dot(e, e);
        along = along.map((value, r) => value - part * e[r]!) as unknown as Vector;
      }
      scatter(row, q, n.map((c, r) => row.curve * lift * c + row.drag * along[r]!) as unknown as Vector);
    }
  }

  /**
   * Updates the active set and friction after a solve.
   * @returns true: solve again
   */
  review(y: readonly Float64Array[]): boolean {
    let changed = false;
    for (const row of this.rows) {
      const s = place(row, y);
      const d = depth(row, s);
      const before = row.push;
      const was = row.on;
      row.push = Math.max(0, pushAt(row, d));
      row.on = d > 0;
      if (row.on !== was) changed = true;
      if (!row.on || !was) continue;
      if (before === 0) changed = true;
      const { length } = slip(row, s);
      const F = limit(row);
      if (row.hold * length > F && !row.steady && row.drag * length > (1 + CHANGED) * F) changed = true;
    }
    return changed;
  }

  /** True if an inactive pair ends too near, and approaches faster than a resting one. */
  entered(y: readonly Float64Array[]): boolean {
    return this.rows.some((row) => {
      if (row.on) return false;
      const s = place(row, y);
      return depth(row, s) > 0 && dot(row.n, s) < dot(row.n, row.here) - row.resting;
    });
  }

  /** Keeps friction and gaps for the next step. */
  keep(y: readonly Float64Array[]): void {
    for (const row of this.pushing()) {
      const s = place(row, y);
      if (!(depth(row, s) > 0)) continue;
      row.push = pushAt(row, depth(row, s));
      const { u, length } = slip(row, s);
      const F = limit(row);
      const force = row.hold * length;
      const scale = row.hold * (force > F ? F / force : 1);
      const rest = Math.fround(row.rest);
      this.after.set(row.pair.key, {
        force: u.map((c) => Math.fround(scale * c)) as unknown as Vector,
        rest: force > F ? -rest : rest,
        first: row.pair.first,
      });
    }
  }

  private pushing(): Row[] {
    return this.rows.filter(({ on }) => on);
  }
}

function open(pair: NearPair, bodies: readonly TouchingBody[], h: number): Row {
  const n = pair.normal;
  const [fixed, start, here, motion] = [0, 1, 2, 3].map((): [number, number, number] => [0, 0, 0]) as [
    [number, number, number],
    [number, number, number],
    [number, number, number],
    [number, number, number],
  ];
  let W = 0;
  let between = true;
  pair.who.forEach((who, k) => {
    const b = pair.weights[k]!;
    if (!("body" in who)) {
      if (b !== 0) between = false;
      for (let r = 0; r < 3; r++) {
        fixed[r]! += b * who.end[r]!;
        here[r]! += b * who.end[r]!;
        start[r]! += b * who.start[r]!;
        motion[r]! += b * (who.end[r]! - who.start[r]!);
      }
      return;
    }
    const { x, v, diagonal } = bodies[who.body]!;
    const i = who.particle;
    W += (b * b) / diagonal[i]!;
    for (let r = 0; r < 3; r++) {
      here[r]! += b * x[3 * i + r]!;
      start[r]! += b * x[3 * i + r]!;
      motion[r]! += b * h * v[3 * i + r]!;
    }
  });
  return {
    pair,
    n,
    fixed,
    start,
    here,
    between,
    rest: 0,
    stiffness: STIFFNESS / W,
    hold: 0,
    approach: -dot(n, motion),
    motion,
    glide: [0, 0, 0],
    resting: 2 * h * h * Math.sqrt(pair.acceleration2),
    push: 0,
    shear: [0, 0, 0],
    slid: false,
    on: false,
    slip: [0, 0, 0],
    drag: 0,
    curve: 0,
    steady: false,
  };
}

function potentialAt({ stiffness: k, rest }: Row, d: number): number {
  if (!(d > 0)) return 0.5 * k * d * d;
  const m = MOST * rest;
  const e = Math.min(d, STEEP * m);
  const beyond = d - e;
  return (0.5 * k * e * e * m) / (m - e) + beyond * (firstOf(k, m, e) + 0.5 * beyond * secondOf(k, m, e));
}

function pushAt({ stiffness: k, rest }: Row, d: number): number {
  if (!(d > 0)) return k * d;
  const m = MOST * rest;
  const e = Math.min(d, STEEP * m);
  return firstOf(k, m, e) + (d - e) * secondOf(k, m, e);
}

function curveAt({ stiffness: k, rest }: Row, d: number): number {
  const m = MOST * rest;
  return d > 0 ? secondOf(k, m, Math.min(d, STEEP * m)) : k;
}

const firstOf = (k: number, m: number, d: number): number => (0.5 * k * m * d * (2 * m - d)) / ((m - d) * (m - d));

function secondOf(k: number, m: number, d: number): number {
  const q = m / (m - d);
  return k * q * q * q;
}

/** sum b y over free particles. */
function weighted({ pair }: Row, y: readonly Float64Array[]): Vector {
  const s: [number, number, number] = [0, 0, 0];
  pair.who.forEach((who, k) => {
    if (!("body" in who)) return;
    for (let r = 0; r < 3; r++) s[r]! += pair.weights[k]! * y[who.body]![3 * who.particle + r]!;
  });
  return s;
}

const place = (row: Row, y: readonly Float64Array[]): Vector =>
  weighted(row, y).map((c, r) => c + row.fixed[r]!) as unknown as Vector;

const depth = ({ rest, n }: Row, s: Vector): number => rest - dot(n, s);

function slip({ n, start, shear }: Row, s: Vector): { u: Vector; length: number } {
  const moved = s.map((c, r) => c - start[r]!) as unknown as Vector;
  const lift = dot(n, moved);
  const u = shear.map((t, r) => t + (moved[r]! - lift * n[r]!)) as unknown as Vector;
  return { u, length: Math.sqrt(dot(u, u)) };
}

const limit = ({ pair: { mu }, slid, push }: Row): number => (slid ? mu.dynamic : mu.static) * push;

function energyOf(row: Row, s: Vector): number {
  const k = row.hold;
  const F = limit(row);
  const { length } = slip(row, s);
  const rubs = k * length <= F ? 0.5 * k * length * length : F * (length - (0.5 * F) / k);
  return potentialAt(row, depth(row, s)) + rubs;
}

function scatter({ pair }: Row, to: readonly Float64Array[], force: Vector): void {
  pair.who.forEach((who, k) => {
    if (!("body" in who)) return;
    for (let r = 0; r < 3; r++) to[who.body]![3 * who.particle + r]! += pair.weights[k]! * force[r]!;
  });
}
