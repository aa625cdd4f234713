/**
 * The snapshot format, version 1: what every byte of a frame means, and every number that both ends must share.
 *
 * A stranger can write a decoder from this file alone; PROTOCOL.md repeats it. All arithmetic named here is either on integers or IEEE 754
 * binary64 with + - * / sqrt, each rounded on its own (no fused multiply-add), in the order written, so every machine gets the same bits.
 *
 * 1. Frame. A room streams `total` particles; body after body, each with `count` particles and a triangle list over them. A frame is one
 *    int32 triple per particle, the position on a grid of `quantum` metres, within +-(2^28 - 1).
 *
 * 2. Bytes.
 *      offset 0   uint8    0x11 keyframe, 0x12 delta (high four bits: format version, low four bits: kind)
 *      offset 1   uint16   checksum of the decoded frame, little-endian (section 7)
 *      offset 3   ...      range coder bytes (section 3) to the end; the last one is never zero
 *    A keyframe is coded exactly like a delta against a frame of zeros, with two differences that section 6 names.
 *
 * 3. Range coder (binary, carry in the encoder, as in LZMA). The decoder starts with range = 2^32 - 1 and code = the first four bytes, most
 *    significant first. Past the end it reads zero bytes: the encoder leaves trailing zeros out. All numbers are uint32.
 *    To decode one bit with probability P of a zero (16 bit fraction, 32 <= P <= 65504):
 *      bound = (range >> 16) * P
 *      if code < bound:  bit = 0, range = bound
 *      else:             bit = 1, code -= bound, range -= bound
 *      while range < 2^24:  range <<= 8, code = (code << 8) | next byte
 *    A raw bit is one with P = 32768 that no context learns from. When the last particle is
 *    decoded, the last three bytes that were read must have lain past the end.
 *
 * 4. Contexts. A context is a pair (P, n). At the start of every frame P comes from INITIAL_PROBABILITY (times 256) and n = INITIAL_COUNT.
 *    After a bit, with R = floor(65536 / (n + 1.5)):
 *      bit 0:  P = P + (((65536 - P) * R) >> 16)        bit 1:  P = P - ((P * R) >> 16)
 *    then P is clamped to 32 .. 65504 and n = min(n + 1, COUNT_LIMIT).
 *    Context numbers (the CONTEXT_* constants): BODY + 0..1, ZERO + 0..63, SIGN + 0..7, UNARY + 0..95, PREFIX + 0..29.
 *
 * 5. Bodies, in their order: one bit with context BODY + (the bit of the body before it; 0 for the first). 0: every particle is where it was
 *    in the previous frame (in a keyframe: at 0 0 0). 1: the body's particles follow, in the order of its traversal.
 *    Traversal and neighbors depend on the triangles only. Two particles that share a triangle are neighbors; repeated indices in a triangle
 *    are no neighbors.
 *      a. Next comes the particle not yet visited that has the most visited neighbors (15 or more count as 15). Among equals: the one whose
 *         (clipped) number of visited neighbors changed last, where a visit changes its neighbors in ascending particle number. If none has a
 *         visited neighbor: the lowest-numbered one.
 *      b. N(v): its visited neighbors, the last visited first, at most 4.
 *      c. G(v), at most 3 triples (a, b, c): go through the triangles in list order; one that consists of v and two other visited particles
 *         a, b is a gate; for each gate go through the triangles on edge a b in list order; each whose third particle c is visited and
 *         is not v gives a triple. (The same triple can occur twice.)
 *
 * 6. One particle v. prev: its previous position; y: its displacement since then, which is to be decoded; values of a particle that came
 *    before it in this frame carry an index: y[u], prev[u], A[u] (activity), T[u] (stretch). All are binary64.
 *      If N(v) is empty: p = y[w], act = A[w] of the particle w visited just before it in this body; for the first particle of a body
 *        p = (0, 0, 0), act = FIRST_ACTIVITY. The precision matrix is the identity, b = (0, 0, 0).
 *      Else, with k = |N|, sums over u in N in order:
 *        act = (sum A[u]) / k      t = (sum T[u]) / k      m = (sum y[u]) / k       (by component)
 *        a2 = act * act / 9
 *        alpha = 0.8 * a2 / (a2 + 2)              in a keyframe alpha = 1
 *        p = m + alpha * (g - m) with g = (sum over G of (y[a] + y[b] - y[c])) / |G|      if G is not empty, else p = m
 *        weight = min(32, a2 / (0.1 + t))         in a keyframe weight = 0
 *        The motion is expected to keep the lengths of the edges to N. Start with XX = YY = ZZ = 1, XY = XZ = YZ = bx = by = bz = 0; for u in N:
 *          e = prev - prev[u];  q = p - y[u];  f = e + q;  skip u if e = (0, 0, 0)
 *          s = q.x * (e.x + q.x / 2) + q.y * (e.y + q.y / 2) + q.z * (e.z + q.z / 2)
 *          w = weight / (f.x * f.x + f.y * f.y + f.z * f.z + 1)
 *          wx = w * f.x;  wy = w * f.y;  wz = w * f.z
 *          XX += wx * f.x;  XY += wx * f.y;  XZ += wx * f.z;  YY += wy * f.y;  YZ += wy * f.z;  ZZ += wz * f.z
 *          bx -= wx * s;  by -= wy * s;  bz -= wz * s
 *        (a weight of 0 leaves the start values)
 *      Then eliminate z and y:
 *          iz = 1 / ZZ;  Y = YY - YZ * YZ * iz;  M = XY - XZ * YZ * iz;  cy = by - YZ * bz * iz
 *          iy = 1 / Y;   X = XX - XZ * XZ * iz - M * M * iy;  cx = bx - XZ * bz * iz - M * cy * iy;  ix = 1 / X
 *      and code the components in the order x, y, z, with r = y - p of those before (r.x = y.x - p.x, ...):
 *          x: center = p.x + cx * ix                               sigma = sqrt(ix)
 *          y: center = p.y + (cy - M * r.x) * iy                   sigma = sqrt(iy)
 *          z: center = p.z + (bz - XZ * r.x - YZ * r.y) * iz       sigma = sqrt(iz)
 *      Each component, with center first limited to +-2^29 (CENTER_LIMIT):
 *          i = floor(center + 0.5);  h = center - i
 *          level = (act + 0.5 * own) * sigma, with own = sum of the sizes of this particle's components before (0 for x)
 *          bin = number of LEVEL_THRESHOLDS that are <= level;  phase = min(3, floor(|h| * 8))
 *          bit zero? context ZERO + 4 * bin + phase: 0 means residual 0
 *          if not: bit with context SIGN + phase + (bin > 8 ? 4 : 0): 0 means towards h (sign + if h >= 0, - if h < 0), 1 means away from it;
 *                  magnitude = 1 + (number of 1 bits, at most 6, that precede a 0 bit; the j-th, j = 0..5, with context UNARY + 6 * bin + j);
 *                  after six 1 bits an Exp-Golomb number is added: c 1 bits and a 0 bit (contexts PREFIX + 0, 1, ...; c <= 29),
 *                  then c raw bits b, most significant first; it is 2^c - 1 + b
 *          component of y = i + sign * magnitude;  size = |y - center| / sigma
 *      The new position is prev + y (it must be within +-(2^28 - 1)).
 *      A[v] = size.x + size.y + size.z, summed in this order.
 *      T[v] = 0 in a keyframe or if N(v) is empty, else (sum over u in N of s * s / d) / k, with e as above (none is skipped) and
 *          q = y - y[u];  g = e + q / 2;  s = q.x * g.x + q.y * g.y + q.z * g.z;  d = g.x * g.x + g.y * g.y + g.z * g.z + 1
 *
 * 7. Checksum. h = 0x811C9DC5; for every integer v of the frame, in particle order, x y z:  h = ((h xor v) * 0x9E3779B1) mod 2^32, then
 *    h = h xor (h >> 15); the checksum is (h xor (h >> 16)) mod 2^16. It tells a client that lost the chain to ask for a keyframe.
 */

