/**
 * What happens to every particle of a range: prediction (symplectic Euler) and the velocity update (Bender et al. 2014,
 * Algorithm 1, lines 1-2, 10 and 12). A fixed particle has w = 0 and does not move.
 */
import { HEADER, H_X, H_XPREV, H_V, H_ACC, H_WARM_STARTED, H_SUPPORT } from "../layout/layout";

/**
 * v += h a; xPrev = x; x += h v, and what remembered stress adds (warmStart.ts).
 * @param begin, end particle numbers; h s
 */
export function predict(begin: i32, end: i32, h: f32): void {
  const from = (<usize>begin) << 4;
  let x = <usize>load<u32>(HEADER, H_X) + from;
  let xPrev = <usize>load<u32>(HEADER, H_XPREV) + from;
  let v = <usize>load<u32>(HEADER, H_V) + from;
  let acc = <usize>load<u32>(HEADER, H_ACC) + from;
  const hh = f32x4.splat(h);
  const zero = f32x4.splat(0);
  const supported = load<i32>(HEADER, H_WARM_STARTED);
  const support = <usize>load<u32>(HEADER, H_SUPPORT) - <usize>load<u32>(HEADER, H_X);
  for (let i = begin; i < end; i++, x += 16, xPrev += 16, v += 16, acc += 16) {
    const here = v128.load(x);
    const old = v128.load(v);
    const free = f32x4.gt(v128.shuffle<f32>(here, here, 3, 3, 3, 3), zero);
    const faster = v128.and(f32x4.add(old, f32x4.mul(hh, v128.load(acc))), free);
    v128.store(v, f32x4.replace_lane(faster, 3, f32x4.extract_lane(old, 3)));
    v128.store(xPrev, f32x4.replace_lane(here, 3, load<f32>(xPrev, 12)));
    let there = f32x4.add(here, f32x4.mul(hh, faster));
    if (supported) there = f32x4.add(there, v128.load(x + support));
    v128.store(x, f32x4.replace_lane(there, 3, f32x4.extract_lane(here, 3)));
  }
}

/** v = (x - xPrev)/h / (1 + h damping): the implicit form of dv/dt = -damping v, stable for any damping. */
export function updateVelocity(begin: i32, end: i32, h: f32): void {
  const from = (<usize>begin) << 4;
  let x = <usize>load<u32>(HEADER, H_X) + from;
  let xPrev = <usize>load<u32>(HEADER, H_XPREV) + from;
  let v = <usize>load<u32>(HEADER, H_V) + from;
  for (let i = begin; i < end; i++, x += 16, xPrev += 16, v += 16) {
    const damping = load<f32>(v, 12);
    const scale = f32x4.splat(1 / (h * (1 + h * damping)));
    v128.store(v, f32x4.replace_lane(f32x4.mul(scale, f32x4.sub(v128.load(x), v128.load(xPrev))), 3, damping));
  }
}
