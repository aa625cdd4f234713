/**
 * Do a vertex and a triangle, or two edges, touch while their points move in straight lines? Decided exactly, slowly, and without any code of the
 * kernel: float64 numbers are integers over a common power of two, so every polynomial in t below has BigInt coefficients and every sign is a fact.
 *
 * Points move as x(t) = (1-t) x0 + t x1, t in [0,1]; primitives are closed. Touching points are coplanar, so they are among the roots of the
 * coplanarity cubic f, which Sturm's theorem isolates in dyadic intervals. At a root, "inside" is a few signs of polynomials of degree <= 4 in t. The sign
 * of g at a root r of f is 0 if gcd(f, g) changes sign over r's interval, and is otherwise seen by narrowing that interval. Where f is zero for all t, the
 * first touch is 0 or a root of one of the polynomials that decide "inside": these are the candidates then.
 */

/** Integer coefficients, lowest power first, without leading zeros: [] is zero. */
type Polynomial = readonly bigint[];
type Vector = readonly [Polynomial, Polynomial, Polynomial];

/** The only root in (m, m+1) / 2^k of a square-free p, or with `exact` the number m / 2^k itself. */
interface Root {
  p: Polynomial;
  m: bigint;
  k: bigint;
  exact: boolean;
}

const signOf = (x: bigint): number => (x > 0n ? 1 : x < 0n ? -1 : 0);
const magnitude = (x: bigint): bigint => (x < 0n ? -x : x);

function trimmed(p: bigint[]): Polynomial {
  while (p.length > 0 && p[p.length - 1] === 0n) p.pop();
  return p;
}

const combine = (a: Polynomial, b: Polynomial, sign: bigint): Polynomial =>
  trimmed(Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? 0n) + sign * (b[i] ?? 0n)));
const plus = (a: Polynomial, b: Polynomial): Polynomial => combine(a, b, 1n);
const minus = (a: Polynomial, b: Polynomial): Polynomial => combine(a, b, -1n);

function times(a: Polynomial, b: Polynomial): Polynomial {
  if (a.length === 0 || b.length === 0) return [];
  const product = new Array<bigint>(a.length + b.length - 1).fill(0n);
  for (let i = 0; i < a.length; i++) for (let j = 0; j < b.length; j++) product[i + j] += a[i] * b[j];
  return trimmed(product);
}

const difference = (a: Vector, b: Vector): Vector => [minus(a[0], b[0]), minus(a[1], b[1]), minus(a[2], b[2])];
const dot = (a: Vector, b: Vector): Polynomial => plus(plus(times(a[0], b[0]), times(a[1], b[1])), times(a[2], b[2]));
const cross = (a: Vector, b: Vector): Vector => [
  minus(times(a[1], b[2]), times(a[2], b[1])),
  minus(times(a[2], b[0]), times(a[0], b[2])),
  minus(times(a[0], b[1]), times(a[1], b[0])),
];

const derivative = (p: Polynomial): Polynomial => trimmed(p.slice(1).map((c, i) => c * BigInt(i + 1)));

function gcdOfIntegers(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return magnitude(a);
}

/** p over the positive greatest common divisor of its coefficients: same signs, smaller numbers. */
function primitive(p: Polynomial): Polynomial {
  const content = p.reduce(gcdOfIntegers, 0n);
  return content > 1n ? p.map((c) => c / content) : p;
}

/** A positive multiple of the remainder of a by b. Both are multiplied by |leading coefficient of b| on the way, so signs stay. */
function remainder(a: Polynomial, b: Polynomial): Polynomial {
  const rest = [...a], lead = b[b.length - 1], scale = magnitude(lead);
  while (rest.length >= b.length) {
    const shift = rest.length - b.length, factor = rest[rest.length - 1] * (lead < 0n ? -1n : 1n);
    for (let i = 0; i < rest.length; i++) rest[i] *= scale;
    for (let i = 0; i < b.length; i++) rest[i + shift] -= factor * b[i];
    trimmed(rest);
  }
  return primitive(rest);
}

function gcdOf(a: Polynomial, b: Polynomial): Polynomial {
  while (b.length > 0) [a, b] = [b, remainder(a, b)];
  return primitive(a);
}

