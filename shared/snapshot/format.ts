/**
 * The snapshot format, version 2: the meaning of every byte of a frame, and every number that both ends must share.
 *
 * This comment and the rows of tables.ts are sufficient to write a decoder; PROTOCOL.md repeats both.
 *
 * 0. Arithmetic. All operations are either on 32 bit integers, which wrap around, or on IEEE 754 binary32: + - * /
 *    sqrt and the minimum of two. Each operation is rounded to nearest, ties to even (no fused multiply-add, no wider
 *    intermediate results), in the order written, so every machine gets the same bits. f(i) is the integer i rounded to
 *    binary32; for a vector, component by component. a . b is (ax * bx + ay * by) + az * bz.
 *
 * 1. Frame. A room streams `total` particles, body after body; each body has `count` particles and a triangle list
 *    over them. A frame is one int32 triple per particle, the position on a grid of `quantum` metres, within
 *    +-(2^28 - 1).
 *
 * 2. Bytes.
 *      offset 0   uint8    0x21 keyframe, 0x22 delta (high four bits: format version, low four bits: kind)
 *      offset 1   uint16   checksum of the decoded frame, little-endian (section 8)
 *      offset 3   uint32   the coder's initial state, little-endian
 *      offset 7   uint16   words, little-endian, to the end
 *    A keyframe is coded exactly like a delta against a frame of zeros, with two differences given in section 6. A
 *    delta depends only on the frame before it: no table, weight or history is kept between frames.
 *
 * 3. Coder (rANS: Duda 2009, arXiv 0902.0271). Its state is a uint32. To decode one of several symbols whose
 *    frequencies add up to 2^14, with `start` the sum of the frequencies before a symbol's own:
 *      slot = state mod 2^14;  the symbol is the one with start <= slot < start + frequency
 *      state = frequency * floor(state / 2^14) + slot - start
 *      if state < 2^15:  state = state * 2^16 + next word
 *    A raw value of n bits (1 to 14) is one of 2^n symbols of equal frequency. After the last symbol of a frame the
 *    state must be 2^15 and no word must be left. (A decoder may read zeros past the end; this check then fails.)
 *
 * 4. Contexts. Every symbol is decoded with the fixed frequencies of a context. A residual's context has 32 symbols:
 *    -15 to 15, and escape. It is (bin, phase) with bin 0 to 13 and phase 0 to 7, or, for bins from 14 on, even or
 *    odd. The table below has five rows for each bin, phases 0 to 4, bin after bin, then one for even bins and one for
 *    odd bins from 14 on. "first: frequencies | escape" lists the frequencies of the residuals from `first` on in
 *    ascending order, then that of the escape; every unlisted residual has frequency 1. The symbols' order is -15,
 *    ..., 15, escape. Phases 5, 6 and 7 use the rows of phases 3, 2 and 1 with the frequencies of r and -r exchanged
 *    (the order of symbols stays the same).
 *
 * 5. Bodies, in order: each has a flag, one of two symbols: "same as the previous body" with frequency 14336 (the first
 *    symbol), "different" with 2048. A body is either unchanged: every particle keeps its position from the previous
 *    frame (in a keyframe: 0 0 0); or changed: its particles follow, in the order of its traversal. For the first
 *    body, the previous body counts as unchanged.
 *    Traversal and neighbors depend only on the triangles. Two particles that share a triangle are neighbors; repeated
 *    indices in a triangle are not neighbors.
 *      a. The next particle is the unvisited one with the most visited neighbors (15 or more count as 15). Among
 *         equals: the one whose (clipped) number of visited neighbors changed last, where a visit changes its
 *         neighbors in ascending particle number. If none has a visited neighbor: the lowest-numbered one.
 *      b. N(v): its visited neighbors, the last visited first, at most 4: u0 .. u(k-1).
 *      c. G(v), at most 2 triples (a, b, c): go through the triangles in list order. A triangle of v and two other
 *         visited particles a, b is a gate. For each gate, go through the triangles on edge a b in list order; each
 *         whose third particle c is visited and is not v gives a triple. (The same triple can occur twice.)
 *
 * 6. One particle v. prev: its previous position (int32); y: its displacement since then, to be decoded (int32);
 *    Y = f(y). From the particles already decoded in this frame, prev, Y, the activity A and the stretch T are used.
 *    r(k) is 1/k rounded; in sums over u0 .. u3, missing neighbors (k < 4) count as 0; S(x) = (x0 + x1) + (x2 + x3).
 *      If k = 0: p = Y[w], act = A[w] of the particle w visited just before it in this body; for the first particle of
 *        a body p = (0, 0, 0),
 *        act = FIRST_ACTIVITY. T[v] = 0. The particle is quiet.
 *      Else:
 *        act = (A0 + (A1 + (A2 + A3))) * r(k)
 *        if k = 1: old = A0, t = T0; else old = (A1 + (A2 + A3)) * r(k - 1), t = (T1 + (T2 + T3)) * r(k - 1)
 *        a2 = old * old
 *        alpha = (GATE_SHARE * a2) / (a2 + ACTIVITY_GATES)      in a keyframe alpha = 1; if G is empty alpha = 0
 *        p = (Y0 + (Y1 + (Y2 + Y3))) * (r(k) * (1 - alpha)) + (g0 + g1) * (alpha * r(|G|))      by component; r(0) = 0
 *          with g = (Y[a] + Y[b]) - Y[c] for each triple of G, 0 for a missing one
 *        The particle is quiet if old = 0, or in a keyframe.
 *      Quiet: T[v] = t, vx = vy = vz = 1, rx = ry = rz = 1, ax = 8 * p.x, ay = 8 * p.y, az = 8 * p.z, yx = zx = zy =
 *        0.
 *      Not quiet: the prediction preserves the lengths of the edges to N. For each u of N, with all products of
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
 *      Then decode the components in the order x, y, z by section 7, with eight times the predicted displacement
 *          cx = ax;   cy = ay - yx * Y.x;   cz = (az - zx * Y.x) - zy * Y.y
 *      Afterwards
 *          A[v] = (|8 * Y.x - cx| * rx + |8 * Y.y - cy| * ry) + |8 * Y.z - cz| * rz
 *          if not quiet: T[v] = min(2^60, S((s * close) * s) * r(k)) with s as above for q = Y - Y[u], and e and close
 *            unchanged
 *      The new position is prev + y; it must be within +-(2^28 - 1).
 *
 * 7. One component, with its c and v (cx and vx, ...). bits() is a binary32 as an int32; >> keeps the sign.
 *      place = bits(c + 12582912) - bits(12582912)      (for |c| < 2^22 this is c rounded to an integer, ties to even)
 *      bin = min(LAST_BIN, (bits((act * act) * v + 1) - bits(1)) >> 23);  phase = place mod 8, from 0 to 7
 *      shift = 0 for bin < 14, else floor((bin - 12) / 2)
 *      high: a symbol of the context (bin, phase). If it is escape: a raw value h of 6 bits, n = floor(h / 2), 5 <= n
 *        <= 31; then the low n - 1 bits of |high|, whose bit n - 1 is 1, as raw values of 14 bits each (the last one
 *        has the remaining bits), low bits first; high < 0 if h is odd
 *      low: a raw value of `shift` bits, 0 if shift is 0
 *      y = ((place + 4) >> 3) + high * 2^shift + low
 *
 * 8. Checksum. A frame's x coordinates, y coordinates and z coordinates each give a number, initially h = 1, 2, 3. For
 *    every coordinate v in particle order: h = ((h xor v) * 0x9E3779B1) mod 2^32, then h = h xor (h >> 15) (unsigned).
 *    With h1, h2, h3 of x, y, z: h = h1 xor (h2 * 0x85EBCA6B mod 2^32) xor (h3 * 0xC2B2AE35 mod 2^32); the checksum is
 *    (h xor (h >> 16)) mod 2^16. A wrong checksum tells a client that it lost the chain and must request a keyframe.
 */

