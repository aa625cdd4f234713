/** How fast what turns as a whole has to turn for an angular momentum: w = I^-1 L about its center. */

/** What `findTurn` found, 1/s. */
export let turnX: f64 = 0;
export let turnY: f64 = 0;
export let turnZ: f64 = 0;

/**
 * I = tr(Q) - Q, Q = sum m (x - c)(x - c)^T = sum m x x^T - M c c^T
 * @param M f64 kg; c f64 m, the center; xx .. yz f64 kg m^2, sum m x x^T; g f64 kg m^2/s, about c
 */
export function findTurn(
  M: f64,
  cx: f64,
  cy: f64,
  cz: f64,
  xx: f64,
  yy: f64,
  zz: f64,
  xy: f64,
  xz: f64,
  yz: f64,
  gx: f64,
  gy: f64,
  gz: f64,
): void {
  xx -= M * cx * cx;
  yy -= M * cy * cy;
  zz -= M * cz * cz;
  xy -= M * cx * cy;
  xz -= M * cx * cz;
  yz -= M * cy * cz;
  const i00 = yy + zz;
  const i11 = xx + zz;
  const i22 = xx + yy;
  const i01 = -xy;
  const i02 = -xz;
  const i12 = -yz;
  const k00 = i11 * i22 - i12 * i12;
  const k01 = i02 * i12 - i01 * i22;
  const k02 = i01 * i12 - i02 * i11;
  const k11 = i00 * i22 - i02 * i02;
  const k12 = i01 * i02 - i00 * i12;
  const k22 = i00 * i11 - i01 * i01;
  const determinant = i00 * k00 + i01 * k01 + i02 * k02;
  const trace = i00 + i11 + i22;
  // a body on a line does not say how fast it turns about it
  const inverse: f64 = determinant > 1e-9 * trace * trace * trace ? 1.0 / determinant : 0.0;
  turnX = inverse * (k00 * gx + k01 * gy + k02 * gz);
  turnY = inverse * (k01 * gx + k11 * gy + k12 * gz);
  turnZ = inverse * (k02 * gx + k12 * gy + k22 * gz);
}
