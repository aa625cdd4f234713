/** Difference of two colors for given eyes: CIELAB, CIEDE2000, and the noticeable difference at a given size. */

export type Lab = readonly [L: number, a: number, b: number];

/** Matrices on linear RGB. Machado, Oliveira and Fernandes 2009, severity 1. */
export const EYES = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

/** CIELAB (D65) of a color, #rrggbb, as seen by these eyes. */
export function labOf(color: string, eyes: readonly number[]): Lab {
  const linear = [1, 3, 5].map((at) => {
    const value = parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const by = (m: readonly number[], v: readonly number[]): number[] =>
    [0, 3, 6].map((row) => m[row]! * v[0]! + m[row + 1]! * v[1]! + m[row + 2]! * v[2]!);
  const rgb = by(eyes, linear).map((x) => Math.min(1, Math.max(0, x)));
  const xyz = by(
    [0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041],
    rgb,
  );
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [f(xyz[0]! / 0.95047), f(xyz[1]!), f(xyz[2]! / 1.08883)];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const RADIAN = Math.PI / 180;
const cosine = (degrees: number): number => Math.cos(degrees * RADIAN);
/** C^7 / (C^7 + 25^7) */
const chromatic = (C: number): number => C ** 7 / (C ** 7 + 25 ** 7);

/** CIEDE2000, with unit weights. Sharma, Wu and Dalal 2005; equations (2) to (22) there. */
export function ciede2000([L1, a1, b1]: Lab, [L2, a2, b2]: Lab): number {
  const G = 0.5 * (1 - Math.sqrt(chromatic((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2)));
  const [C1, C2] = [Math.hypot((1 + G) * a1, b1), Math.hypot((1 + G) * a2, b2)];
  const hue = (a: number, b: number): number => (Math.atan2(b, (1 + G) * a) / RADIAN + 360) % 360;
  const [h1, h2] = [hue(a1, b1), hue(a2, b2)];
  const gray = C1 * C2 === 0;
  const far = Math.abs(h2 - h1) > 180;
  const dh = gray ? 0 : h2 - h1 - (far ? 360 * Math.sign(h2 - h1) : 0);
  const dH = 2 * Math.sqrt(C1 * C2) * Math.sin((dh / 2) * RADIAN);
  const L = (L1 + L2) / 2;
  const C = (C1 + C2) / 2;
  const sum = h1 + h2;
  const h = gray ? sum : (sum + (far ? (sum < 360 ? 360 : -360) : 0)) / 2;
  const T = 1 - 0.17 * cosine(h - 30) + 0.24 * cosine(2 * h) + 0.32 * cosine(3 * h + 6) - 0.2 * cosine(4 * h - 63);
  const light = (L2 - L1) / (1 + (0.015 * (L - 50) ** 2) / Math.sqrt(20 + (L - 50) ** 2));
  const chroma = (C2 - C1) / (1 + 0.045 * C);
  const tint = dH / (1 + 0.015 * C * T);
  const turn = -2 * Math.sqrt(chromatic(C)) * Math.sin(60 * RADIAN * Math.exp(-(((h - 275) / 25) ** 2)));
  return Math.sqrt(light ** 2 + chroma ** 2 + tint ** 2 + turn * chroma * tint);
}

/**
 * The difference in units of the difference that half of all viewers notice at this size. Stone, Szafir and Setlur
 * 2014, "An engineering model for color difference as a function of size", table 2. @param size of the marks, degrees
 * of vision
 */
export function noticed(one: Lab, other: Lab, size: number): number {
  const half = [5.079 + 0.751 / size, 5.339 + 1.541 / size, 5.349 + 2.871 / size];
  return Math.hypot(...half.map((unit, k) => (one[k]! - other[k]!) / unit));
}
