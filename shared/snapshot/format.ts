/**
 * The snapshot format, version 2: what every byte of a frame means, and every number that both ends must share.
 *
 * A stranger can write a decoder from this file and the rows of tables.ts alone; PROTOCOL.md repeats both.
 *
 * 0. Arithmetic. All of it is either on 32 bit integers, which wrap around, or IEEE 754 binary32 with + - * / sqrt and
 *    the minimum of two, each rounded on its own to nearest, halves to even (no fused multiply-add, no wider
 *    intermediate results), in the order written, so every machine gets the same bits. f(i) is the integer i rounded to
 *    binary32; of a vector, component by component. a . b is (ax * bx + ay * by) + az * bz.
 *
 * 1. Frame. A room streams `total` particles; body after body, each with `count` particles and a triangle list over
 *    them. A frame is one int32 triple per particle, the position on a grid of `quantum` metres, within +-(2^28 - 1).
 *
 * 2. Bytes.
 *      offset 0   uint8    0x21 keyframe, 0x22 delta (high four bits: format version, low four bits: kind)
 *      offset 1   uint16   checksum of the decoded frame, little-endian (section 8)
 *      offset 3   uint32   the coder's first state, little-endian
 *      offset 7   uint16   words, little-endian, to the end
 *    A keyframe is coded exactly like a delta against a frame of zeros, with two differences that section 6 names. A
 *    delta needs the frame before it and nothing else: no table, weight or history outlives a frame.
 *
 * 3. Coder (rANS: Duda 2009, arXiv 0902.0271). Its state is a uint32. To decode one of several symbols whose
 *    frequencies add up to 2^14, with `start` the sum of the frequencies before a symbol's own:
 *      slot = state mod 2^14;  the symbol is the one with start <= slot < start + frequency
 *      state = frequency * floor(state / 2^14) + slot - start
 *      if state < 2^15:  state = state * 2^16 + next word
 *    A raw value of n bits (1 to 14) is one of 2^n symbols of equal frequency. After the last symbol of a frame the
 *    state must be 2^15 and no word must be left. (Past the end a decoder may read zeros; then that does not hold.)
 *
 * 4. Contexts. Every symbol is decoded with the fixed frequencies of a context. A residual's context has 32 symbols:
 *    -15 to 15, and escape. It is (bin, phase) with bin 0 to 13 and phase 0 to 7, or, for bins from 14 on, even or
 *    odd. The table below has five rows for each bin, phases 0 to 4, bin after bin, then one for even bins and one for
 *    odd bins from 14 on. "first: frequencies | escape" lists the frequencies of the residuals from `first` on in
 *    ascending order, then that of the escape; every residual that is not listed has 1. The symbols' order is -15,
 *    ..., 15, escape. Phases 5, 6 and 7 use the rows of phases 3, 2 and 1 with the frequencies of r and -r exchanged
 *    (then in the same order of symbols).
 *
 * 5. Bodies, in their order: one symbol of two, "as the body before" with frequency 14336 (it comes first), "not so"
 *    with 2048. A body is either unchanged: every particle is where it was in the previous frame (in a keyframe: at 0
 *    0 0); or changed: its particles follow, in the order of its traversal. The body before the first counts as
 *    unchanged.
 *    Traversal and neighbors depend on the triangles only. Two particles that share a triangle are neighbors; repeated
 *    indices in a triangle are no neighbors.
 *      a. Next comes the particle not yet visited that has the most visited neighbors (15 or more count as 15). Among
 *         equals: the one whose (clipped) number of visited neighbors changed last, where a visit changes its
 *         neighbors in ascending particle number. If none has a visited neighbor: the lowest-numbered one.
 *      b. N(v): its visited neighbors, the last visited first, at most 4: u0 .. u(k-1).
 *      c. G(v), at most 2 triples (a, b, c): go through the triangles in list order; one that consists of v and two
 *         other visited particles a, b is a gate; for each gate go through the triangles on edge a b in list order;
 *         each whose third particle c is visited and is not v gives a triple. (The same triple can occur twice.)
 *
 * 6. One particle v. prev: its previous position (int32); y: its displacement since then, which is to be decoded
 *    (int32); Y = f(y). Of a particle that came before it in this frame one needs prev, Y, its activity A and its
 *    stretch T. r(k) is 1/k rounded; sums over u0 .. u3 take 0 where there is no such neighbor (k < 4); S(x) = (x0 +
 *    x1) + (x2 + x3).
 *      If k = 0: p = Y[w], act = A[w] of the particle w visited just before it in this body; for the first particle of
 *        a body p = (0, 0, 0),
 *        act = FIRST_ACTIVITY. T[v] = 0. The particle is quiet.
 *      Else:
 *        act = (A0 + (A1 + (A2 + A3))) * r(k)
 *        if k = 1: old = A0, t = T0; else old = (A1 + (A2 + A3)) * r(k - 1), t = (T1 + (T2 + T3)) * r(k - 1)
 *        a2 = old * old
 *        alpha = (GATE_SHARE * a2) / (a2 + ACTIVITY_GATES)      in a keyframe alpha = 1; if G is empty alpha = 0
 *        p = (Y0 + (Y1 + (Y2 + Y3))) * (r(k) * (1 - alpha)) + (g0 + g1) * (alpha * r(|G|))      by component; r(0) = 0
 *          with g = (Y[a] + Y[b]) - Y[c] for each triple of G, 0 for one that is missing
 *        The particle is quiet if old = 0, or in a keyframe.
 *      Quiet: T[v] = t, vx = vy = vz = 1, rx = ry = rz = 1, ax = 8 * p.x, ay = 8 * p.y, az = 8 * p.z, yx = zx = zy =
 *        0.
 *      Not quiet: the motion is expected to keep the lengths of the edges to N. For each u of N, with all products of
 *      two vectors as (x + y) + z:
 *          e = f(prev - prev[u]);  close = 1 / (e . e + 1);  q = p - Y[u];  d = e + q;  s = q . (e + q * 0.5)
 *          w = min(EDGE_WEIGHT_LIMIT, a2 / (STRETCH_SCALE * t + STRETCH_OFFSET)) * close, but 0 if (d . d) * close >
 *            GROWTH_LIMIT
 *          wx = w * d.x;  wy = w * d.y;  wz = w * d.z
 *        XX = 1 + S(wx * d.x);  XY = S(wx * d.y);  XZ = S(wx * d.z);  YY = 1 + S(wy * d.y);  YZ = S(wy * d.z);  ZZ = 1
 *          + S(wz * d.z)
 *        NX = S(wx * s);  NY = S(wy * s);  NZ = S(wz * s)
 *        D2 = YY * ZZ - YZ * YZ;  C1 = XY * ZZ - XZ * YZ;  C2 = XZ * YY - XY * YZ;  D3 = (XX * D2 - XY * C1) - XZ * C2
 *        i3 = 1 / D3;  i2 = 1 / D2;  i1 = 1 / ZZ
 *        vx = D2 * i3;  vy = ZZ * i2;  vz = i1;  rx = sqrt(D3 * i2);  ry = sqrt(D2 * i1);  rz = sqrt(ZZ)
 *        yx = 8 * (C1 * i2);  zx = 8 * (XZ * i1);  zy = 8 * (YZ * i1)
 *        ax = 8 * (p.x - ((NX * D2 - NY * C1) - NZ * C2) * i3)
 *        ay = 8 * (p.y - (NY * ZZ - NZ * YZ) * i2) + yx * p.x
 *        az = (8 * (p.z - NZ * i1) + zx * p.x) + zy * p.y
 *      Then the components in the order x, y, z, with eight times the expected displacement
 *          cx = ax;   cy = ay - yx * Y.x;   cz = (az - zx * Y.x) - zy * Y.y
 *      each by section 7. Afterwards
 *          A[v] = (|8 * Y.x - cx| * rx + |8 * Y.y - cy| * ry) + |8 * Y.z - cz| * rz
 *          if not quiet: T[v] = min(2^60, S((s * close) * s) * r(k)) with s as above of q = Y - Y[u], and e and close
 *            as before
 *      The new position is prev + y; it must be within +-(2^28 - 1).
 *
 * 7. One component, with c and v of its own (cx and vx, ...). bits() is a binary32 as an int32; >> keeps the sign.
 *      place = bits(c + 12582912) - bits(12582912)      (for |c| < 2^22 that is c rounded to an integer, halves to
 *        even)
 *      bin = min(LAST_BIN, (bits((act * act) * v + 1) - bits(1)) >> 23);  phase = place mod 8, from 0 to 7
 *      shift = 0 for bin < 14, else floor((bin - 12) / 2)
 *      high: a symbol of the context (bin, phase). If it is escape: a raw value h of 6 bits, n = floor(h / 2), 5 <= n
 *        <= 31; then the low n - 1 bits of |high|, whose bit n - 1 is 1, as raw values of 14 bits each (the last one
 *        of what is left), low bits first; high < 0 if h is odd
 *      low: a raw value of `shift` bits, 0 if shift is 0
 *      y = ((place + 4) >> 3) + high * 2^shift + low
 *
 * 8. Checksum. A frame's x coordinates, y coordinates and z coordinates each give a number: h = 1, 2, 3 at first; for
 *    every one in particle order h = ((h xor v) * 0x9E3779B1) mod 2^32, then h = h xor (h >> 15) (unsigned). With h1,
 *    h2, h3 of x, y, z: h = h1 xor (h2 * 0x85EBCA6B mod 2^32) xor (h3 * 0xC2B2AE35 mod 2^32); the checksum is (h xor
 *    (h >> 16)) mod 2^16. It tells a client that lost the chain to ask for a keyframe.
 */

