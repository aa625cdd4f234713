/**
 * Formulas and a boundary value problem for a clamped beam and a standing cube. They convert Young's modulus to Hz and
 * mm, and measurements back to moduli. All values are SI: Pa, kg/m^3, m, Hz. Sections are rectangles, whose width
 * cancels out.
 */

/** Gravity, m/s^2, the default of scenes. */
const G = 9.81;
/** Smallest root of cos(x) cosh(x) = -1. */
const ROOT = 1.875_104_068_711_961;
/** Shear coefficient of a rectangle: its shear stress is parabolic, with 6/5 of the energy of a constant stress. */
const SHEAR = 5 / 6;
/** Largest sag over length for which the theory of small deflections holds: there its sag is 1 % too large. */
export const SMALL = 0.1;

export interface Material {
  /** E, Pa */
  youngsModulus: number;
  /** rho, kg/m^3 */
  density: number;
  /** nu */
  poissonsRatio: number;
}

export interface Section {
  /** L of the free part, m */
  length: number;
  /** H, along gravity, m */
  height: number;
}

export type Beam = Material & Section;

/** The first bending frequency is this times sqrt(E/rho), 1/m: (1.8751^2 / 2 pi) sqrt(I / (A L^4)). */
const bendingFactor = ({ length, height }: Section): number =>
  (ROOT ** 2 / (2 * Math.PI) / length ** 2) * (height / Math.sqrt(12));

/**
 * First bending frequency of a clamped, slender beam (Euler and Bernoulli; S. Timoshenko, Vibration Problems in
 * Engineering):
 *
 *   f = (1.8751^2 / 2 pi) sqrt(E I / (rho A L^4)),  I / A = H^2 / 12
 *
 * @returns Hz, for small swings about the straight beam; too high by `slendernessError`
 */
export const bendingFrequency = (beam: Beam): number =>
  bendingFactor(beam) * Math.sqrt(beam.youngsModulus / beam.density);

/** Inverse of bendingFrequency: E = rho (f / factor)^2. @param hz measured frequency. @returns Pa */
export const modulusOfFrequency = (hz: number, beam: Section & Pick<Material, "density">): number =>
  beam.density * (hz / bendingFactor(beam)) ** 2;

/**
 * Relative error of `bendingFrequency`, which is too high for a beam with shear and rotary inertia:
 *
 *   1 / f^2 = (1 + 4.648 I / (A L^2)) / f_b^2 + 1 / f_s^2
 *   f_s = (1 / 4L) sqrt(k G / rho),  k = 5/6,  G = E / (2 (1 + nu))
 *
 * Shear by Dunkerley's sum with the first mode of a pure shear beam (S. Dunkerley 1894); rotary inertia by Rayleigh's
 * quotient, the integral of the mode's squared slope over that of the squared mode.
 * @returns 0.008 for a beam with a length of ten heights and nu = 0.3, 0.03 for five heights
 */
export function slendernessError(beam: Beam): number {
  const { length, height, poissonsRatio } = beam;
  const shear = Math.sqrt(SHEAR / (2 * (1 + poissonsRatio))) / (4 * length);
  return Math.sqrt(1 + (4.648 * height ** 2) / (12 * length ** 2) + (bendingFactor(beam) / shear) ** 2) - 1;
}

/**
 * Sag of the free end under the beam's own weight by the theory of small deflections, with shear (Timoshenko):
 *
 *   rho g A L^4 / (8 E I) + rho g L^2 / (2 k G),  k = 5/6, G = E / (2 (1 + nu))
 *
 * @returns m; invalid above `SMALL` times the length
 */
export function smallSag({ youngsModulus, density, poissonsRatio, length, height }: Beam): number {
  const bending = (12 * length ** 4) / (8 * height ** 2);
  const shear = (length ** 2 * (1 + poissonsRatio)) / SHEAR;
  return ((density * G) / youngsModulus) * (bending + shear);
}

/** A hanging beam. */
export interface Hanging {
  /**
   * float64[3N], from the clamp to the free end: x along the clamp's axis, y downwards, m, and theta, the downward
   * rotation of the section, rad.
   */
  line: Float64Array;
  /** Sag of the free end, m. */
  sag: number;
  /** Softer than SOFTEST: it hangs straight down, whatever its modulus. */
  limp: boolean;
}

/** Steps along the length: the boundary layer at the clamp of the softest beam has twenty of them. */
const STEPS = 400;
/**
 * Limit of w = rho g A L^3 / (E I). Beyond it the beam hangs straight down, except for a twentieth of its length at the
 * clamp, so its shape no longer depends on the modulus.
 */
const SOFTEST = 2000;
/**
 * Limit of p, rad. Beyond it shear is not linear, and shear forces at the clamp would turn the beam over. There a beam
 * of five heights sags by nine tenths of its length, nearly all of it by bending.
 */
const MOST_SHEAR = 0.3;

/**
 * Shape of a heavy beam for any deflection: the plane beam of finite rotations with shear and without extension (E.
 * Reissner 1972; without shear C. Y. Wang 1986, A critical review of the heavy elastica). With s from the clamp over L,
 * theta downwards, m = M L / (E I):
 *
 *   theta' = m,  m' = -w (1 - s) x',  x' = cos - c sin,  y' = sin + c cos,  c = p (1 - s) cos(theta)
 *   w = rho g A L^3 / (E I),  p = rho g L / (k G),  theta(0) = 0,  m(1) = 0
 *
 * Shooting from the free end: bisects the slope there, on a logarithmic scale of its angle from the vertical, until the
 * clamp is level. For small w and p the sag is `smallSag`. Beams softer than w = 2000 get the shape of w = 2000; p is
 * at most 0.3.
 */
