/**
 * Jacobi sweeps and Chebyshev's acceleration, for every kind of constraint, without changes in its solver (Rodero Gomez
 * 2016, sections 3.4 and 4.3; Macklin et al. 2014; Wang 2015). One iteration k of a body:
 *
 *   begin     kept = x_k, sum = 0, inverse masses n w
 *   per color the constraints, as usual; then collect: sum += x - kept, x = kept (every constraint sees x_k)
 *   end       x = x_k + sum/n, then Chebyshev: x_(k+1) = omega (x - x_(k-1)) + x_(k-1); inverse masses w
 *   memory    the same combination of the constraints' stored values (multipliers, and corrections applied)
 *
 * n is the number of constraints on a particle over the relaxation r, so x_k + sum/n is the average of the corrections
 * times r. Constraints see n w because of mass splitting (Tonge et al. 2012): each acts on a share of 1/n of the
 * particle's mass, and
 *   sum/n = 1/n sum_C (n w) grad C dL_C = w sum_C grad C dL_C
 * So the stored multiplier, L += dL, is what was applied: x = xTilde + sum w gradC^T L holds at every iteration, the
 * fixed point is implicit Euler, and every constraint conserves momentum. Averaging corrections found with the whole
 * mass does neither: L would be n/r times too large. The matrix of the split system exceeds the true one
 * (Cauchy-Schwarz: |sum of n vectors|^2 <= n sum of squares), so on linear constraints the iteration converges for any
 * 0 < r < 2, with error factors between 1 - r and 1.
 *
 * Chebyshev's combination is linear in x and L, so it preserves that relation if both take part. An outside correction
 * between two iterations (a grab, a contact) belongs to no multiplier here: `begin` shifts x_(k-1) by it, so it is not
 * amplified. A lane without stored values (an inverted element starts anew) stays without.
 */
import * as L from "../layout/layout";
import { lowFrom } from "../math/places";

/**
 * Begins an iteration of particles begin .. end of the phase's run. FIRST the run's first particle; KEPT, OLDER arrays;
 * SUM array with n in the fourth lane, 0: colors see each other.
 */
export function sweepBegin(phase: usize, begin: i32, end: i32): void {
  const from = (<usize>(load<i32>(phase, L.PHASE_FIRST) + begin)) << 4;
  const first = load<i32>(phase, L.PHASE_PASS) & L.PASS_FIRST;
  const sums = <usize>load<u32>(phase, L.PHASE_SUM);
  const toLow = lowFrom();
  let x = <usize>load<u32>(L.HEADER, L.H_X) + from;
  let kept = <usize>load<u32>(phase, L.PHASE_KEPT) + from;
  let older = <usize>load<u32>(phase, L.PHASE_OLDER) + from;
  let sum = sums + from;
  for (let i = begin; i < end; i++, x += 16, kept += 16, older += 16, sum += 16) {
    if (first) v128.store(older, f32x4.splat(0));
    v128.store(kept, v128.load(x + toLow));
    if (!sums) continue;
    const n = load<f32>(sum, 12);
    const w = load<f32>(x, 12);
    v128.store(sum, f32x4.replace_lane(f32x4.splat(0), 3, n));
    store<f32>(older, w, 12);
    store<f32>(x, n * w, 12);
  }
}

/**
 * Collects the corrections of a color's blocks begin .. end. FIRST bytes of a block, CORNERS particles of a constraint;
 * KEPT, SUM arrays.
 */
export function sweepCollect(phase: usize, begin: i32, end: i32): void {
  const bytes = <usize>load<i32>(phase, L.PHASE_FIRST);
  const lanes = load<i32>(phase, L.PHASE_CORNERS) << 2;
  const x0 = <usize>load<u32>(L.HEADER, L.H_X);
  const toKept = <usize>load<u32>(phase, L.PHASE_KEPT) - x0;
  const toSum = <usize>load<u32>(phase, L.PHASE_SUM) - x0;
  const toLow = lowFrom();
  let block = <usize>load<u32>(phase, L.PHASE_DATA) + <usize>begin * bytes;
  for (let n = begin; n < end; n++, block += bytes) {
    for (let lane = 0; lane < lanes; lane++) {
      const x = <usize>load<u32>(block + (lane << 2));
      const before = v128.load(x + toKept);
      // fourth lanes are 0, so n stays
      v128.store(x + toSum, f32x4.add(v128.load(x + toSum), f32x4.sub(v128.load(x + toLow), before)));
      v128.store(x + toLow, before);
    }
  }
}