export const KIND_KEYFRAME = 0x21;
export const KIND_DELTA = 0x22;
export const HEADER_BYTES = 3;
/** Bytes of a frame that the state takes before the first word. */
export const STATE_BYTES = 4;

/** Grid units. Displacements then stay below 2^29 and fit an int32 with any prediction. At 0.5 mm this is 134 km. */
export const COORDINATE_LIMIT = 2 ** 28 - 1;

/** A symbol's frequencies add up to 2^TABLE_BITS. */
export const TABLE_BITS = 14;
/** The coder's state never ends a step below this. */
export const STATE_FLOOR = 2 ** 15;

/** Assumed activity before a body's first particle, eighths: neither still nor wild. */
export const FIRST_ACTIVITY = 64;
/**
 * Share of the parallelograms where the neighborhood is wild, and the squared activity at which they have half of it.
 */
export const GATE_SHARE = Math.fround(0.8);
export const ACTIVITY_GATES = 1152;
/** Most that a kept edge weighs against the guess. */
export const EDGE_WEIGHT_LIMIT = 32;
/**
 * An edge whose squared length is expected to grow by more than this says nothing: its square could swallow all others.
 */
export const GROWTH_LIMIT = 4;
/** How fast a neighborhood that stretches loses the weight of its edges. */
export const STRETCH_SCALE = 576;
export const STRETCH_OFFSET = 58;
/** Keeps the square of a torn edge finite. */
export const STRETCH_LIMIT = 2 ** 60;

