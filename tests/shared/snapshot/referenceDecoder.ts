/**
 * A second decoder, written from the text of shared/snapshot/format.ts and, of the rest of that folder, only the
 * table's rows: plain arrays by particle, not fast. If it agrees with the real one, the text is complete.
 */
import { FREQUENCY_ROWS } from "../../../shared/snapshot/tables.ts";

type V3 = [number, number, number];

const f = Math.fround;
const view = new DataView(new ArrayBuffer(4));
function bits(x: number): number {
  view.setFloat32(0, x);
  return view.getInt32(0);
}

/** Section 4: frequencies of -15 .. 15 and escape. */
function frequenciesOf(bin: number, phase: number): number[] {
  const row = FREQUENCY_ROWS[bin < 14 ? 5 * bin + (phase <= 4 ? phase : 8 - phase) : 70 + (bin % 2)]!;
  const [listed, escapeFrequency] = row.split(" | ") as [string, string];
  const [first, numbers] = listed.split(": ") as [string, string];
  const residuals = new Array<number>(31).fill(1);
  numbers.split(" ").forEach((n, k) => (residuals[15 + Number(first) + k] = Number(n)));
  if (bin < 14 && phase > 4) residuals.reverse();
  return [...residuals, Number(escapeFrequency)];
}

/** Section 3. */
class Coder {
  private state: number;
  private readonly bytes: Uint8Array;
  private at = 7;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.state = bytes[3]! + 256 * (bytes[4]! + 256 * (bytes[5]! + 256 * bytes[6]!));
  }

  /** The index of a symbol. */
  symbol(frequencies: readonly number[]): number {
    const slot = this.state % 2 ** 14;
    let start = 0;
    let symbol = 0;
    while (start + frequencies[symbol]! <= slot) start += frequencies[symbol++]!;
    this.state = frequencies[symbol]! * Math.floor(this.state / 2 ** 14) + slot - start;
    if (this.state < 2 ** 15) {
      this.state = this.state * 2 ** 16 + this.bytes[this.at]! + 256 * this.bytes[this.at + 1]!;
      this.at += 2;
    }
    return symbol;
  }

  raw(n: number): number {
    return this.symbol(new Array<number>(2 ** n).fill(2 ** (14 - n)));
  }

  get ended(): boolean {
    return this.state === 2 ** 15 && this.at === this.bytes.length;
  }
}

/** Section 5a, by searching. */
function traversal(count: number, triangles: Uint32Array): { order: number[]; rings: Set<number>[] } {
  const rings = Array.from({ length: count }, () => new Set<number>());
  for (let t = 0; t < triangles.length; t += 3) {
    for (const a of triangles.subarray(t, t + 3))
      for (const b of triangles.subarray(t, t + 3)) if (a !== b) rings[a].add(b);
  }
  const order: number[] = [];
  const visited = new Set<number>();
  const degree = new Array<number>(count).fill(0);
  const changed = new Array<number>(count).fill(-1);
  let clock = 0;
  while (order.length < count) {
    let best = -1;
    for (let v = 0; v < count; v++) {
      if (visited.has(v)) continue;
      if (best < 0 || degree[v] > degree[best] || (degree[v] === degree[best] && changed[v] > changed[best])) best = v;
    }
    order.push(best);
    visited.add(best);
    for (const u of [...rings[best]].sort((a, b) => a - b)) {
      if (visited.has(u) || degree[u] === 15) continue;
      degree[u]++;
      changed[u] = clock++;
    }
  }
  return { order, rings };
}

/** Section 5c. */
function gatesOf(v: number, triangles: Uint32Array, decoded: (u: number) => boolean): V3[] {
  const gates: V3[] = [];
  const list = Array.from({ length: triangles.length / 3 }, (_, t) => [...triangles.subarray(3 * t, 3 * t + 3)]).filter(
    (t) => new Set(t).size === 3,
  );
  for (const gate of list) {
    const [a, b] = gate.filter((u) => u !== v);
    if (!gate.includes(v) || !decoded(a) || !decoded(b)) continue;
    for (const other of list) {
      if (!other.includes(a) || !other.includes(b)) continue;
      const c = other.find((u) => u !== a && u !== b)!;
      if (c !== v && decoded(c)) gates.push([a, b, c]);
    }
  }
  return gates.slice(0, 2);
}