/** Ends an iteration of particles begin .. end of the phase's run, as in `sweepBegin`; OMEGA. */
export function sweepEnd(phase: usize, begin: i32, end: i32): void {
  const from = (<usize>(load<i32>(phase, L.PHASE_FIRST) + begin)) << 4;
  const sums = <usize>load<u32>(phase, L.PHASE_SUM);
  const omega = load<f32>(phase, L.PHASE_OMEGA);
  const factor = f32x4.splat(omega);
  const toLow = lowFrom();
  let x = <usize>load<u32>(L.HEADER, L.H_X) + from;
  let kept = <usize>load<u32>(phase, L.PHASE_KEPT) + from;
  let older = <usize>load<u32>(phase, L.PHASE_OLDER) + from;
  let sum = sums + from;
  for (let i = begin; i < end; i++, x += 16, kept += 16, older += 16, sum += 16) {
    const now = v128.load(kept);
    const way = v128.load(older);
    const before = f32x4.replace_lane(f32x4.add(now, way), 3, 0);
    let there = v128.load(x + toLow);
    if (sums) {
      const s = v128.load(sum);
      there = f32x4.add(now, f32x4.mul(s, f32x4.splat(1 / f32x4.extract_lane(s, 3))));
      there = f32x4.replace_lane(there, 3, 0);
      store<f32>(x, f32x4.extract_lane(way, 3), 12);
    }
    if (omega !== 1) there = f32x4.add(before, f32x4.mul(factor, f32x4.sub(there, before)));
    v128.store(x + toLow, there);
    v128.store(older, f32x4.sub(now, there));
  }
}

/**
 * Combines stored values of blocks begin .. end. DATA the first stored row, FIRST bytes of a block, CORNERS rows that
 * it stores; KEPT, OLDER copies of those rows; OMEGA; MEMORY rows at the start of the substep (warmStart.ts), in the
 * same order. The last iteration's rows are only needed while stress is remembered.
 */
export function sweepMemory(phase: usize, begin: i32, end: i32): void {
  const bytes = <usize>load<i32>(phase, L.PHASE_FIRST);
  const rows = load<i32>(phase, L.PHASE_CORNERS);
  const pass = load<i32>(phase, L.PHASE_PASS);
  const first = pass & L.PASS_FIRST;
  if (pass & L.PASS_LAST && !load<i32>(L.HEADER, L.H_WARM_START)) return;
  const start = load<i32>(L.HEADER, L.H_WARM_STARTED) ? <usize>load<u32>(phase, L.PHASE_WARM_START) : 0;
  const factor = f32x4.splat(load<f32>(phase, L.PHASE_OMEGA));
  const zero = f32x4.splat(0);
  const from = (<usize>(begin * rows)) << 4;
  let block = <usize>load<u32>(phase, L.PHASE_DATA) + <usize>begin * bytes;
  let kept = <usize>load<u32>(phase, L.PHASE_KEPT) + from;
  let older = <usize>load<u32>(phase, L.PHASE_OLDER) + from;
  for (let n = begin; n < end; n++, block += bytes) {
    let alive = zero;
    for (let row = 0; row < rows; row++) alive = v128.or(alive, f32x4.ne(v128.load(block + (row << 4)), zero));
    for (let row = 0; row < rows; row++, kept += 16, older += 16) {
      const at = block + (row << 4);
      const found = v128.load(at);
      if (first) {
        v128.store(older, start ? v128.load(start + <usize>n * L.WARM_START_BYTES + (row << 4)) : zero);
        v128.store(kept, found);
        continue;
      }
      const before = v128.load(older);
      const next = v128.and(alive, f32x4.add(before, f32x4.mul(factor, f32x4.sub(found, before))));
      v128.store(older, v128.load(kept));
      v128.store(kept, next);
      v128.store(at, next);
    }
  }
}