/** a / b times a positive integer, where b divides a. */
function quotient(a: Polynomial, b: Polynomial): Polynomial {
  const rest = [...a], result = new Array<bigint>(a.length - b.length + 1).fill(0n), lead = b[b.length - 1], scale = magnitude(lead);
  for (let shift = result.length - 1; shift >= 0; shift--) {
    const factor = rest[shift + b.length - 1] * (lead < 0n ? -1n : 1n);
    for (let i = 0; i < result.length; i++) result[i] *= scale;
    for (let i = 0; i < rest.length; i++) rest[i] *= scale;
    for (let i = 0; i < b.length; i++) rest[i + shift] -= factor * b[i];
    result[shift] += factor;
  }
  return primitive(trimmed(result));
}

/** Sign of p at m / 2^k. */
function signAt(p: Polynomial, m: bigint, k: bigint): number {
  let value = 0n;
  for (let i = p.length - 1, power = 0n; i >= 0; i--, power += k) value = value * m + (p[i] << power);
  return signOf(value);
}

/** Sign of p over all of [m, m+1] / 2^k, m >= 0, where interval evaluation shows one; 0 where it does not. */
function signOver(p: Polynomial, m: bigint, k: bigint): number {
  let low = 0n, high = 0n;
  for (let i = p.length - 1, power = 0n; i >= 0; i--, power += k) {
    const c = p[i] << power;
    low = low * (low < 0n ? m + 1n : m) + c;
    high = high * (high < 0n ? m : m + 1n) + c;
  }
  return low > 0n ? 1 : high < 0n ? -1 : 0;
}

function narrow(root: Root): void {
  if (root.exact) return;
  const middle = 2n * root.m + 1n, left = signAt(root.p, root.m, root.k), sign = signAt(root.p, middle, root.k + 1n);
  root.k += 1n;
  root.m = sign === 0 || sign === left ? middle : 2n * root.m;
  root.exact = sign === 0;
}

/** All distinct roots of p in [0,1], by bisection and Sturm's theorem. */
function rootsOf(f: Polynomial): Root[] {
  if (f.length < 2) return [];
  const common = gcdOf(f, derivative(f)), p = common.length > 1 ? quotient(f, common) : primitive(f);
  const chain: Polynomial[] = [p, derivative(p)];
  for (;;) {
    const rest = remainder(chain[chain.length - 2], chain[chain.length - 1]);
    if (rest.length === 0) break;
    chain.push(rest.map((c) => -c));
  }
  const changes = (m: bigint, k: bigint): number => {
    const signs = chain.map((q) => signAt(q, m, k)).filter((s) => s !== 0);
    return signs.filter((s, i) => i > 0 && s !== signs[i - 1]).length;
  };
  const roots: Root[] = [];
  for (const end of [0n, 1n]) if (signAt(p, end, 0n) === 0) roots.push({ p, m: end, k: 0n, exact: true });
  const open: { m: bigint; k: bigint }[] = [{ m: 0n, k: 0n }];
  while (open.length > 0) {
    const { m, k } = open.pop()!, left = signAt(p, m, k), right = signAt(p, m + 1n, k);
    const inside = changes(m, k) - changes(m + 1n, k) - (right === 0 ? 1 : 0); // Sturm counts (left, right].
    if (inside <= 0) continue;
    if (inside === 1 && left !== 0 && right !== 0) {
      roots.push({ p, m, k, exact: false });
      continue;
    }
    const middle = 2n * m + 1n;
    if (signAt(p, middle, k + 1n) === 0) roots.push({ p, m: middle, k: k + 1n, exact: true });
    open.push({ m: 2n * m, k: k + 1n }, { m: middle, k: k + 1n });
  }
  return roots;
}

/** Sign of g at the root. */
function signAtRoot(g: Polynomial, root: Root): number {
  if (g.length === 0) return 0;
  for (let step = 0; ; step++) {
    if (root.exact) return signAt(g, root.m, root.k);
    const sign = signOver(g, root.m, root.k);
    if (sign !== 0) return sign;
    if (step === 6) {
      const shared = gcdOf(root.p, g); // Divides p, so it has no other root in the interval than this one, and a simple one.
      if (shared.length > 1 && signAt(shared, root.m, root.k) !== signAt(shared, root.m + 1n, root.k)) return 0;
    }
    narrow(root);
  }
}

/** Point p on segment ab: (b-a) x (p-a) = 0 and (p-a).(p-b) <= 0, also where a = b. Four polynomials. */
const onSegment = (p: Vector, a: Vector, b: Vector): Polynomial[] => [...cross(difference(b, a), difference(p, a)), dot(difference(p, a), difference(p, b))];
const isOnSegment = (s: Polynomial[], t: Root): boolean => [0, 1, 2].every((i) => signAtRoot(s[i], t) === 0) && signAtRoot(s[3], t) <= 0;