export const FORMAT_VERSION = 1;
export const KIND_KEYFRAME = 0x11;
export const KIND_DELTA = 0x12;
export const HEADER_BYTES = 3;

/** Grid units. Displacements then stay below 2^29 and every sum below is exact in binary64. At 0.5 mm this is 134 km. */
export const COORDINATE_LIMIT = 2 ** 28 - 1;

/** Keeps residuals of wild predictions within 30 bits. */
export const CENTER_LIMIT = 2 ** 29;

/** Assumed activity before a body's first particle: neither still nor wild. */
export const FIRST_ACTIVITY = 8;
/** Multiples of 1/8, so that a table can look the bin up. */
export const LEVEL_THRESHOLDS = [0.25, 0.5, 0.75, 1, 1.375, 1.75, 2.125, 2.625, 3.25, 4, 5, 7, 10, 16, 32] as const;
export const UNARY_LIMIT = 6;
export const PREFIX_LIMIT = 29;

export const CONTEXT_BODY = 0;
export const CONTEXT_ZERO = 2;
export const CONTEXT_SIGN = 66;
export const CONTEXT_UNARY = 74;
export const CONTEXT_PREFIX = 170;
export const CONTEXTS = 200;

/** Highest n of a context: a probability remembers about this many bits. 60 to 1000 measure alike on cloth. */
export const COUNT_LIMIT = 127;
/** How much the initial probabilities weigh, in bits seen. 4 to 30 measure alike. */
export const INITIAL_COUNT = 12;