/** From this bin on (a level of some 130 eighths) the low bits of a residual are sent as they are. */
export const FIRST_SHIFTED_BIN = 14;
export const LAST_BIN = 40;

/** Residuals from -RESIDUAL_LIMIT to RESIDUAL_LIMIT are symbols, all others follow an escape. */
export const RESIDUAL_LIMIT = 15;
export const ESCAPE = 2 * RESIDUAL_LIMIT + 1;

/** Any fault of bytes or arguments in this folder; `message` names field, value and limit. */
export class SnapshotError extends Error {
  override name = "SnapshotError";
}

export const beyondLimit = (frame: Int32Array, i: number): SnapshotError =>
  new SnapshotError(`current[${i}] is ${frame[i]}, must be within +-${COORDINATE_LIMIT}`);

/** Section 8. */
export function frameChecksum(frame: Int32Array): number {
  let a = 1;
  let b = 2;
  let c = 3;
  for (let i = 0; i < frame.length; i += 3) {
    a = Math.imul(a ^ frame[i]!, 0x9e3779b1);
    b = Math.imul(b ^ frame[i + 1]!, 0x9e3779b1);
    c = Math.imul(c ^ frame[i + 2]!, 0x9e3779b1);
    a ^= a >>> 15;
    b ^= b >>> 15;
    c ^= c >>> 15;
  }
  const h = a ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35);
  return (h ^ (h >>> 16)) & 0xffff;
}