const dot = (a: V3, b: V3): number => f(f(f(a[0] * b[0]) + f(a[1] * b[1])) + f(a[2] * b[2]));
const map = (of: (c: number) => number): V3 => [of(0), of(1), of(2)];
const r = (k: number): number => (k === 0 ? 0 : f(1 / k));
/** S of section 6. */
const S = (x: readonly number[]): number => f(f((x[0] ?? 0) + (x[1] ?? 0)) + f((x[2] ?? 0) + (x[3] ?? 0)));
/** x0 + (x1 + (x2 + x3)) */
const newestLast = (x: readonly number[]): number => f(x[0]! + f((x[1] ?? 0) + f((x[2] ?? 0) + (x[3] ?? 0))));

/** Section 7. */
function component(coder: Coder, act: number, c: number, v: number): number {
  const place = (bits(f(c + 12582912)) - bits(12582912)) | 0;
  const bin = Math.min(40, (bits(f(f(f(act * act) * v) + 1)) - bits(1)) >> 23);
  const symbol = coder.symbol(frequenciesOf(bin, ((place % 8) + 8) % 8));
  let high = symbol - 15;
  if (symbol === 31) {
    const h = coder.raw(6);
    const n = Math.floor(h / 2);
    let size = 2 ** (n - 1);
    for (let done = 0; done < n - 1; done += 14) size += coder.raw(Math.min(14, n - 1 - done)) * 2 ** done;
    high = h % 2 === 1 ? -size : size;
  }
  const shift = bin < 14 ? 0 : Math.floor((bin - 12) / 2);
  const low = shift === 0 ? 0 : coder.raw(shift);
  return (((place + 4) >> 3) + high * 2 ** shift + low) | 0;
}

/** Section 6's prediction of a particle: its displacement, activity and stretch, old * old, and whether it is quiet. */
interface Prediction {
  p: V3;
  act: number;
  t: number;
  a2: number;
  quiet: boolean;
}

/** Decoded part of a body: displacements, as integers and as float32, activities and stretches. */
interface Decoded {
  y: V3[];
  Y: V3[];
  A: number[];
  T: number[];
}

/** Section 6: from the particle before, or from N, decoded neighbors, and gates. */
function predict(
  { Y, A, T }: Decoded,
  N: readonly number[],
  before: number | undefined,
  gates: () => V3[],
  keyframe: boolean,
): Prediction {
  const k = N.length;
  if (k === 0)
    return {
      p: before === undefined ? [0, 0, 0] : Y[before]!,
      act: before === undefined ? 64 : A[before]!,
      t: 0,
      a2: 0,
      quiet: true,
    };
  const ofOlder = (x: number[]): number => (k === 1 ? x[0]! : f(f(x[1]! + f((x[2] ?? 0) + (x[3] ?? 0))) * r(k - 1)));
  const old = ofOlder(N.map((u) => A[u]!));
  const a2 = f(old * old);
  const G = gates();
  const alpha = G.length === 0 ? 0 : keyframe ? 1 : f(f(f(0.8) * a2) / f(a2 + 1152));
  const p = map((c) => {
    const [g0, g1] = [0, 1].map((n) =>
      n < G.length ? f(f(Y[G[n]![0]]![c]! + Y[G[n]![1]]![c]!) - Y[G[n]![2]]![c]!) : 0,
    ) as [number, number];
    return f(f(newestLast(N.map((u) => Y[u]![c]!)) * f(r(k) * f(1 - alpha))) + f(f(g0 + g1) * f(alpha * r(G.length))));
  });
  const act = f(newestLast(N.map((u) => A[u]!)) * r(k));
  return { p, act, t: ofOlder(N.map((u) => T[u]!)), a2, quiet: keyframe || old === 0 };
}

