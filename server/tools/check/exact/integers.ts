/**
 * Converts float64 numbers to integers without rounding. Every finite one is m 2^e with integers m and e, so a few
 * coordinates times a common power of two are integers. Predicates that depend only on signs give the same answer for
 * both.
 */

const bits = new DataView(new ArrayBuffer(8));

/**
 * value = mantissa 2^exponent, exactly; the exponent is the largest for which the mantissa is an integer. Zero is 0
 * 2^0.
 * @param value finite
 */
function split(value: number): { mantissa: bigint; exponent: number } {
  if (value === 0) return { mantissa: 0n, exponent: 0 };
  bits.setFloat64(0, value);
  const high = bits.getUint32(0);
  const biased = (high >>> 20) & 0x7ff;
  // below 2^-1022 there is no hidden bit
  let mantissa = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4));
  let exponent = (biased === 0 ? 1 : biased) - 1075;
  if (biased !== 0) mantissa |= 1n << 52n;
  const low = mantissa & -mantissa;
  const shift = low.toString(2).length - 1;
  mantissa >>= BigInt(shift);
  exponent += shift;
  return { mantissa: value < 0 ? -mantissa : mantissa, exponent };
}

/**
 * Returns the numbers times the smallest power of two that makes all of them integers.
 * @throws RangeError if a number is not finite
 */
export function toIntegers(values: ArrayLike<number>): bigint[] {
  for (let i = 0; i < values.length; i++)
    if (!Number.isFinite(values[i]!)) throw new RangeError(`q[${i}] is ${values[i]}; expected a finite number`);
  const parts = Array.from(values, split);
  let least = Infinity;
  for (const { mantissa, exponent } of parts) if (mantissa !== 0n && exponent < least) least = exponent;
  return parts.map(({ mantissa, exponent }) => (mantissa === 0n ? 0n : mantissa << BigInt(exponent - least)));
}

export const signOf = (value: bigint): -1 | 0 | 1 => (value > 0n ? 1 : value < 0n ? -1 : 0);
