/**
 * Twin of kernel/assembly/implicit/rigidMotion.ts: a free body, or bodies in contact only with each other, are moved
 * rigidly so that momentum and angular momentum are correct.
 *   y = S + Q (y - Y),  S, Y = centers of mass of xt, y
 *   L' = sum m q x v' = keep ((4 L - L1)/3 + 2h/3 sum m q x a),  v' = (3 y - 4 x + x1)/2h,  q = y - Y
 *   Euler's L' = keep (L + h sum m q x a),  v' = (y - x)/h
 * With v' = (k y - e)/b, the acceleration's part of a step is moved from L' to e, which gets b times it. Q is a
 * sequence of Cayley's rotations w, one per step of Newton's method:
 *   sum m ((q.e) 1 - (q e^T + e q^T)/2) w = sum m q x e + b L'
 */

/** A body without fixed particles, in a step of h seconds. Vectors are float64[3n]. */
export interface Moving {
  /** float64[n] kg */
  mass: Float64Array;
  /** 1/(1 + 2 h d/3), in Euler's step 1/(1 + h d) */
  keep: number;
  x: Float64Array;
  v: Float64Array;
  x1: Float64Array;
  v1: Float64Array;
  /** External acceleration, m/s^2. */
  a: Float64Array;
  /** inout */
  y: Float64Array;
  target: Float64Array;
}

type Triple = [number, number, number];

/** Number of Newton's steps. */
const TURNS = 3;

export function moveRigidly(bodies: readonly Moving[], h: number, euler: boolean): void {
  const wanted = wantedTurn(bodies, h, euler);
  for (let n = 0; n < TURNS; n++) turnTowards(bodies, wanted, h, euler);
  const Y = centerOf(bodies, ({ y }) => y);
  const S = centerOf(bodies, ({ target }) => target);
  for (const { y } of bodies) y.forEach((p, k) => (y[k] = S[k % 3]! + (p - Y[k % 3]!)));
}

/** One of Newton's steps to Q, about the center of mass. */
function turnTowards(
  bodies: readonly Moving[],
  { turn, E }: { turn: Triple; E: Triple },
  h: number,
  euler: boolean,
): void {
  const Y = centerOf(bodies, ({ y }) => y);
  let [t0, t1, t2] = turn;
  let [h00, h11, h22, h12, h02, h01] = [0, 0, 0, 0, 0, 0];
  for (const body of bodies) {
    const { mass, y, x, x1, a: push } = body;
    const gain = gainOf(body, h, euler);
    for (let i = 0; i < mass.length; i++) {
      const m = mass[i]!;
      const [a, b, c] = [y[3 * i]! - Y[0], y[3 * i + 1]! - Y[1], y[3 * i + 2]! - Y[2]];
      const e = (r: 0 | 1 | 2): number =>
        (euler ? x[3 * i + r]! : 4 * x[3 * i + r]! - x1[3 * i + r]!) + gain * push[3 * i + r]! - E[r];
      const [u, v, w] = [e(0), e(1), e(2)];
      t0 += m * (b * w - c * v);
      t1 += m * (c * u - a * w);
      t2 += m * (a * v - b * u);
      h00 += m * (b * v + c * w);
      h11 += m * (a * u + c * w);
      h22 += m * (a * u + b * v);
      h12 -= 0.5 * m * (b * w + c * v);
      h02 -= 0.5 * m * (a * w + c * u);
      h01 -= 0.5 * m * (a * v + b * u);
    }
  }
  const [k0, k1, k2] = [h11 * h22 - h12 * h12, h02 * h12 - h01 * h22, h01 * h12 - h02 * h11];
  const determinant = h00 * k0 + h01 * k1 + h02 * k2;
  let [a0, a1, a2] = [0, 0, 0];
  // a body without width has no rotation about its axis
  if (determinant > 0) {
    const half = 0.5 / determinant;
    a0 = half * (k0 * t0 + k1 * t1 + k2 * t2);
    a1 = half * (k1 * t0 + (h00 * h22 - h02 * h02) * t1 + (h01 * h02 - h00 * h12) * t2);
    a2 = half * (k2 * t0 + (h01 * h02 - h00 * h12) * t1 + (h00 * h11 - h01 * h01) * t2);
  }
  const scale = 2 / (1 + (a0 * a0 + a1 * a1 + a2 * a2));
  for (const { y } of bodies) {
    for (let i = 0; i < y.length; i += 3) {
      const [a, b, c] = [y[i]! - Y[0], y[i + 1]! - Y[1], y[i + 2]! - Y[2]];
      const [u, v, w] = [a1 * c - a2 * b, a2 * a - a0 * c, a0 * b - a1 * a];
      y[i] = Y[0] + (a + scale * (u + (a1 * w - a2 * v)));
      y[i + 1] = Y[1] + (b + scale * (v + (a2 * u - a0 * w)));
      y[i + 2] = Y[2] + (c + scale * (w + (a0 * v - a1 * u)));
    }
  }
}