export function hang({ youngsModulus, density, poissonsRatio, length, height }: Beam): Hanging {
  const weight = (density * G * length) / youngsModulus;
  const slender = (12 * length ** 2) / height ** 2;
  const w = Math.min(weight * slender, SOFTEST);
  const p = Math.min((weight * 2 * (1 + poissonsRatio)) / SHEAR, MOST_SHEAR);
  // The root lies between: for a beam that hangs vertically the slope at the clamp is positive, for a level one
  // negative.
  let [low, high] = [-100, Math.log(Math.PI / 2)];
  for (let n = 0; n < 45; n++) {
    const middle = (low + high) / 2;
    if (shoot(w, p, Math.exp(middle)) > 0) low = middle;
    else high = middle;
  }
  const line = new Float64Array(3 * (STEPS + 1));
  shoot(w, p, Math.exp(high), line);
  const [x0, y0] = line;
  for (let i = 0; i < line.length; i += 3) {
    line[i] = (line[i]! - x0!) * length;
    line[i + 1] = (line[i + 1]! - y0!) * length;
  }
  return { line, sag: line.at(-2)!, limp: weight * slender > SOFTEST };
}

/**
 * Integrates with the midpoint rule from the free end to the clamp.
 * @param fromVertical angle of the free end from the vertical, rad
 * @param line float64[3(STEPS+1)], out: positions over the length, the free end at 0 0, and theta
 * @returns theta at the clamp, rad
 */
function shoot(w: number, p: number, fromVertical: number, line?: Float64Array): number {
  const h = 1 / STEPS;
  // integrates phi = pi/2 - theta, because theta cannot represent its smallest values
  let [phi, m, x, y] = [fromVertical, 0, 0, 0];
  line?.set([x, y, Math.PI / 2 - phi], 3 * STEPS);
  const slope = (phi: number, s: number): [x: number, y: number] => {
    const c = p * (1 - s) * Math.sin(phi);
    return [Math.sin(phi) - c * Math.cos(phi), Math.cos(phi) + c * Math.sin(phi)];
  };
  for (let i = STEPS; i > 0; i--) {
    const s = (i - 0.5) * h;
    const halfM = m + 0.5 * h * w * (1 - s) * slope(phi, s)[0];
    const [dx, dy] = slope(phi + 0.5 * h * m, s);
    phi += h * halfM;
    m += h * w * (1 - s) * dx;
    x -= h * dx;
    y -= h * dy;
    line?.set([x, y, Math.PI / 2 - phi], 3 * (i - 1));
    // a beam that has turned over does not come back
    if (phi > Math.PI) break;
  }
  return Math.PI / 2 - phi;
}

/** Largest sag that determines a modulus: that of the softest beam that still bends, m. */
export function largestSag(beam: Section & Omit<Material, "youngsModulus">): number {
  const softest = (beam.density * G * 12 * beam.length ** 3) / (beam.height ** 2 * SOFTEST);
  return hang({ ...beam, youngsModulus: softest }).sag;
}

/**
 * Young's modulus of a strip that sags under its own weight, by bisection of `hang`, so it holds for large sags, too.
 * @param sag of the free end, m
 * @returns Pa
 * @throws RangeError unless the sag is positive and below `largestSag`
 */
export function modulusOfSag(sag: number, beam: Section & Omit<Material, "youngsModulus">): number {
  if (!(sag > 0 && sag < largestSag(beam))) throw new RangeError(`no modulus gives a sag of ${sag} m`);
  // sag times modulus is constant for small sags, and less beyond
  const upper = smallSag({ ...beam, youngsModulus: 1 }) / sag;
  let [low, high] = [Math.log(upper) - 10, Math.log(upper) + 0.1];
  for (let n = 0; n < 26; n++) {
    const middle = (low + high) / 2;
    if (hang({ ...beam, youngsModulus: Math.exp(middle) }).sag > sag) low = middle;
    else high = middle;
  }
  return Math.exp(high);
}

/**
 * Shortening of a standing column under its own weight, with free sides: the integral of rho g (H - z) / E, which is
 * rho g H^2 / (2 E) (any text on strength of materials).
 * @returns m; invalid above `SMALL` times the height
 */
export const shortening = ({ youngsModulus, density }: Material, height: number): number =>
  (density * G * height ** 2) / (2 * youngsModulus);

/**
 * First axial mode of a rod that is clamped at one end: a quarter wave, f = (1 / 4H) sqrt(E / rho) (Lord Rayleigh, The
 * Theory of Sound, chapter VII).
 * @returns Hz; a few percent too high for a cube, because its sides move, too
 */
export const axialFrequency = ({ youngsModulus, density }: Material, height: number): number =>
  Math.sqrt(youngsModulus / density) / (4 * height);

/**
 * Retardation time of a strip that swings at f Hz and loses half of its amplitude in n swings, damped only by its
 * material (Kelvin and Voigt): e^(-2 pi zeta n) = 1/2 with the damping ratio zeta = pi f tau.
 *
 *   tau = ln 2 / (2 pi^2 f n)
 *
 * @returns s
 */
export const retardationTime = (hz: number, swings: number): number => Math.LN2 / (2 * Math.PI ** 2 * hz * swings);
