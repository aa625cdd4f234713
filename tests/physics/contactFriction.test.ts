/**
 * Coulomb friction of a soft block (1 MPa) on what contact between surfaces holds it up: it sticks while tan(theta) <
 * mu and slips beyond, within 2 %; slipping, it accelerates by g (sin theta - mu cos theta), and with two coefficients
 * (a sheet: of a soft block one side gives way first and takes the rest along) it breaks away at the static one and
 * slides with the dynamic one. Elsewhere: planes in friction.test.ts, other shapes in staticFriction.test.ts.
 * Tolerances: what sticks stays within 1e-5 m (a ten-thousandth of its edge) in 1 s, in which 2 % more would take it 20
 * mm or more. What slips has crept before it is measured, so it goes at least as far as from rest. Accelerations, at up
 * to 1 m/s, 5 % as in friction.test.ts: the block swings a little.
 */
import { describe, expect, test } from "vitest";
import { slide, SUPPORTS } from "./contactSlope.ts";

describe.each(Object.keys(SUPPORTS))("on %s", (support) => {
  test.each([0.5, 0.2])("mu %d: sticks at 98 % of it, slips at 102 %", async (mu) => {
    const stays = await slide(support, { tangent: 0.98 * mu, mu });
    expect(Math.hypot(stays.way, stays.aside)).toBeLessThan(1e-5);
    const goes = await slide(support, { tangent: 1.02 * mu, mu });
    expect(goes.way).toBeGreaterThan(0.95 * 0.5 * goes.ideal);
  });

  test("slipping, it accelerates by g (sin theta - mu cos theta), straight down the slope", async () => {
    const mu = 0.4;
    const { acceleration, ideal, way, aside } = await slide(support, { tangent: 1.4 * mu, mu }, 0.5);
    expect(acceleration / ideal).toBeGreaterThan(0.95);
    expect(acceleration / ideal).toBeLessThan(1.05);
    expect(Math.abs(aside)).toBeLessThan(0.01 * way);
  });

  test("static 0.6, dynamic 0.3: holds at 98 % of the first, breaks away at 102 % and slides with the second", async () => {
    const both = { mu: 0.3, staticMu: 0.6, sheet: true };
    expect(Math.abs((await slide(support, { ...both, tangent: 0.98 * 0.6 })).way)).toBeLessThan(1e-4);
    const { acceleration, ideal } = await slide(support, { ...both, tangent: 1.02 * 0.6 }, 0.25);
    expect(acceleration / ideal).toBeGreaterThan(0.95);
    expect(acceleration / ideal).toBeLessThan(1.05);
  });

  test("static 0.6, dynamic 0.3: what slides goes on sliding where it would have stuck", async () => {
    const { acceleration, ideal } = await slide(support, { mu: 0.3, staticMu: 0.6, tangent: 0.5, speed: 0.5 }, 0.25);
    expect(acceleration / ideal).toBeGreaterThan(0.95);
    expect(acceleration / ideal).toBeLessThan(1.05);
  });

  test.each([
    [20, 1, 1.5],
    [8, 1, 1.5],
    [8, 1, 3],
    [8, 2, 3],
    [4, 5, 3],
  ])(
    "%i x %i: at %d m/s it is slowed down by mu g, over all edges that lie within the support's faces",
    async (substeps, iterations, speed) => {
      const mu = 0.4;
      const { acceleration, ideal, aside } = await slide(
        support,
        { tangent: 0, mu, speed, substeps, iterations },
        Math.round(60 * Math.min(1.5 / speed, (0.8 * speed) / (9.81 * mu))) / 60,
      );
      expect(Math.abs(acceleration / ideal - 1)).toBeLessThan(0.02);
      expect(Math.abs(aside)).toBeLessThan(1e-3);
    },
  );

  // Pushes are found to a thousandth (rigidContact.ts). Known: each contact has a limit of its own, and one that breaks
  // takes the others along, so on triangles a rigid block breaks away between 83 and 92 % of static friction.
  test("static 0.6, dynamic 0.3: a rigid block holds, breaks away and slides likewise", async () => {
    const both = { mu: 0.3, staticMu: 0.6, rigid: true };
    const holds = await slide(support, { ...both, tangent: support === "a box collider" ? 0.98 * 0.6 : 0.5 }, 0.5);
    expect(Math.hypot(holds.way, holds.aside)).toBeLessThan(1e-4);
    const breaks = await slide(support, { ...both, tangent: 1.02 * 0.6 }, 0.25);
    expect(Math.abs(breaks.acceleration / breaks.ideal - 1)).toBeLessThan(0.02);
    const slides = await slide(support, { ...both, tangent: 0.5, speed: 0.5 }, 0.25);
    expect(Math.abs(slides.acceleration / slides.ideal - 1)).toBeLessThan(0.02);
  });
});