/**
 * Chance of a zero bit in a fresh context, in 1/256. Measured on cloths of 31 x 31 and 101 x 101 particles and the wobbling surface of
 * load-tests/codec. Against even chances they save 1 % on the cloth of 61 x 61 and 4 % on one of 17 x 17, neither of which they have seen.
 */
export const INITIAL_PROBABILITY: readonly number[] = [
  // BODY
  128, 96,
  // ZERO, bin after bin
  249, 146, 192, 138, 235, 187, 225, 152, 227, 178, 190, 157, 214, 179, 171, 151,
  201, 173, 158, 139, 184, 164, 148, 131, 167, 151, 139, 124, 148, 135, 126, 114,
  128, 114, 107, 100, 109, 93, 91, 85, 91, 76, 75, 72, 74, 59, 58, 60,
  65, 44, 44, 49, 48, 33, 33, 40, 38, 24, 20, 30, 33, 14, 15, 27,
  // SIGN
  133, 185, 217, 230, 131, 143, 152, 159,
  // UNARY, bin after bin
  252, 129, 76, 78, 73, 73, 252, 113, 53, 45, 47, 44, 252, 167, 60, 39, 37, 41, 252, 192, 60, 36, 27, 23,
  251, 215, 119, 66, 50, 37, 246, 225, 173, 123, 104, 66, 238, 218, 181, 135, 112, 86, 224, 208, 178, 152, 122, 103,
  201, 194, 170, 149, 127, 113, 175, 175, 157, 140, 125, 107, 148, 150, 140, 127, 116, 106, 119, 119, 113, 107, 101, 93,
  94, 90, 87, 83, 79, 75, 72, 65, 63, 59, 58, 54, 49, 41, 39, 38, 38, 38, 41, 32, 29, 28, 27, 26,
  // PREFIX
  42, 71, 111, 145, 169, 232, 150, 99, 138, 159, 148, 157, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
];

/** Any fault of bytes or arguments in this folder; `message` names field, value and limit. */
export class SnapshotError extends Error {
  override name = "SnapshotError";
}

/** Section 7. */
export function frameChecksum(frame: Int32Array): number {
  let h = 0x811c9dc5 | 0;
  for (let i = 0; i < frame.length; i++) {
    h = Math.imul(h ^ frame[i], 0x9e3779b1);
    h ^= h >>> 15;
  }
  return (h ^ (h >>> 16)) & 0xffff;
}
