/**
 * Real roots of a cubic by bracketing. It needs no trigonometry, so results are the same on every machine, and
 * vanishing coefficients lose no precision.
 */

const BISECTIONS = 60;

/**
 * Roots of c3 x^3 + c2 x^2 + c1 x + c0 in [-limit, limit], ascending; a double root may be missed (it is a tangency,
 * with no sign change).
 *
 * @param limit half width of the searched interval
 */
export function cubicRoots(c0: number, c1: number, c2: number, c3: number, limit: number): number[] {
  const f = (x: number): number => ((c3 * x + c2) * x + c1) * x + c0;
  const marks = [-limit, ...quadraticRoots(c1, 2 * c2, 3 * c3).filter((x) => Math.abs(x) < limit), limit];
  const roots: number[] = [];
  for (let i = 0; i + 1 < marks.length; i++) {
    const root = rootBetween(f, marks[i], marks[i + 1]);
    if (root !== undefined && root !== roots.at(-1)) roots.push(root);
  }
  return roots;
}

/** Real roots of a2 x^2 + a1 x + a0, ascending, by the formula that avoids cancellation. */
function quadraticRoots(a0: number, a1: number, a2: number): number[] {
  if (a2 === 0) return a1 === 0 ? [] : [-a0 / a1];
  const discriminant = a1 * a1 - 4 * a2 * a0;
  if (discriminant < 0) return [];
  const q = -0.5 * (a1 + (a1 < 0 ? -1 : 1) * Math.sqrt(discriminant));
  const roots = q === 0 ? [0] : [q / a2, a0 / q];
  return roots.filter(Number.isFinite).sort((x, y) => x - y);
}

/**
 * Finds the root of f, which is monotone between low and high. Regula falsi with halving of the retained end
 * (Illinois), with bisection as a fallback.
 */
function rootBetween(f: (x: number) => number, low: number, high: number): number | undefined {
  let [a, b] = [low, high];
  let fa = f(a);
  let fb = f(b);
  if (fa === 0) return a;
  if (fb === 0) return b;
  if (fa < 0 === fb < 0) return undefined;
  for (let i = 0; i < BISECTIONS; i++) {
    const guess = b - (fb * (b - a)) / (fb - fa);
    const x = guess > Math.min(a, b) && guess < Math.max(a, b) ? guess : 0.5 * (a + b);
    const fx = f(x);
    if (fx === 0 || Math.abs(b - a) <= 1e-15 * (Math.abs(a) + Math.abs(b))) return x;
    if (fx < 0 !== fb < 0) {
      [a, fa] = [b, fb];
    } else {
      fa *= 0.5;
    }
    [b, fb] = [x, fx];
  }
  return b;
}
