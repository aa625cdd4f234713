/** A modulus in terms of Hz and mm, against facts from outside the formulas. */
import { describe, expect, test } from "vitest";
import {
  axialFrequency,
  type Beam,
  bendingFrequency,
  hang,
  largestSag,
  modulusOfFrequency,
  modulusOfSag,
  retardationTime,
  shortening,
  slendernessError,
  smallSag,
} from "../../../shared/geometry/beam.ts";
import { beamTheory, H, L, RHO } from "../../physics/bars/cantilever.ts";

const G = 9.81;
const STEEL = { youngsModulus: 210e9, density: 7850, poissonsRatio: 0.3 };
const RULER: Beam = { ...STEEL, length: 0.3, height: 0.001 };
const STRIP: Beam = { youngsModulus: 1.5e6, density: 930, poissonsRatio: 0.49, length: 0.1, height: 0.002 };

describe("a beam that bends little", () => {
  test("a steel ruler, 30 cm of it over the table's edge", () => {
    // Sound of 5172 m/s in a steel bar, and the handbook's f = 0.1615 c H / L^2.
    expect(bendingFrequency(RULER)).toBeCloseTo((0.1615 * 5172 * 0.001) / 0.09, 2);
    // 2.31 N/m on 0.0525 N m^2, for a width of 3 cm: 2.31 * 0.3^4 / (8 * 0.525).
    expect(smallSag(RULER)).toBeCloseTo(0.00446, 5);
    expect(hang(RULER).sag / smallSag(RULER)).toBeCloseTo(1, 3);
  });

  test("its sag is the Timoshenko beam's, which the laboratory's beam is compared with", () => {
    const beam = { youngsModulus: 3e6, density: RHO, poissonsRatio: 0, length: L, height: H };
    expect(smallSag(beam)).toBeCloseTo(beamTheory(3e6), 12);
    const stiff = { ...beam, youngsModulus: 3e9 };
    expect(hang(stiff).sag / smallSag(stiff)).toBeCloseTo(1, 4);
  });

  test("half the length gives four times the frequency, twice the height twice", () => {
    expect(bendingFrequency({ ...RULER, length: 0.15 }) / bendingFrequency(RULER)).toBeCloseTo(4, 12);
    expect(bendingFrequency({ ...RULER, height: 0.002 }) / bendingFrequency(RULER)).toBeCloseTo(2, 12);
  });

  test.each([4, 5, 7, 10, 20])(
    "%d heights long: the excess of the frequency is within a tenth of Timoshenko's beam",
    (heights) => {
      const beam = { ...STEEL, length: 0.01 * heights, height: 0.01 };
      const tooHigh = bendingFrequency(beam) / timoshenkoFrequency(beam) - 1;
      // Dunkerley's sum is a lower bound of the frequency.
      expect(slendernessError(beam) / tooHigh).toBeGreaterThan(1);
      expect(slendernessError(beam) / tooHigh).toBeLessThan(1.1);
    },
  );
});

test("a strip whose amplitude halves in n swings has the matching retardation time", () => {
  // Amplitude e^(-2 pi zeta n), zeta = pi f tau.
  const zeta = Math.PI * 3 * retardationTime(3, 12);
  expect(Math.exp(-2 * Math.PI * zeta * 12)).toBeCloseTo(0.5, 12);
});

