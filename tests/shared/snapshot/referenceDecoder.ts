/**
 * A second decoder, written from the text of shared/snapshot/format.ts and nothing else of that folder but its table of initial probabilities:
 * plain arrays by particle, no speed. If it agrees with the real one, the text is complete.
 */
import { INITIAL_PROBABILITY } from "../../../shared/snapshot/format.ts";

type V3 = [number, number, number];

const THRESHOLDS = [0.25, 0.5, 0.75, 1, 1.375, 1.75, 2.125, 2.625, 3.25, 4, 5, 7, 10, 16, 32];
const [BODY, ZERO, SIGN, UNARY, PREFIX] = [0, 2, 66, 74, 170];

/** Sections 3 and 4, with numbers as unsigned 32 bit values in binary64. */
class Bits {
  private code = 0;
  private range = 2 ** 32 - 1;
  private readonly contexts = INITIAL_PROBABILITY.map((p) => ({ P: p * 256, n: 12 }));
  private readonly bytes: Uint8Array;
  private at = 3;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    for (let i = 0; i < 4; i++) this.code = this.code * 256 + this.byte();
  }

  private byte(): number {
    return this.bytes[this.at++] ?? 0;
  }

  split(P: number): number {
    const bound = Math.floor(this.range / 65536) * P;
    const bit = this.code < bound ? 0 : 1;
    if (bit === 0) this.range = bound;
    else [this.code, this.range] = [this.code - bound, this.range - bound];
    while (this.range < 2 ** 24) [this.range, this.code] = [this.range * 256, this.code * 256 + this.byte()];
    return bit;
  }

  bit(number: number): number {
    const context = this.contexts[number];
    const bit = this.split(context.P);
    const R = Math.floor(65536 / (context.n + 1.5));
    context.P += bit === 0 ? Math.floor(((65536 - context.P) * R) / 65536) : -Math.floor((context.P * R) / 65536);
    context.P = Math.min(65504, Math.max(32, context.P));
    context.n = Math.min(context.n + 1, 127);
    return bit;
  }

  get leftOver(): number {
    return Math.max(0, this.bytes.length - (this.at - 3));
  }
}