/** An edge to a neighbor in the previous frame, and the weight for its length. */
interface Edge {
  e: V3;
  close: number;
}

/** Lengthening of an edge by a motion q of one of its ends. */
const excess = ({ e }: Edge, q: V3): number =>
  dot(
    q,
    map((c) => f(e[c]! + f(q[c]! * 0.5))),
  );

/** Section 6: ax to az, vx to vz, rx to rz, and yx, zx, zy. */
interface Centers {
  a: V3;
  variance: V3;
  root: V3;
  yx: number;
  zx: number;
  zy: number;
}

/** Centers of a quiet particle. */
const plainCenters = (p: V3): Centers => ({
  a: map((c) => f(8 * p[c]!)),
  variance: [1, 1, 1],
  root: [1, 1, 1],
  yx: 0,
  zx: 0,
  zy: 0,
});

/** One neighbor's contribution to the normal equations. */
function addend({ p, t, a2 }: Prediction, edge: Edge, Yu: V3) {
  const q = map((c) => f(p[c]! - Yu[c]!));
  const d = map((c) => f(edge.e[c]! + q[c]!));
  const s = excess(edge, q);
  const w = f(dot(d, d) * edge.close) > 4 ? 0 : f(Math.min(32, f(a2 / f(f(576 * t) + 58))) * edge.close);
  const wd = map((c) => f(w * d[c]!));
  return {
    xx: f(wd[0] * d[0]),
    xy: f(wd[0] * d[1]),
    xz: f(wd[0] * d[2]),
    yy: f(wd[1] * d[1]),
    yz: f(wd[1] * d[2]),
    zz: f(wd[2] * d[2]),
    n: map((c) => f(wd[c]! * s)),
  };
}

function centersOf(p: V3, terms: readonly ReturnType<typeof addend>[]): Centers {
  const XX = f(1 + S(terms.map(({ xx }) => xx)));
  const XY = S(terms.map(({ xy }) => xy));
  const XZ = S(terms.map(({ xz }) => xz));
  const YY = f(1 + S(terms.map(({ yy }) => yy)));
  const YZ = S(terms.map(({ yz }) => yz));
  const ZZ = f(1 + S(terms.map(({ zz }) => zz)));
  const [NX, NY, NZ] = map((c) => S(terms.map(({ n }) => n[c]!)));
  const D2 = f(f(YY * ZZ) - f(YZ * YZ));
  const C1 = f(f(XY * ZZ) - f(XZ * YZ));
  const C2 = f(f(XZ * YY) - f(XY * YZ));
  const D3 = f(f(f(XX * D2) - f(XY * C1)) - f(XZ * C2));
  const [i3, i2, i1] = [f(1 / D3), f(1 / D2), f(1 / ZZ)];
  const [yx, zx, zy] = [f(8 * f(C1 * i2)), f(8 * f(XZ * i1)), f(8 * f(YZ * i1))];
  return {
    a: [
      f(8 * f(p[0] - f(f(f(f(NX * D2) - f(NY * C1)) - f(NZ * C2)) * i3))),
      f(f(8 * f(p[1] - f(f(f(NY * ZZ) - f(NZ * YZ)) * i2))) + f(yx * p[0])),
      f(f(f(8 * f(p[2] - f(NZ * i1))) + f(zx * p[0])) + f(zy * p[1])),
    ],
    variance: [f(D2 * i3), f(ZZ * i2), i1],
    root: [f(Math.sqrt(f(D3 * i2))), f(Math.sqrt(f(D2 * i1))), f(Math.sqrt(ZZ))],
    yx,
    zx,
    zy,
  };
}

