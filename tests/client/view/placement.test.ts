/** Placement of a room in front of a visitor with a headset. */
import { Box3, Matrix4, Vector3 } from "three";
import { describe, expect, test } from "vitest";
import { place, toRoom } from "../../../client/xr/placement.ts";

const EXACT = 12;

describe("the table-top", () => {
  // 4 m wide, its foot 2 m below the origin
  const bounds = new Box3(new Vector3(-1, -2, 5), new Vector3(3, 0, 6));
  const stand = { position: new Vector3(0.3, 1.6, -0.2), heading: new Vector3(1, 0, 0) };
  const facing = new Vector3(0, -0.5, -2);
  const placement = place(bounds, facing, stand);
  const matrix = toRoom(new Matrix4(), placement);
  const seen = (x: number, y: number, z: number): Vector3 => new Vector3(x, y, z).applyMatrix4(matrix.clone().invert());

  test("its largest extent is a meter, its foot 0.9 m high and 0.65 m ahead", () => {
    const foot = seen(1, -2, 5.5);
    expect(foot.x).toBeCloseTo(0.3 + 0.65, EXACT);
    expect(foot.y).toBeCloseTo(0.9, EXACT);
    expect(foot.z).toBeCloseTo(-0.2, EXACT);
    expect(seen(-1, -2, 5.5).distanceTo(seen(3, -2, 5.5))).toBeCloseTo(1, EXACT);
  });

  test("it is upright, and seen from the same side as on the page", () => {
    const ahead = seen(1, -2, 4.5).sub(seen(1, -2, 5.5));
    expect(ahead.normalize().dot(stand.heading)).toBeCloseTo(1, EXACT);
    expect(
      seen(1, -1, 5.5)
        .sub(seen(1, -2, 5.5))
        .normalize().y,
    ).toBeCloseTo(1, EXACT);
  });

  test("rotated and scaled, it stays on its foot", () => {
    const moved = toRoom(new Matrix4(), { ...placement, turn: placement.turn + 0.7, scale: 3 * placement.scale });
    expect(placement.table.clone().applyMatrix4(moved).distanceTo(placement.foot)).toBeLessThan(1e-12);
  });

  test("a view straight down, and a single point, have a placement, too", () => {
    const point = new Box3(new Vector3(1, 1, 1), new Vector3(1, 1, 1));
    const { scale, turn } = place(point, new Vector3(0, -1, 0), { ...stand, heading: new Vector3(0, 1, 0) });
    expect(scale).toBeGreaterThan(0);
    expect(turn).toBeCloseTo(0, EXACT);
  });
});
