/**
 * Contact darkening without a second shadow pass. A few balls summarize the moving particles, and the floor's shader
 * darkens by the share of the sky that each ball hides (sphere occlusion, Quilez 2014: n.d r^2 / |d|^3).
 */
import { type Color, Vector3, Vector4 } from "three";
import type { PickSurface } from "../grabs/picking.ts";

/** Number of balls for all bodies together; the floor's shader loops over them per vertex. */
export const MAX_BLOBS = 14;

export interface BlobBody extends PickSurface {
  rest: Float32Array;
  /** Linear. */
  readonly color: Color;
  /** Light shines through it. */
  readonly jelly: boolean;
}

/** Share of its color that a body adds to its shade on the floor: reflected, and passed through jelly. */
const BOUNCED = 0.14;
const PASSED = 0.75;

export class ContactBlobs {
  /** xyz center and w radius, m; unused ones have radius 0. */
  readonly spheres: Vector4[] = Array.from({ length: MAX_BLOBS }, () => new Vector4(0, 0, 0, 0));
  /** Light that each ball adds to its shade, linear. */
  readonly tints: Vector3[] = this.spheres.map(() => new Vector3());
  private readonly groups: { body: BlobBody; members: Uint32Array }[] = [];

  constructor(bodies: readonly BlobBody[]) {
    const total = bodies.reduce((sum, body) => sum + body.rest.length, 0);
    for (const body of bodies) {
      const share = Math.max(1, Math.floor((MAX_BLOBS * body.rest.length) / Math.max(1, total)));
      for (const members of clusters(body.rest, share)) {
        if (this.groups.length < MAX_BLOBS) this.groups.push({ body, members });
      }
    }
  }

  /**
   * Called once per frame. Moves each ball to the mean of its particles; its radius is their root mean square distance.
   */
  update(): void {
    for (let index = 0; index < this.groups.length; index++) {
      const { body, members } = this.groups[index]!;
      if (body.hidden) {
        this.spheres[index]!.set(0, 0, 0, 0);
        continue;
      }
      let x = 0;
      let y = 0;
      let z = 0;
      let squares = 0;
      // By index: an iterator allocates result objects, thousands per picture until the loop is compiled.
      for (let k = 0; k < members.length; k++) {
        const i = members[k]!;
        const px = body.positions[i]!;
        const py = body.positions[i + 1]!;
        const pz = body.positions[i + 2]!;
        x += px;
        y += py;
        z += pz;
        squares += px * px + py * py + pz * pz;
      }
      this.tints[index]!.setFromColor(body.color).multiplyScalar(body.jelly ? PASSED : BOUNCED);
      const n = members.length;
      x /= n;
      y /= n;
      z /= n;
      this.spheres[index]!.set(x, y, z, Math.sqrt(Math.max(0, squares / n - x * x - y * y - z * z)));
    }
  }
}

/**
 * Splits particles by the nearest of `count` seeds, which are chosen far from each other. Returns offsets (3 *
 * particle), at most 200 per cluster.
 */
function clusters(rest: Float32Array, count: number): Uint32Array[] {
  const particles = rest.length / 3;
  const nearest = new Float64Array(particles).fill(Infinity);
  const owner = new Uint32Array(particles);
  let seed = 0;
  for (let k = 0; k < count; k++) {
    let far = 0;
    for (let i = 0; i < particles; i++) {
      const dx = rest[3 * i]! - rest[3 * seed]!;
      const dy = rest[3 * i + 1]! - rest[3 * seed + 1]!;
      const dz = rest[3 * i + 2]! - rest[3 * seed + 2]!;
      const d = dx * dx + dy * dy + dz * dz;
      if (d < nearest[i]!) {
        nearest[i] = d;
        owner[i] = k;
      }
      if (nearest[i]! > nearest[far]!) far = i;
    }
    seed = far;
  }
  const lists: number[][] = Array.from({ length: count }, () => []);
  owner.forEach((k, i) => lists[k]!.push(3 * i));
  return lists
    .filter((list) => list.length > 0)
    .map((list) => {
      const stride = Math.ceil(list.length / 200);
      return Uint32Array.from(list.filter((_, i) => i % stride === 0));
    });
}