const TIME_BITS = 64n;

/**
 * @param f coplanarity; @param normal zero where the plane is not defined; @param sides all >= 0 where the primitives meet and normal is not zero
 * @param segments one of them holds where they meet and normal is zero
 */
function firstTouch(f: Polynomial, normal: Vector, sides: Polynomial[], segments: Polynomial[][]): number {
  const ends: Root[] = [0n, 1n].map((m) => ({ p: [], m, k: 0n, exact: true }));
  const candidates = f.length > 0 ? rootsOf(f) : [...ends, ...[...sides, dot(normal, normal), ...segments.flat()].flatMap(rootsOf)];
  let first = -1;
  for (const t of candidates) {
    const flat = normal.every((n) => signAtRoot(n, t) === 0);
    const touches = flat ? segments.some((s) => isOnSegment(s, t)) : sides.every((side) => signAtRoot(side, t) >= 0);
    if (!touches) continue;
    while (!t.exact && t.k < TIME_BITS) narrow(t);
    const time = Number((t.m << TIME_BITS) >> t.k) / 2 ** Number(TIME_BITS);
    if (first < 0 || time < first) first = time;
  }
  return first;
}

/** The four points as polynomials of degree 1 over one power of two, which cancels: only signs are asked for. */
function motions(q: Float64Array): Vector[] {
  if (q.length !== 24) throw new RangeError(`q has ${q.length} numbers; expected 24: four points at t0, then at t1`);
  const bits = new DataView(new ArrayBuffer(8));
  const parts = Array.from(q, (x, i) => {
    if (!Number.isFinite(x)) throw new RangeError(`q[${i}] is ${x}; expected a finite number`);
    bits.setFloat64(0, x);
    const word = bits.getBigUint64(0), exponent = Number((word >> 52n) & 0x7ffn), fraction = word & 0xfffffffffffffn;
    const whole = exponent === 0 ? fraction : fraction | (1n << 52n);
    return { mantissa: x < 0 ? -whole : whole, exponent: Math.max(exponent, 1) };
  });
  const lowest = Math.min(...parts.filter(({ mantissa }) => mantissa !== 0n).map(({ exponent }) => exponent), 2047);
  const integers = parts.map(({ mantissa, exponent }) => (mantissa === 0n ? 0n : mantissa << BigInt(exponent - lowest)));
  return [0, 3, 6, 9].map((at) => [0, 1, 2].map((axis) => trimmed([integers[at + axis], integers[at + axis + 12] - integers[at + axis]])) as unknown as Vector);
}

/**
 * Vertex against triangle.
 * @param q f64[24] v f0 f1 f2 at t0, then at t1; finite
 * @returns the first time in [0,1] at which they touch, within 2^-53 of it, or -1 if they never do
 * @throws RangeError for another length or a number that is not finite
 */
export function exactVertexTriangle(q: Float64Array): number {
  const [v, a, b, c] = motions(q);
  const av = difference(v, a), ab = difference(b, a), normal = cross(ab, difference(c, a));
  const sides = [[a, b], [b, c], [c, a]].map(([from, to]) => dot(normal, cross(difference(to, from), difference(v, from))));
  return firstTouch(dot(normal, av), normal, sides, [onSegment(v, a, b), onSegment(v, b, c), onSegment(v, c, a)]);
}

/**
 * Edge against edge.
 * @param q f64[24] a0 a1 b0 b1 at t0, then at t1; finite
 * @returns the first time in [0,1] at which they touch, within 2^-53 of it, or -1 if they never do
 * @throws RangeError for another length or a number that is not finite
 */
export function exactEdgeEdge(q: Float64Array): number {
  const [a, b, c, d] = motions(q);
  const u = difference(b, a), v = difference(d, c), w = difference(c, a), normal = cross(u, v), square = dot(normal, normal);
  // a + u s/square = c + v r/square where the lines meet.
  const s = dot(cross(w, v), normal), r = dot(cross(w, u), normal);
  return firstTouch(dot(normal, w), normal, [s, r, minus(square, s), minus(square, r)], [onSegment(c, a, b), onSegment(d, a, b), onSegment(a, c, d), onSegment(b, c, d)]);
}