describe("a beam that hangs", () => {
  test.each([0.3, 18, 270, 1400])("w = %d: at every place it bends by the moment of the part beyond", (w) => {
    // Thin enough to have no shear.
    const thin = { ...STRIP, height: 0.0002 };
    const youngsModulus = (12 * thin.density * G * thin.length ** 3) / (w * thin.height ** 2);
    const beam = { ...thin, youngsModulus };
    const { line } = hang(beam);
    const n = line.length / 3 - 1;
    const s = beam.length / n;
    const angle = (i: number): number =>
      Math.atan2(line[3 * i + 1]! - line[3 * i - 2]!, line[3 * i]! - line[3 * i - 3]!);
    let largest = 0;
    for (let i = 4; i < n; i += 36) {
      let moment = 0;
      for (let j = i; j < n; j++)
        moment += beam.density * G * s * ((line[3 * j]! + line[3 * j + 3]!) / 2 - line[3 * i]!);
      const curvature = (12 * moment) / (youngsModulus * beam.height ** 2);
      largest = Math.max(largest, curvature);
      expect(Math.abs((angle(i + 1) - angle(i)) / s - curvature) / largest).toBeLessThan(0.01);
    }
    expect(Math.hypot(line[3]! - line[0]!, line[4]! - line[1]!)).toBeCloseTo(s, 6);
    // Clamped level, and sections turn only with the line.
    expect(line[2]).toBeCloseTo(0, 6);
    for (let i = 1; i <= n; i += 36) expect((line[3 * i - 1]! + line[3 * i + 2]!) / 2).toBeCloseTo(angle(i), 2);
  });

  test("the softer, the deeper, down to a rope; never deeper than its length", () => {
    const sags = [1e9, 1e7, 1e6, 1e5, 1e4, 3e3].map((youngsModulus) => hang({ ...STRIP, youngsModulus }).sag);
    expect(sags).toEqual([...sags].sort((a, b) => a - b));
    const { sag, limp } = hang({ ...STRIP, youngsModulus: 100 });
    expect(limp).toBe(true);
    expect(sag).toBeGreaterThan(0.95 * STRIP.length);
    expect(sag).toBeLessThan(STRIP.length);
    expect(hang(STRIP).limp).toBe(false);
  });
});

describe("from a ruler to pascals", () => {
  test.each([3e4, 1.5e6, 1e9, 210e9])("%d Pa, by its frequency and by its sag", (youngsModulus) => {
    const beam = { ...STRIP, youngsModulus };
    expect(modulusOfFrequency(bendingFrequency(beam), beam) / youngsModulus).toBeCloseTo(1, 12);
    expect(modulusOfSag(hang(beam).sag, beam) / youngsModulus).toBeCloseTo(1, 5);
  });

  test("a sag that no modulus gives is refused", () => {
    const most = largestSag(STRIP);
    expect(most).toBeLessThan(STRIP.length);
    expect(modulusOfSag(0.999 * most, STRIP)).toBeGreaterThan(0);
    for (const sag of [most, STRIP.length, 0, -0.01, Number.NaN])
      expect(() => modulusOfSag(sag, STRIP), String(sag)).toThrow(RangeError);
  });
});

test("a cube on a floor: thin slices, each pressed by those above it, and sound that travels there and back twice", () => {
  const jelly = { youngsModulus: 15e3, density: 1030, poissonsRatio: 0.45 };
  const slices = 1000;
  let shorter = 0;
  for (let i = 0; i < slices; i++)
    shorter += ((((i + 0.5) / slices) * 0.1 * jelly.density * G) / jelly.youngsModulus) * (0.1 / slices);
  expect(shortening(jelly, 0.1)).toBeCloseTo(shorter, 9);
  expect(axialFrequency(STEEL, 0.1)).toBeCloseTo(5172 / 0.4, -1);
});

/**
 * Lowest frequency of Timoshenko's clamped beam by shooting: with y, psi, M, V over the length and omega in rad/s, y' =
 * psi + V / kGA, psi' = M / EI, M' = -V - rho I omega^2 psi, V' = -rho A omega^2 y. A combination of two solutions that
 * begin at the clamp has no moment and no force at the free end.
 * @returns Hz
 */
function timoshenkoFrequency(beam: Beam): number {
  const { youngsModulus: E, density, poissonsRatio, length, height } = beam;
  const I = height ** 3 / 12;
  const kGA = ((5 / 6) * E * height) / (2 * (1 + poissonsRatio));
  const steps = 2000;
  const h = length / steps;
  const end = (omega: number, M: number, V: number): [M: number, V: number] => {
    let [y, psi] = [0, 0];
    for (let i = 0; i < steps; i++) {
      // Leapfrog: positions, then loads.
      y += h * (psi + V / kGA);
      psi += (h * M) / (E * I);
      V -= h * density * height * omega ** 2 * y;
      M -= h * (V + density * I * omega ** 2 * psi);
    }
    return [M, V];
  };
  const determinant = (omega: number): number => {
    const [a, b] = end(omega, 1, 0);
    const [c, d] = end(omega, 0, 1 / length);
    return a * d - b * c;
  };
  let [low, high] = [0, 2 * Math.PI * bendingFrequency(beam)];
  for (let n = 0; n < 40; n++) {
    const middle = (low + high) / 2;
    if (determinant(middle) * determinant(0) > 0) low = middle;
    else high = middle;
  }
  return low / (2 * Math.PI);
}
