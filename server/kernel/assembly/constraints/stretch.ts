/** Stretch of a body's edges, which limits the force of grabs. */
import { add, mul, sub, xs, ys, zs } from "../math/lanes";

/** Returns the squared distance of two points of three float32 each. */
function squareBetween(a: usize, b: usize): f32 {
  const x = load<f32>(a) - load<f32>(b);
  const y = load<f32>(a, 4) - load<f32>(b, 4);
  const z = load<f32>(a, 8) - load<f32>(b, 8);
  return x * x + y * y + z * z;
}

/**
 * Returns the largest length of an edge over its rest length.
 * @param elements uint32[corners * count], triangles or tetrahedra by their corners' numbers in the body
 * @param every only every `every`-th element is measured, in meshes so fine that neighbors are stretched alike
 * @param rest float32[3*N] m, the undeformed body
 * @param x address of its first particle
 */
export function worstStretch(elements: usize, count: i32, corners: i32, every: i32, rest: usize, x: usize): f32 {
  const end = elements + ((<usize>count * <usize>corners) << 2);
  const stride = (<usize>(corners * every)) << 2;
  if (corners === 3) return worstOfTriangles(elements, end, stride, rest, x);
  let worst: f32 = 0;
  for (; elements < end; elements += stride) {
    for (let i = 1; i < corners; i++) {
      const a = <usize>load<u32>(elements + ((<usize>i) << 2));
      for (let j = 0; j < i; j++) {
        const b = <usize>load<u32>(elements + ((<usize>j) << 2));
        const now = squareBetween(x + (a << 4), x + (b << 4));
        worst = max(worst, now / squareBetween(rest + 12 * a, rest + 12 * b));
      }
    }
  }
  return Mathf.sqrt(worst);
}

function worstOfTriangles(from: usize, end: usize, stride: usize, rest: usize, x: usize): f32 {
  let worst = f32x4.splat(0);
  for (let at = from; at < end; at += stride) {
    const a = <usize>load<u32>(at);
    const b = <usize>load<u32>(at, 4);
    const c = <usize>load<u32>(at, 8);
    const now = squaresBetween(x + (a << 4), x + (b << 4), x + (c << 4));
    // max waits for eight instructions of the triangle before
    worst = f32x4.pmax(worst, f32x4.div(now, squaresBetween(rest + 12 * a, rest + 12 * b, rest + 12 * c)));
  }
  return Mathf.sqrt(
    max<f32>(f32x4.extract_lane(worst, 0), max<f32>(f32x4.extract_lane(worst, 1), f32x4.extract_lane(worst, 2))),
  );
}

/** Squared distances of three points in three lanes; the fourth has no meaning. A point may be followed by anything. */
// @inline
function squaresBetween(a: usize, b: usize, c: usize): v128 {
  const p = v128.load(a);
  const q = v128.load(b);
  const r = v128.load(c);
  const pq = sub(q, p);
  const pr = sub(r, p);
  const qr = sub(r, q);
  const dx = xs(pq, pr, qr, qr);
  const dy = ys(pq, pr, qr, qr);
  const dz = zs(pq, pr, qr, qr);
  return add(add(mul(dx, dx), mul(dy, dy)), mul(dz, dz));
}
