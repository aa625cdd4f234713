/**
 * Shade of colliders that stay, computed once for each vertex of the floor: the share of the sky and of the key light
 * that they leave. The latter serves software rendering, which has no shadow map. Their surfaces are sampled by discs
 * of equal area A (Bunnell 2005: each hides A cos a cos b / (pi d^2 + A)); a ray meets a closed surface twice.
 */
import { BufferAttribute, type Mesh, Vector3 } from "three";
import type { TopologyCollider } from "../../../shared/topology.ts";
import { KEY_DIRECTION } from "../stage/studioLight.ts";

/** Discs of all colliders together: each vertex of the floor looks at each. */
const DISCS = 256;
/** Half the width of a shadow's edge: part of the distance from its caster (penumbra.ts), and of a disc's side. */
const EDGE = { ofDistance: 0.07, ofDisc: 1.8 };
/** Steps of a sequence that fills a square evenly (Roberts 2018). */
const [STEP_U, STEP_V] = [0.7548776662466927, 0.5698402909980532];

interface Discs {
  /** m^2 */
  area: number;
  /** Middle, m, and normal of each. */
  numbers: number[];
}

/** Whether a collider has the same shape at all times. */
export function stays(collider: TopologyCollider): boolean {
  if (!collider.motion) return true;
  if (!("a" in collider)) return false;
  const axis = new Vector3(...collider.b).sub(new Vector3(...collider.a)).normalize();
  return collider.motion.keys.every(
    ({ translate = [0, 0, 0], rotate = [0, 0, 0] }) =>
      Math.hypot(...translate) === 0 && new Vector3(...rotate).cross(axis).length() < 1e-6,
  );
}

/** Gives the floor the attribute `pliantFixed`. @param casters with current world matrices */
export function shadeFloor(floor: Mesh, casters: readonly Mesh[]): void {
  const at = floor.geometry.getAttribute("position");
  const open = new Float32Array(2 * at.count).fill(1);
  const discs = discsOf(casters);
  const point = new Vector3();
  if (discs.area > 0)
    for (let i = 0; i < at.count; i++)
      open.set(openAt(point.fromBufferAttribute(at, i).applyMatrix4(floor.matrixWorld), discs), 2 * i);
  floor.geometry.setAttribute("pliantFixed", new BufferAttribute(open, 2));
}

/** @returns shares of the sky and of the key light that a point of the floor sees */
function openAt({ x, y, z }: Vector3, { area, numbers }: Discs): [number, number] {
  let sky = 0;
  let key = 0;
  const [kx, ky, kz] = [KEY_DIRECTION.x, KEY_DIRECTION.y, KEY_DIRECTION.z];
  const least = EDGE.ofDisc * Math.sqrt(area);
  for (let k = 0; k < numbers.length; k += 6) {
    const dx = numbers[k]! - x;
    const dy = numbers[k + 1]! - y;
    const dz = numbers[k + 2]! - z;
    if (dy <= 0) continue;
    const [nx, ny, nz] = [numbers[k + 3]!, numbers[k + 4]!, numbers[k + 5]!];
    const square = dx * dx + dy * dy + dz * dz;
    const facing = Math.abs(nx * dx + ny * dy + nz * dz);
    sky += (area * facing * dy) / (square * (Math.PI * square + area));
    const along = dx * kx + dy * ky + dz * kz;
    const edge = EDGE.ofDistance * along + least;
    const part = 1 - (square - along * along) / (edge * edge);
    if (part > 0) key += (3 * area * Math.abs(nx * kx + ny * ky + nz * kz) * part * part) / (Math.PI * edge * edge);
  }
  return [Math.max(0, 1 - sky / 2), Math.max(0, 1 - key / 2)];
}

function discsOf(meshes: readonly Mesh[]): Discs {
  const [a, b, c, normal] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
  const each = (see: (area: number) => void): void => {
    for (const { geometry, matrixWorld } of meshes) {
      const at = geometry.getAttribute("position");
      const { index } = geometry;
      const count = index?.count ?? at.count;
      for (let k = 0; k < count; k += 3) {
        for (const [n, corner] of [a, b, c].entries())
          corner.fromBufferAttribute(at, index ? index.getX(k + n) : k + n).applyMatrix4(matrixWorld);
        b.sub(a);
        c.sub(a);
        see(0.5 * normal.crossVectors(b, c).length());
      }
    }
  };
  let total = 0;
  each((area) => (total += area));
  const numbers: number[] = [];
  let left = 0;
  each((area) => {
    normal.normalize();
    for (left += (DISCS * area) / total; left >= 1; left--) {
      const n = numbers.length / 6;
      let [u, v] = [(n * STEP_U) % 1, (n * STEP_V) % 1];
      if (u + v > 1) [u, v] = [1 - u, 1 - v];
      numbers.push(a.x + u * b.x + v * c.x, a.y + u * b.y + v * c.y, a.z + u * b.z + v * c.z, ...normal.toArray());
    }
  });
  return { area: total / DISCS, numbers };
}