/** Section 5a, by searching. */
function traversal(count: number, triangles: Uint32Array): { order: number[]; rings: Set<number>[] } {
  const rings = Array.from({ length: count }, () => new Set<number>());
  for (let t = 0; t < triangles.length; t += 3) {
    for (const a of triangles.subarray(t, t + 3)) for (const b of triangles.subarray(t, t + 3)) if (a !== b) rings[a].add(b);
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
  const list = Array.from({ length: triangles.length / 3 }, (_, t) => [...triangles.subarray(3 * t, 3 * t + 3)]).filter((t) => new Set(t).size === 3);
  for (const gate of list) {
    const [a, b] = gate.filter((u) => u !== v);
    if (!gate.includes(v) || !decoded(a) || !decoded(b)) continue;
    for (const other of list) {
      if (!other.includes(a) || !other.includes(b)) continue;
      const c = other.find((u) => u !== a && u !== b)!;
      if (c !== v && decoded(c)) gates.push([a, b, c]);
    }
  }
  return gates.slice(0, 3);
}

const dot = (a: V3, b: V3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const map = (f: (c: number) => number): V3 => [f(0), f(1), f(2)];

/** Sections 5 and 6 for a body whose flag is 1. `prev` holds the body's previous positions; returns the new ones. */
function decodeBody(bits: Bits, keyframe: boolean, prev: V3[], triangles: Uint32Array): V3[] {
  const { order, rings } = traversal(prev.length, triangles);
  const y: V3[] = [];
  const A: number[] = [];
  const T: number[] = [];
  order.forEach((v, rank) => {
    const N = order.slice(0, rank).reverse().filter((u) => rings[v].has(u)).slice(0, 4);
    const k = N.length;
    let p: V3 = [0, 0, 0];
    let act = 8;
    let [XX, XY, XZ, YY, YZ, ZZ] = [1, 0, 0, 1, 0, 1];
    let b: V3 = [0, 0, 0];
    if (k === 0 && rank > 0) [p, act] = [y[order[rank - 1]], A[order[rank - 1]]];
    if (k > 0) {
      act = N.reduce((sum, u) => sum + A[u], 0) / k;
      const t = N.reduce((sum, u) => sum + T[u], 0) / k;
      const m = map((c) => N.reduce((sum, u) => sum + y[u][c], 0) / k);
      const a2 = (act * act) / 9;
      const alpha = keyframe ? 1 : (0.8 * a2) / (a2 + 2);
      const G = gatesOf(v, triangles, (u) => y[u] !== undefined);
      const g = map((c) => G.reduce((sum, [i, j, l]) => sum + (y[i][c] + y[j][c] - y[l][c]), 0) / G.length);
      p = G.length === 0 ? m : map((c) => m[c] + alpha * (g[c] - m[c]));
      const weight = keyframe ? 0 : Math.min(32, a2 / (0.1 + t));
      for (const u of N) {
        const e = map((c) => prev[v][c] - prev[u][c]);
        const q = map((c) => p[c] - y[u][c]);
        const f = map((c) => e[c] + q[c]);
        if (e.every((x) => x === 0)) continue;
        const s = dot(q, map((c) => e[c] + q[c] / 2));
        const w = weight / (dot(f, f) + 1);
        const wf = map((c) => w * f[c]);
        [XX, XY, XZ] = [XX + wf[0] * f[0], XY + wf[0] * f[1], XZ + wf[0] * f[2]];
        [YY, YZ, ZZ] = [YY + wf[1] * f[1], YZ + wf[1] * f[2], ZZ + wf[2] * f[2]];
        b = map((c) => b[c] - wf[c] * s);
      }
    }
    const iz = 1 / ZZ;
    const iy = 1 / (YY - YZ * YZ * iz);
    const M = XY - XZ * YZ * iz;
    const cy = b[1] - YZ * b[2] * iz;
    const ix = 1 / (XX - XZ * XZ * iz - M * M * iy);
    const cx = b[0] - XZ * b[2] * iz - M * cy * iy;
    const r: V3 = [0, 0, 0];
    const got: V3 = [0, 0, 0];
    let own = 0;
    [() => cx * ix, () => (cy - M * r[0]) * iy, () => (b[2] - XZ * r[0] - YZ * r[1]) * iz].forEach((shift, c) => {
      const sigma = Math.sqrt([ix, iy, iz][c]);
      const center = Math.min(2 ** 29, Math.max(-(2 ** 29), p[c] + shift()));
      const i = Math.floor(center + 0.5);
      const h = center - i;
      const level = (act + 0.5 * own) * sigma;
      const bin = THRESHOLDS.filter((limit) => limit <= level).length;
      const phase = Math.min(3, Math.floor(Math.abs(h) * 8));
      got[c] = i + residual(bits, bin, phase, h >= 0 ? 1 : -1);
      r[c] = got[c] - p[c];
      own += Math.abs(got[c] - center) / sigma;
    });
    y[v] = got;
    A[v] = own;
    T[v] = 0;
    if (!keyframe && k > 0) {
      for (const u of N) {
        const q = map((c) => got[c] - y[u][c]);
        const g = map((c) => prev[v][c] - prev[u][c] + q[c] / 2);
        const s = dot(q, g);
        T[v] += (s * s) / (dot(g, g) + 1);
      }
      T[v] /= k;
    }
  });
  return prev.map((x, v) => map((c) => x[c] + y[v][c]));
}

function residual(bits: Bits, bin: number, phase: number, towards: number): number {
  if (bits.bit(ZERO + 4 * bin + phase) === 0) return 0;
  const sign = bits.bit(SIGN + phase + (bin > 8 ? 4 : 0)) === 0 ? towards : -towards;
  let ones = 0;
  while (ones < 6 && bits.bit(UNARY + 6 * bin + ones) === 1) ones++;
  if (ones < 6) return sign * (1 + ones);
  let c = 0;
  while (bits.bit(PREFIX + c) === 1) c++;
  let b = 0;
  for (let j = 0; j < c; j++) b = 2 * b + bits.split(32768);
  return sign * (1 + ones + 2 ** c - 1 + b);
}

/** A whole frame; `previous` is null for a keyframe. Returns the frame, its checksum as the bytes say it, and how many bytes too many there were. */
export function referenceDecode(
  bodies: readonly { count: number; triangles: Uint32Array }[],
  previous: Int32Array | null,
  bytes: Uint8Array,
): { frame: Int32Array; checksum: number; leftOver: number } {
  const bits = new Bits(bytes);
  const frame: number[] = [];
  let flag = 0;
  for (const { count, triangles } of bodies) {
    const first = frame.length;
    const prev = Array.from({ length: count }, (_, v): V3 => map((c) => (previous === null ? 0 : previous[first + 3 * v + c])));
    flag = bits.bit(BODY + flag);
    frame.push(...(flag === 0 ? prev : decodeBody(bits, bytes[0] === 0x11, prev, triangles)).flat());
  }
  return { frame: Int32Array.from(frame), checksum: bytes[1] + 256 * bytes[2], leftOver: bits.leftOver };
}

/** Section 7 in exact integers. */
export function referenceChecksum(frame: Int32Array): number {
  let h = 0x811c9dc5n;
  for (const v of frame) {
    h = ((h ^ BigInt.asUintN(32, BigInt(v))) * 0x9e3779b1n) & 0xffffffffn;
    h ^= h >> 15n;
  }
  return Number((h ^ (h >> 16n)) & 0xffffn);
}
