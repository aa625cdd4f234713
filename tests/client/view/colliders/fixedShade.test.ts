/** Shade of fixed colliders on the floor, against the form factor and the shadow of a ball. */
import { type BufferAttribute, BoxGeometry, Mesh, PlaneGeometry, SphereGeometry } from "three";
import { expect, test } from "vitest";
import { shadeFloor, stays } from "../../../../client/view/colliders/fixedShade.ts";
import { KEY_DIRECTION } from "../../../../client/view/stage/studioLight.ts";
import type { TopologyCollider } from "../../../../shared/topology.ts";

/** @returns open sky and open key light of each vertex of a floor of 4 m in the height 0, with its place */
function shadeOf(casters: readonly Mesh[]): { x: number; z: number; sky: number; key: number }[] {
  const floor = new Mesh(new PlaneGeometry(4, 4, 40, 40).rotateX(-Math.PI / 2));
  for (const mesh of casters) mesh.updateMatrixWorld();
  shadeFloor(floor, casters);
  const at = floor.geometry.getAttribute("position");
  const open = floor.geometry.getAttribute("pliantFixed") as BufferAttribute;
  return Array.from({ length: at.count }, (_, i) => ({
    x: at.getX(i),
    z: at.getZ(i),
    sky: open.getX(i),
    key: open.getY(i),
  }));
}

function ball(radius: number, height: number): Mesh {
  const mesh = new Mesh(new SphereGeometry(radius, 48, 32));
  mesh.position.set(0, height, 0);
  return mesh;
}

test("a ball hides n.d r^2 / |d|^3 of the sky", () => {
  const [radius, height] = [0.3, 1];
  for (const { x, z, sky } of shadeOf([ball(radius, height)])) {
    const distance = Math.hypot(x, height, z);
    // Discs stand for a ball up to their own size beside its distance.
    expect(sky).toBeCloseTo(1 - (height * radius ** 2) / distance ** 3, 2);
  }
});

test("the key light is hidden along its direction, and nowhere else", () => {
  const [radius, height] = [0.3, 1];
  const floor = shadeOf([ball(radius, height)]);
  const across = ({ x, z }: { x: number; z: number }): number => {
    const [dx, dy, dz] = [-x, height, -z];
    const along = dx * KEY_DIRECTION.x + dy * KEY_DIRECTION.y + dz * KEY_DIRECTION.z;
    return Math.sqrt(Math.max(0, dx * dx + dy * dy + dz * dz - along * along));
  };
  const middle = floor.filter((point) => across(point) < 0.3 * radius);
  expect(middle.length).toBeGreaterThan(3);
  for (const { key } of middle) expect(key).toBeLessThan(0.1);
  for (const point of floor.filter((one) => across(one) > 2 * radius)) expect(point.key).toBe(1);
});

test("without casters, and on top of them, all is open", () => {
  for (const { sky, key } of shadeOf([])) expect([sky, key]).toEqual([1, 1]);
  const sunk = new Mesh(new BoxGeometry(1, 1, 1));
  sunk.position.y = -0.6;
  for (const { sky, key } of shadeOf([sunk])) expect([sky, key]).toEqual([1, 1]);
});

test("a pole that turns about its own axis stays; other moving colliders do not", () => {
  const pole = { type: "cylinder", name: "p", a: [-1, 1, 0], b: [1, 1, 0], radius: 0.1, motion: { keys: [] } };
  const moving = (motion: object): TopologyCollider => ({ ...pole, motion }) as unknown as TopologyCollider;
  expect(stays({ ...pole, motion: undefined } as unknown as TopologyCollider)).toBe(true);
  expect(stays(moving({ keys: [{ time: 0 }, { time: 1, rotate: [-990, 0, 0] }] }))).toBe(true);
  expect(stays(moving({ keys: [{ time: 0 }, { time: 1, rotate: [0, 90, 0] }] }))).toBe(false);
  expect(stays(moving({ keys: [{ time: 0 }, { time: 1, translate: [1, 0, 0] }] }))).toBe(false);
});