/** Sections 5 to 7 for a body that changed. `prev` is its previous positions; returns the new ones. */
function decodeBody(coder: Coder, keyframe: boolean, prev: V3[], triangles: Uint32Array): V3[] {
  const { order, rings } = traversal(prev.length, triangles);
  const decoded: Decoded = { y: [], Y: [], A: [], T: [] };
  const { y, Y, A, T } = decoded;
  order.forEach((v, rank) => {
    const N = order
      .slice(0, rank)
      .reverse()
      .filter((u) => rings[v]!.has(u))
      .slice(0, 4);
    const gates = (): V3[] => gatesOf(v, triangles, (u) => Y[u] !== undefined);
    const prediction = predict(decoded, N, order[rank - 1], gates, keyframe);
    const { p, act, t, quiet } = prediction;
    const edges = N.map((u): Edge => {
      const e = map((c) => f(prev[v]![c]! - prev[u]![c]!));
      return { e, close: f(1 / f(dot(e, e) + 1)) };
    });
    const terms = quiet ? [] : N.map((u, n) => addend(prediction, edges[n]!, Y[u]!));
    const { a, variance, root, yx, zx, zy } = quiet ? plainCenters(p) : centersOf(p, terms);
    const got: V3 = [0, 0, 0];
    const center: V3 = [0, 0, 0];
    for (let c = 0; c < 3; c++) {
      center[c] =
        c === 0 ? a[0] : c === 1 ? f(a[1] - f(yx * f(got[0]))) : f(f(a[2] - f(zx * f(got[0]))) - f(zy * f(got[1])));
      got[c] = component(coder, act, center[c]!, variance[c]!);
    }
    y[v] = got;
    Y[v] = map((c) => f(got[c]!));
    const [sx, sy, sz] = map((c) => f(Math.abs(f(f(8 * Y[v]![c]!) - center[c]!)) * root[c]!));
    A[v] = f(f(sx + sy) + sz);
    const stretch = N.map((u, n) => {
      const s = excess(
        edges[n]!,
        map((c) => f(Y[v]![c]! - Y[u]![c]!)),
      );
      return f(f(s * edges[n]!.close) * s);
    });
    T[v] = quiet ? t : Math.min(2 ** 60, f(S(stretch) * r(N.length)));
  });
  return prev.map((x, v) => map((c) => x[c]! + y[v]![c]!));
}

/**
 * A whole frame; `previous` is null for a keyframe. Returns the frame, the checksum in the bytes, and whether the bytes
 * ended correctly.
 */
export function referenceDecode(
  bodies: readonly { count: number; triangles: Uint32Array }[],
  previous: Int32Array | null,
  bytes: Uint8Array,
): { frame: Int32Array; checksum: number; ended: boolean } {
  const coder = new Coder(bytes);
  const frame: number[] = [];
  let changed = 0;
  for (const { count, triangles } of bodies) {
    const first = frame.length;
    const prev = Array.from(
      { length: count },
      (_, v): V3 => map((c) => (previous === null ? 0 : previous[first + 3 * v + c]!)),
    );
    if (coder.symbol([14336, 2048]) === 1) changed = 1 - changed;
    frame.push(...(changed === 0 ? prev : decodeBody(coder, bytes[0] === 0x21, prev, triangles)).flat());
  }
  return { frame: Int32Array.from(frame), checksum: bytes[1]! + 256 * bytes[2]!, ended: coder.ended };
}

/** Section 8 in exact integers. */
export function referenceChecksum(frame: Int32Array): number {
  const of = (c: number): bigint => {
    let h = BigInt(c + 1);
    frame.forEach((v, i) => {
      if (i % 3 !== c) return;
      h = ((h ^ BigInt.asUintN(32, BigInt(v))) * 0x9e3779b1n) & 0xffffffffn;
      h ^= h >> 15n;
    });
    return h;
  };
  const h = of(0) ^ ((of(1) * 0x85ebca6bn) & 0xffffffffn) ^ ((of(2) * 0xc2b2ae35n) & 0xffffffffn);
  return Number((h ^ (h >> 16n)) & 0xffffn);
}
