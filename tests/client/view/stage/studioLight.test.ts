/** The shadow camera of the studio: whatever casts a shadow stays in it. */
import { Scene, Sphere, Vector3 } from "three";
import { expect, test } from "vitest";
import { KEY_DIRECTION, Studio } from "../../../../client/view/stage/studioLight.ts";

/** The shadow camera sees the whole sphere. */
function sees({ key }: Studio, { center, radius }: Sphere): boolean {
  const { camera } = key.shadow;
  const from = key.position.clone().sub(center);
  const along = from.dot(KEY_DIRECTION);
  const beside = key.target.position.clone().sub(center).projectOnPlane(KEY_DIRECTION).length();
  return beside + radius <= camera.right && along - radius >= camera.near && along + radius <= camera.far;
}

test("shadows of what is fixed stay whole after all bodies have moved away", () => {
  const studio = new Studio(new Scene(), 512);
  const funnel = new Sphere(new Vector3(0, 1, 0), 0.6);
  studio.cover(new Sphere(new Vector3(0, 1.4, 0), 0.5));
  expect(sees(studio, funnel)).toBe(false);
  studio.fixed.copy(funnel);
  for (const x of [0, 1, 3]) {
    const bodies = new Sphere(new Vector3(x, 0.1, 0), 0.5);
    studio.cover(bodies);
    expect(sees(studio, funnel)).toBe(true);
    expect(sees(studio, bodies)).toBe(true);
  }
});

test("without anything fixed, bodies alone are covered", () => {
  const studio = new Studio(new Scene(), 512);
  studio.cover(new Sphere(new Vector3(0, 0.5, 0), 0.5));
  expect(studio.key.shadow.camera.right).toBeCloseTo(0.5 * 1.35);
});
