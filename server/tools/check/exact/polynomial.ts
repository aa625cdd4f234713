/**
 * Polynomials with integer coefficients, lowest power first, without trailing zeros (zero is the empty list); and
 * vectors of three of them. Degrees are at most 8, so schoolbook algorithms suffice.
 */
import { signOf } from "./integers.ts";

export type Polynomial = readonly bigint[];
/** A moving point or direction: x, y, z as polynomials in time. */
export type Moving = readonly [Polynomial, Polynomial, Polynomial];

function trimmed(p: bigint[]): Polynomial {
  while (p.length > 0 && p[p.length - 1] === 0n) p.pop();
  return p;
}

function add(a: Polynomial, b: Polynomial): Polynomial {
  return trimmed(Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? 0n) + (b[i] ?? 0n)));
}

export function subtract(a: Polynomial, b: Polynomial): Polynomial {
  return trimmed(Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? 0n) - (b[i] ?? 0n)));
}

function multiply(a: Polynomial, b: Polynomial): Polynomial {
  if (a.length === 0 || b.length === 0) return [];
  const product = new Array<bigint>(a.length + b.length - 1).fill(0n);
  for (let i = 0; i < a.length; i++) for (let j = 0; j < b.length; j++) product[i + j]! += a[i]! * b[j]!;
  return product;
}

export function derivative(p: Polynomial): Polynomial {
  return p.slice(1).map((c, i) => c * BigInt(i + 1));
}

/** Divides the polynomial by the greatest common divisor of its coefficients: same roots and signs, smaller numbers. */
export function primitive(p: Polynomial): Polynomial {
  let divisor = 0n;
  for (const c of p) {
    let a = divisor;
    let b = c < 0n ? -c : c;
    while (b !== 0n) [a, b] = [b, a % b];
    divisor = a;
    if (divisor === 1n) return p;
  }
  return divisor === 0n ? p : p.map((c) => c / divisor);
}

/** Quotient and remainder of c a / b for some positive integer c, so signs are those of a / b. @param b not zero */
export function divide(a: Polynomial, b: Polynomial): { quotient: Polynomial; remainder: Polynomial } {
  const lead = b[b.length - 1]!;
  const scale = lead < 0n ? -lead : lead;
  const sign = lead < 0n ? -1n : 1n;
  let rest = [...a];
  const quotient = new Array<bigint>(Math.max(0, a.length - b.length + 1)).fill(0n);
  for (let shift = a.length - b.length; shift >= 0; shift--) {
    const top = rest[b.length - 1 + shift]! * sign;
    rest = rest.map((c) => c * scale);
    for (let i = shift + 1; i < quotient.length; i++) quotient[i]! *= scale;
    quotient[shift] = top;
    for (let i = 0; i < b.length; i++) rest[i + shift]! -= top * b[i]!;
  }
  return { quotient: trimmed(quotient), remainder: trimmed(rest.slice(0, b.length - 1)) };
}

/** Greatest common divisor, up to a factor. */
export function commonDivisor(a: Polynomial, b: Polynomial): Polynomial {
  while (b.length > 0) [a, b] = [b, primitive(divide(a, b).remainder)];
  return primitive(a);
}

/** Sign of p(n / 2^k). */
export function signAt(p: Polynomial, n: bigint, k: number): -1 | 0 | 1 {
  if (p.length === 0) return 0;
  let value = p[p.length - 1]!;
  let shift = 0n;
  for (let i = p.length - 2; i >= 0; i--) value = value * n + (p[i]! << (shift += BigInt(k)));
  return signOf(value);
}

/** Sign of p on all of [low / 2^k, high / 2^k], 0 <= low <= high; 0 if interval arithmetic cannot decide. */
export function signBetween(p: Polynomial, low: bigint, high: bigint, k: number): -1 | 0 | 1 {
  if (p.length === 0) return 0;
  let least = p[p.length - 1]!;
  let most = least;
  let shift = 0n;
  for (let i = p.length - 2; i >= 0; i--) {
    const c = p[i]! << (shift += BigInt(k));
    [least, most] = [least * (least < 0n ? high : low) + c, most * (most < 0n ? low : high) + c];
  }
  return least > 0n ? 1 : most < 0n ? -1 : 0;
}

/** Straight motion from integer coordinates at t = 0 to those at t = 1. */
export function straight(q: readonly bigint[], from: number, to: number): Moving {
  const axis = (r: number): Polynomial => trimmed([q[from + r]!, q[to + r]! - q[from + r]!]);
  return [axis(0), axis(1), axis(2)];
}

export const minus = (a: Moving, b: Moving): Moving => [
  subtract(a[0], b[0]),
  subtract(a[1], b[1]),
  subtract(a[2], b[2]),
];

export const dot = (a: Moving, b: Moving): Polynomial =>
  add(add(multiply(a[0], b[0]), multiply(a[1], b[1])), multiply(a[2], b[2]));

export function cross(a: Moving, b: Moving): Moving {
  const part = (i: number, j: number): Polynomial => subtract(multiply(a[i]!, b[j]!), multiply(a[j]!, b[i]!));
  return [part(1, 2), part(2, 0), part(0, 1)];
}
