/**
 * The loop over a body's particles: ../predict.ts and ../twin.ts in SIMD, with the same bits. For edges, the four lanes
 * are a particle's four neighbor slots; for displacements, they are x, y, z and a fourth value. Encoder and decoder are
 * one generic function (E: bool encodes, i32 decodes), so that all data of a particle stay in locals; with globals it
 * took 1.5 times as long.
 *
 * The encoder knows every displacement and codes x, y, z in parallel; the decoder's three symbols depend on each other.
 * To keep its critical path short, little of the prediction depends on the particle coded just before. Weights use only
 * the older neighbors (0.3 % more bytes), closeness uses the previous frame's edges (no cost), and one division serves
 * all three pivots.
 */
import {
  ACTIVITY_GATES,
  EDGE_WEIGHT_LIMIT,
  ESCAPE,
  FIRST_ACTIVITY,
  FIRST_SHIFTED_BIN,
  GATE_SHARE,
  RESIDUAL_LIMIT,
  ROUNDER,
  ROUNDER_BITS,
  STATE_FLOOR,
  STRETCH_LIMIT,
  STRETCH_OFFSET,
  STRETCH_SCALE,
  SYMBOLS,
  TABLE_BITS,
} from "./constants";
import { all, dot, excess, lanes3, sum1, sums } from "./lanes";
import {
  COORDINATES,
  EIGHTS,
  FOURS,
  GROWTHS,
  HALVES,
  INVERSES,
  LAST_BINS,
  MASKS,
  ONES,
  PARTICLE_BYTES,
  RANGES,
  RECORD_BYTES,
  RESIDUALS,
  ROUNDERS,
  SEVENS,
  SYMBOL_LIMITS,
  UNSHIFTED,
  coding,
  current,
  particles,
  previous,
  records,
  search,
} from "./map";
import { putComponent, symbolsEnd, setSymbolsEnd } from "./symbols";
import { FAULT_COORDINATE, fault, readEnd, readAt, readSlow, setFault, setReader, state } from "./reader";

const GATES_AT: usize = 16;
const COUNTS_AT: usize = 40;
const PARTICLE_AT: usize = 44;
const PLACED_AT: usize = 16;
const ACTIVITY_AT: usize = 32;
const STRETCH_AT: usize = 36;
const SLOT_MASK: u32 = (1 << TABLE_BITS) - 1;

/** The displacement of a gate's fourth corner for an ideal parallelogram: a + b - c. */
// @inline
function parallelogram(record: usize, at: usize): v128 {
  return f32x4.sub(
    f32x4.add(v128.load(<usize>load<u32>(record + at)), v128.load(<usize>load<u32>(record + at + 4))),
    v128.load(<usize>load<u32>(record + at + 8)),
  );
}

/**
 * The smaller of two numbers, neither NaN. WebAssembly's own min and max need several instructions for NaN and signed
 * zeros; the lanes' pmin and pmax need one.
 */
// @inline
function lesser(a: f32, b: f32): f32 {
  return f32x4.extract_lane(f32x4.pmin(f32x4.splat(a), f32x4.splat(b)), 0);
}

/**
 * The nearest integer to a number within +-2^22, ties to even: the low bits of its sum with ROUNDER. Other numbers give
 * a meaningless integer.
 */
// @inline
function nearest(center: f32): i32 {
  return reinterpret<i32>(center + ROUNDER) - ROUNDER_BITS;
}

/**
 * The last symbol of a context whose start is not above the slot. Lanes hold starts below 2^15, so signed comparison is
 * correct.
 */
// @inline
function symbolOf(context: i32, slot: u32): i32 {
  const table = search + 64 * <usize>context;
  const wanted = i16x8.splat(<i16>slot);
  const low = i8x16.narrow_i16x8_s(i16x8.gt_s(v128.load(table), wanted), i16x8.gt_s(v128.load(table, 16), wanted));
  const high = i8x16.narrow_i16x8_s(i16x8.gt_s(v128.load(table, 32), wanted), i16x8.gt_s(v128.load(table, 48), wanted));
  return SYMBOLS - 1 - popcnt<i32>(i8x16.bitmask(low) | (i8x16.bitmask(high) << 16));
}