export const KIND_KEYFRAME = 0x21;
export const KIND_DELTA = 0x22;
export const HEADER_BYTES = 3;
/** Size of the initial state in a frame, bytes. */
export const STATE_BYTES = 4;

/**
 * Limit of coordinates, grid units. Displacements then stay below 2^29 and fit an int32 with any prediction. At 0.5 mm
 * this is 134 km.
 */
export const COORDINATE_LIMIT = 2 ** 28 - 1;

/** The frequencies of a context's symbols add up to 2^TABLE_BITS. */
export const TABLE_BITS = 14;
/** The coder's state is at least this after every step. */
export const STATE_FLOOR = 2 ** 15;

/** Initial activity for a body's first particle, in eighths: a medium value. */
export const FIRST_ACTIVITY = 64;
/** Share of the parallelograms in very active neighborhoods, and the squared activity at which they have half of it. */
export const GATE_SHARE = Math.fround(0.8);
export const ACTIVITY_GATES = 1152;
/** Upper limit of the weight of an edge relative to the guess. */
export const EDGE_WEIGHT_LIMIT = 32;
/**
 * An edge whose squared length is predicted to grow by more than this factor is ignored: its square could dominate all
 * others.
 */
export const GROWTH_LIMIT = 4;
/** Parameters by which a stretching neighborhood reduces the weight of its edges. */
export const STRETCH_SCALE = 576;
export const STRETCH_OFFSET = 58;
/** Keeps the square of a torn edge finite. */
export const STRETCH_LIMIT = 2 ** 60;

/** From this bin on (a level of about 130 eighths) the low bits of a residual are sent raw. */
export const FIRST_SHIFTED_BIN = 14;
export const LAST_BIN = 40;

/** Residuals from -RESIDUAL_LIMIT to RESIDUAL_LIMIT are symbols, all others follow an escape. */
export const RESIDUAL_LIMIT = 15;
export const ESCAPE = 2 * RESIDUAL_LIMIT + 1;

/** Any error in bytes or arguments in this folder; `message` names field, value and limit. */
export class SnapshotError extends Error {
  override name = "SnapshotError";
}

export const beyondLimit = (frame: Int32Array, i: number): SnapshotError =>
  new SnapshotError(`current[${i}] is ${frame[i]}, must be within +-${COORDINATE_LIMIT}`);

/** Checksum of section 8. */
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