/** b L', and the center of e. */
function wantedTurn(bodies: readonly Moving[], h: number, euler: boolean): { turn: Triple; E: Triple } {
  const b = euler ? h : 2 * h;
  const turn: Triple = [0, 0, 0];
  const mean = (of: (body: Moving) => Float64Array): Triple => centerOf(bodies, of);
  const X = mean(({ x }) => x);
  addTurn(
    turn,
    bodies,
    ({ x, v }) => [x, v],
    X,
    mean(({ v }) => v),
    euler ? b : (b * 4) / 3,
  );
  let E: Triple = euler ? X : [4 * X[0], 4 * X[1], 4 * X[2]];
  if (!euler) {
    const X1 = mean(({ x1 }) => x1);
    addTurn(
      turn,
      bodies,
      ({ x1, v1 }) => [x1, v1],
      X1,
      mean(({ v1 }) => v1),
      -b / 3,
    );
    E = [E[0] - X1[0], E[1] - X1[1], E[2] - X1[2]];
  }
  const push = mean((body) => body.a.map((a) => gainOf(body, h, euler) * a));
  return { turn, E: [E[0] + push[0], E[1] + push[1], E[2] + push[2]] };
}

/** b times the displacement by an acceleration in a step: m per m/s^2. */
const gainOf = ({ keep }: Moving, h: number, euler: boolean): number => keep * (euler ? h * h : (4 * h * h) / 3);

/** turn += factor keep sum m (x - center) x (rate - mean) */
function addTurn(
  turn: Triple,
  bodies: readonly Moving[],
  of: (body: Moving) => [Float64Array, Float64Array],
  center: Readonly<Triple>,
  mean: Readonly<Triple>,
  factor: number,
): void {
  for (const body of bodies) {
    const [x, rate] = of(body);
    const keep = factor * body.keep;
    for (let i = 0; i < body.mass.length; i++) {
      const m = keep * body.mass[i]!;
      const [a, b, c] = [x[3 * i]! - center[0], x[3 * i + 1]! - center[1], x[3 * i + 2]! - center[2]];
      const [u, v, w] = [rate[3 * i]! - mean[0], rate[3 * i + 1]! - mean[1], rate[3 * i + 2]! - mean[2]];
      turn[0] += m * (b * w - c * v);
      turn[1] += m * (c * u - a * w);
      turn[2] += m * (a * v - b * u);
    }
  }
}

function centerOf(bodies: readonly Moving[], of: (body: Moving) => Float64Array): Triple {
  let [total, a, b, c] = [0, 0, 0, 0];
  for (const body of bodies) {
    const x = of(body);
    body.mass.forEach((m, i) => {
      total += m;
      a += m * x[3 * i]!;
      b += m * x[3 * i + 1]!;
      c += m * x[3 * i + 2]!;
    });
  }
  return [a / total, b / total, c / total];
}