/**
 * Codes the particles of ranks first .. end - 1.
 * @param keyframe no previous positions, no edge lengths to preserve
 * @returns the particle at which the decoder failed, or -1
 */
export function codeBody<E>(first: i32, end: i32, keyframe: bool): i32 {
  const start: usize = particles + PARTICLE_BYTES * <usize>first;
  const stop: usize = particles + PARTICLE_BYTES * <usize>end;
  let record = records + RECORD_BYTES * <usize>first;
  let out = symbolsEnd;
  let x: u32 = state;
  let from = readAt;
  const fromEnd = readEnd;
  for (let self = start; self < stop; self += PARTICLE_BYTES, record += RECORD_BYTES) {
    const v = <usize>load<u32>(record, PARTICLE_AT);
    const before = keyframe ? f32x4.splat(0) : v128.load(previous + v);
    const k = <usize>load<u16>(record, COUNTS_AT);
    let p = f32x4.splat(0);
    let act: f32 = FIRST_ACTIVITY;
    let stretch: f32 = 0;
    let pivots = v128.load(ONES);
    let variances = v128.load(ONES);
    // Eight times the predicted displacement: (aim - turnX y.x) - turnY y.y
    let aim = p;
    let turnX = p;
    let turnY = p;
    // Edges, for the stretch.
    let quiet = true;
    let inverseK: f32 = 0;
    let ex = p;
    let ey = p;
    let ez = p;
    let yx = p;
    let yy = p;
    let yz = p;
    let closeness = p;
    // Prediction: zero for the first particle, the neighbors' displacements for the others.
    if (k === 0) {
      if (self > start) {
        p = v128.load(self - PARTICLE_BYTES);
        act = load<f32>(self - PARTICLE_BYTES, ACTIVITY_AT);
      }
      aim = f32x4.mul(p, v128.load(EIGHTS));
    } else {
      const n0 = <usize>load<u32>(record);
      const n1 = <usize>load<u32>(record, 4);
      const n2 = <usize>load<u32>(record, 8);
      const n3 = <usize>load<u32>(record, 12);
      inverseK = load<f32>(INVERSES + 4 * k);
      const a0 = load<f32>(n0, ACTIVITY_AT);
      let older = load<f32>(n1, ACTIVITY_AT) + (load<f32>(n2, ACTIVITY_AT) + load<f32>(n3, ACTIVITY_AT));
      act = (a0 + older) * inverseK;
      // Excludes the newest neighbor, unless it is the only one.
      if (k > 1) {
        const inverseOlder = load<f32>(INVERSES - 4 + 4 * k);
        older *= inverseOlder;
        stretch = (load<f32>(n1, STRETCH_AT) + (load<f32>(n2, STRETCH_AT) + load<f32>(n3, STRETCH_AT))) * inverseOlder;
      } else {
        older = a0;
        stretch = load<f32>(n0, STRETCH_AT);
      }
      const a2 = older * older;
      const g = <usize>load<u16>(record, COUNTS_AT + 2);
      let alpha: f32 = keyframe ? 1 : (GATE_SHARE * a2) / (a2 + ACTIVITY_GATES);
      if (g === 0) alpha = 0;
      const m0 = v128.load(n0);
      const m1 = v128.load(n1);
      const m2 = v128.load(n2);
      const m3 = v128.load(n3);
      p = f32x4.add(
        f32x4.mul(f32x4.add(m0, f32x4.add(m1, f32x4.add(m2, m3))), f32x4.splat(inverseK * (1 - alpha))),
        f32x4.mul(
          f32x4.add(parallelogram(record, GATES_AT), parallelogram(record, GATES_AT + 12)),
          f32x4.splat(alpha * load<f32>(INVERSES + 4 * g)),
        ),
      );
      aim = f32x4.mul(p, v128.load(EIGHTS));
      // Preserving edge lengths: a quadratic form, solved one coordinate after the other.
      if (!keyframe && older !== 0) {
        quiet = false;
        const one = v128.load(ONES);
        const half = v128.load(HALVES);
        const o0 = v128.load(n0, PLACED_AT);
        const o1 = v128.load(n1, PLACED_AT);
        const o2 = v128.load(n2, PLACED_AT);
        const o3 = v128.load(n3, PLACED_AT);
        const o01l = v128.shuffle<f32>(o0, o1, 0, 4, 1, 5);
        const o01h = v128.shuffle<f32>(o0, o1, 2, 6, 3, 7);
        const o23l = v128.shuffle<f32>(o2, o3, 0, 4, 1, 5);
        const o23h = v128.shuffle<f32>(o2, o3, 2, 6, 3, 7);
        ex = f32x4.convert_i32x4_s(i32x4.sub(all(before, 0), v128.shuffle<i32>(o01l, o23l, 0, 1, 4, 5)));
        ey = f32x4.convert_i32x4_s(i32x4.sub(all(before, 1), v128.shuffle<i32>(o01l, o23l, 2, 3, 6, 7)));
        ez = f32x4.convert_i32x4_s(i32x4.sub(all(before, 2), v128.shuffle<i32>(o01h, o23h, 0, 1, 4, 5)));
        const m01l = v128.shuffle<f32>(m0, m1, 0, 4, 1, 5);
        const m01h = v128.shuffle<f32>(m0, m1, 2, 6, 3, 7);
        const m23l = v128.shuffle<f32>(m2, m3, 0, 4, 1, 5);
        const m23h = v128.shuffle<f32>(m2, m3, 2, 6, 3, 7);
        yx = v128.shuffle<f32>(m01l, m23l, 0, 1, 4, 5);
        yy = v128.shuffle<f32>(m01l, m23l, 2, 3, 6, 7);
        yz = v128.shuffle<f32>(m01h, m23h, 0, 1, 4, 5);
        // Absent slots: closeness 0, so that they add 0 to every sum.
        closeness = v128.and(f32x4.div(one, f32x4.add(dot(ex, ey, ez, ex, ey, ez), one)), v128.load(MASKS + 16 * k));
        const weights = f32x4.mul(
          f32x4.splat(lesser(EDGE_WEIGHT_LIMIT, a2 / (STRETCH_SCALE * stretch + STRETCH_OFFSET))),
          closeness,
        );
        const qx = f32x4.sub(all(p, 0), yx);
        const qy = f32x4.sub(all(p, 1), yy);
        const qz = f32x4.sub(all(p, 2), yz);
        const dx = f32x4.add(ex, qx);
        const dy = f32x4.add(ey, qy);
        const dz = f32x4.add(ez, qz);
        const s = excess(ex, ey, ez, qx, qy, qz, half);
        // Ignore an edge that is predicted to grow to more than twice its length; its square could dominate all others.
        const w = v128.and(weights, f32x4.le(f32x4.mul(dot(dx, dy, dz, dx, dy, dz), closeness), v128.load(GROWTHS)));
        const wx = f32x4.mul(w, dx);
        const wy = f32x4.mul(w, dy);
        const wz = f32x4.mul(w, dz);
        const sums1 = sums(f32x4.mul(wx, dx), f32x4.mul(wx, dy), f32x4.mul(wx, dz), f32x4.mul(wy, dy));
        const sums2 = sums(f32x4.mul(wy, dz), f32x4.mul(wz, dz), f32x4.mul(wx, s), f32x4.mul(wy, s));
        const nz = sum1(f32x4.mul(wz, s));
        const xx: f32 = 1 + f32x4.extract_lane(sums1, 0);
        const xy = f32x4.extract_lane(sums1, 1);
        const xz = f32x4.extract_lane(sums1, 2);
        const y2: f32 = 1 + f32x4.extract_lane(sums1, 3);
        const cross = f32x4.extract_lane(sums2, 0);
        const z2: f32 = 1 + f32x4.extract_lane(sums2, 1);
        const nx = f32x4.extract_lane(sums2, 2);
        const ny = f32x4.extract_lane(sums2, 3);
        const d2 = y2 * z2 - cross * cross;
        const c1 = xy * z2 - xz * cross;
        const c2 = xz * y2 - xy * cross;
        const d3 = xx * d2 - xy * c1 - xz * c2;
        const inverses = f32x4.div(one, lanes3(d3, d2, z2)); // 1/d3, 1/d2, 1/z2
        pivots = f32x4.mul(lanes3(d3, d2, z2), v128.shuffle<f32>(inverses, one, 1, 2, 4, 4));
        variances = f32x4.mul(lanes3(d2, z2, 1), inverses);
        turnX = f32x4.mul(lanes3(0, c1, xz), f32x4.mul(inverses, v128.load(EIGHTS)));
        turnY = f32x4.mul(lanes3(0, 0, cross), f32x4.mul(inverses, v128.load(EIGHTS)));
        const back = f32x4.mul(lanes3(nx * d2 - ny * c1 - nz * c2, ny * z2 - nz * cross, nz), inverses);
        aim = f32x4.mul(f32x4.sub(p, back), v128.load(EIGHTS));
        aim = f32x4.add(f32x4.add(aim, f32x4.mul(turnX, all(p, 0))), f32x4.mul(turnY, all(p, 1)));
      }
    }

    // Write or read symbols.
    const level = f32x4.add(f32x4.mul(f32x4.splat(act * act), variances), v128.load(ONES));
    const bins = i32x4.min_s(v128.load(LAST_BINS), i32x4.shr_s(i32x4.sub(level, v128.load(ONES)), 23));
    let rounded = f32x4.splat(0);
    if (isBoolean<E>()) {
      const y = i32x4.sub(v128.load(current + v), before);
      rounded = f32x4.convert_i32x4_s(y);
      v128.store(self, rounded);
      aim = f32x4.sub(f32x4.sub(aim, f32x4.mul(turnX, all(rounded, 0))), f32x4.mul(turnY, all(rounded, 1)));
      const place = i32x4.sub(f32x4.add(aim, v128.load(ROUNDERS)), v128.load(ROUNDERS));
      const symbol = i32x4.add(i32x4.sub(y, i32x4.shr_s(i32x4.add(place, v128.load(FOURS)), 3)), v128.load(RESIDUALS));
      const wild = v128.or(i32x4.gt_u(symbol, v128.load(SYMBOL_LIMITS)), i32x4.gt_s(bins, v128.load(UNSHIFTED)));
      const phase = v128.and(place, v128.load(SEVENS));
      if ((i32x4.bitmask(wild) & 7) === 0) {
        // Stores three symbols; the next store overwrites the fourth lane.
        v128.store(out, i32x4.add(i32x4.shl(v128.or(i32x4.shl(bins, 3), phase), 5), symbol));
        out += 12;
      } else {
        setSymbolsEnd(out);
        putComponent(i32x4.extract_lane(symbol, 0), i32x4.extract_lane(bins, 0), i32x4.extract_lane(phase, 0));
        putComponent(i32x4.extract_lane(symbol, 1), i32x4.extract_lane(bins, 1), i32x4.extract_lane(phase, 1));
        putComponent(i32x4.extract_lane(symbol, 2), i32x4.extract_lane(bins, 2), i32x4.extract_lane(phase, 2));
        out = symbolsEnd;
      }
    } else {
      const shifted = i32x4.gt_s(bins, v128.load(UNSHIFTED));
      const contexts = v128.bitselect(
        i32x4.add(v128.and(bins, i32x4.splat(1)), i32x4.splat(8 * FIRST_SHIFTED_BIN)),
        i32x4.shl(bins, 3),
        shifted,
      );
      const phases = v128.andnot(v128.load(SEVENS), shifted);
      let context: i32 = 0;
      let slot: u32 = 0;
      let symbol: i32 = 0;
      let interval: u32 = 0;
      let residual: i32 = 0;
      // x
      const centerX = f32x4.extract_lane(aim, 0);
      const placeX = nearest(centerX);
      const binX = i32x4.extract_lane(bins, 0);
      context = i32x4.extract_lane(contexts, 0) + (placeX & i32x4.extract_lane(phases, 0));
      slot = x & SLOT_MASK;
      symbol = symbolOf(context, slot);
      interval = load<u32>(coding + 16 * <usize>(context * SYMBOLS + symbol));
      x = (interval >>> 16) * (x >>> TABLE_BITS) + slot - (interval & 0xffff);
      if (x < STATE_FLOOR) {
        x = (x << 16) | <u32>load<u16>(from);
        from = min<usize>(from + 2, fromEnd);
      }
      residual = symbol - RESIDUAL_LIMIT;
      if (i32(symbol === ESCAPE) | i32(binX >= FIRST_SHIFTED_BIN)) {
        setReader(x, from);
        residual = readSlow(symbol, binX);
        x = state;
        from = readAt;
      }
      const yX = ((placeX + 4) >> 3) + residual;
      const movedX = <f32>yX;
      // y, given x
      const centerY = f32x4.extract_lane(aim, 1) - f32x4.extract_lane(turnX, 1) * movedX;
      const placeY = nearest(centerY);
      const binY = i32x4.extract_lane(bins, 1);
      context = i32x4.extract_lane(contexts, 1) + (placeY & i32x4.extract_lane(phases, 1));
      slot = x & SLOT_MASK;
      symbol = symbolOf(context, slot);
      interval = load<u32>(coding + 16 * <usize>(context * SYMBOLS + symbol));
      x = (interval >>> 16) * (x >>> TABLE_BITS) + slot - (interval & 0xffff);
      if (x < STATE_FLOOR) {
        x = (x << 16) | <u32>load<u16>(from);
        from = min<usize>(from + 2, fromEnd);
      }
      residual = symbol - RESIDUAL_LIMIT;
      if (i32(symbol === ESCAPE) | i32(binY >= FIRST_SHIFTED_BIN)) {
        setReader(x, from);
        residual = readSlow(symbol, binY);
        x = state;
        from = readAt;
      }
      const yY = ((placeY + 4) >> 3) + residual;
      const movedY = <f32>yY;
      // z, given x and y
      const centerZ =
        f32x4.extract_lane(aim, 2) - f32x4.extract_lane(turnX, 2) * movedX - f32x4.extract_lane(turnY, 2) * movedY;
      const placeZ = nearest(centerZ);
      const binZ = i32x4.extract_lane(bins, 2);
      context = i32x4.extract_lane(contexts, 2) + (placeZ & i32x4.extract_lane(phases, 2));
      slot = x & SLOT_MASK;
      symbol = symbolOf(context, slot);
      interval = load<u32>(coding + 16 * <usize>(context * SYMBOLS + symbol));
      x = (interval >>> 16) * (x >>> TABLE_BITS) + slot - (interval & 0xffff);
      if (x < STATE_FLOOR) {
        x = (x << 16) | <u32>load<u16>(from);
        from = min<usize>(from + 2, fromEnd);
      }
      residual = symbol - RESIDUAL_LIMIT;
      if (i32(symbol === ESCAPE) | i32(binZ >= FIRST_SHIFTED_BIN)) {
        setReader(x, from);
        residual = readSlow(symbol, binZ);
        x = state;
        from = readAt;
      }
      const yZ = ((placeZ + 4) >> 3) + residual;
      const movedZ = <f32>yZ;
      // Store this first, because the next particle depends on it.
      rounded = lanes3(movedX, movedY, movedZ);
      v128.store(self, rounded);
      const now = i32x4.add(before, i32x4.replace_lane(i32x4.replace_lane(i32x4.splat(yZ), 0, yX), 1, yY));
      if ((i32x4.bitmask(i32x4.gt_u(i32x4.add(now, v128.load(COORDINATES)), v128.load(RANGES))) & 7) !== 0)
        setFault(FAULT_COORDINATE);
      if (fault !== 0) return <i32>(v / 12);
      v128.store64_lane(current + v, now, 0);
      v128.store32_lane(current + v, now, 2, 8);
      aim = lanes3(centerX, centerY, centerZ);
    }
    // Values that later particles use.
    v128.store(self, before, PLACED_AT);
    const size = f32x4.mul(f32x4.abs(f32x4.sub(f32x4.mul(rounded, v128.load(EIGHTS)), aim)), f32x4.sqrt(pivots));
    store<f32>(
      self,
      f32x4.extract_lane(size, 0) + f32x4.extract_lane(size, 1) + f32x4.extract_lane(size, 2),
      ACTIVITY_AT,
    );
    if (!quiet) {
      const s = excess(
        ex,
        ey,
        ez,
        f32x4.sub(all(rounded, 0), yx),
        f32x4.sub(all(rounded, 1), yy),
        f32x4.sub(all(rounded, 2), yz),
        v128.load(HALVES),
      );
      stretch = lesser(STRETCH_LIMIT, sum1(f32x4.mul(f32x4.mul(s, closeness), s)) * inverseK);
    }
    store<f32>(self, stretch, STRETCH_AT);
  }
  if (isBoolean<E>()) setSymbolsEnd(out);
  else setReader(x, from);
  return -1;
}
