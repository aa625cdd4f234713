/**
 * Integration of a range of particles: prediction (symplectic Euler) and the velocity update (Bender et al. 2014,
 * Algorithm 1, lines 1-2, 10 and 12). A fixed particle has w = 0 and does not move.
 *
 * Positions use compensated summation (Kahan 1965). Float32 has steps of 0.03 mm at 300 m, more than gravity moves a
 * body from rest in ten substeps; at 1 m still more than 1/10,000 s at 1 mm/s. So the rounding error of x is kept in a
 * low word, which the next substep adds to the displacement:
 *   t = low + h v,  x' = x + t,  low' = t - (x' - x)                 exact if |x| > |t|
 * The velocity is computed from the true displacement, (x - xPrev) + (low' - low), not from the rounded one. Velocities
 * have low words too: at 20 m/s, 1/10,000 s of gravity adds 500 steps of float32, always rounded alike. All other code
 * reads x and v alone, which are within half a step of the true values.
 */
import * as L from "../layout/layout";

/**
 * v += h a; xPrev = x; x += h v, and the displacement of remembered stress (warmStart.ts).
 * @param begin, end particle numbers; h s
 */
export function predict(begin: i32, end: i32, h: f32): void {
  const from = (<usize>begin) << 4;
  let x = <usize>load<u32>(L.HEADER, L.H_X) + from;
  let xPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) + from;
  let v = <usize>load<u32>(L.HEADER, L.H_V) + from;
  let acc = <usize>load<u32>(L.HEADER, L.H_ACC) + from;
  const hh = f32x4.splat(h);
  const zero = f32x4.splat(0);
  const supported = load<i32>(L.HEADER, L.H_WARM_STARTED);
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const support = <usize>load<u32>(L.HEADER, L.H_SUPPORT) - X;
  const low = <usize>load<u32>(L.HEADER, L.H_LOW);
  const lowSpeed = <usize>load<u32>(L.HEADER, L.H_LOW_SPEED);
  const rounding = <usize>load<u32>(L.HEADER, L.H_ROUNDING);
  const place = i32x4(-1, -1, -1, 0);
  for (let i = begin; i < end; i++, x += 16, xPrev += 16, v += 16, acc += 16) {
    const here = v128.load(x);
    const old = v128.load(v);
    const free = f32x4.gt(v128.shuffle<f32>(here, here, 3, 3, 3, 3), zero);
    let gain = f32x4.mul(hh, v128.load(acc));
    if (low) gain = f32x4.add(gain, v128.load(lowSpeed + (x - X)));
    const faster = v128.and(f32x4.add(old, gain), free);
    v128.store(v, f32x4.replace_lane(faster, 3, f32x4.extract_lane(old, 3)));
    v128.store(xPrev, f32x4.replace_lane(here, 3, load<f32>(xPrev, 12)));
    let way = f32x4.mul(hh, faster);
    if (supported) way = f32x4.add(way, v128.load(x + support));
    if (low) {
      const slow = v128.and(f32x4.sub(gain, f32x4.sub(faster, old)), v128.and(place, free));
      v128.store(lowSpeed + (x - X), slow);
      way = f32x4.add(way, f32x4.mul(hh, slow));
      const at = low + (x - X);
      const before = v128.load(at);
      way = f32x4.add(way, before);
      const left = v128.and(f32x4.sub(way, f32x4.sub(f32x4.add(here, way), here)), place);
      v128.store(at, left);
      v128.store(rounding + (x - X), f32x4.sub(left, before));
    }
    v128.store(x, f32x4.replace_lane(f32x4.add(here, way), 3, f32x4.extract_lane(here, 3)));
  }
}

/** v = (x - xPrev + rounding)/h / (1 + h damping): the implicit form of dv/dt = -damping v, stable for any damping. */
export function updateVelocity(begin: i32, end: i32, h: f32): void {
  const from = (<usize>begin) << 4;
  let x = <usize>load<u32>(L.HEADER, L.H_X) + from;
  let xPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) + from;
  let v = <usize>load<u32>(L.HEADER, L.H_V) + from;
  const rounding = <usize>load<u32>(L.HEADER, L.H_ROUNDING);
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toRounding = rounding - X;
  const toSpeed = <usize>load<u32>(L.HEADER, L.H_LOW_SPEED) - X;
  const hh = f32x4.splat(h);
  const inverseH = f32x4.splat(1 / h);
  for (let i = begin; i < end; i++, x += 16, xPrev += 16, v += 16) {
    const damping = load<f32>(v, 12);
    const way = f32x4.sub(v128.load(x), v128.load(xPrev));
    if (!rounding) {
      const scale = f32x4.splat(1 / (h * (1 + h * damping)));
      v128.store(v, f32x4.replace_lane(f32x4.mul(scale, way), 3, damping));
      continue;
    }
    // change since the prediction: if there is none, the velocity keeps all its bits
    const predicted = v128.load(v);
    const slow = v128.load(x + toSpeed);
    const solved = f32x4.sub(
      f32x4.add(way, v128.load(x + toRounding)),
      f32x4.add(f32x4.mul(hh, predicted), f32x4.mul(hh, slow)),
    );
    const sum = f32x4.add(predicted, f32x4.mul(inverseH, solved));
    v128.store(v, f32x4.replace_lane(f32x4.mul(f32x4.splat(1 / (1 + h * damping)), sum), 3, damping));
  }
}
