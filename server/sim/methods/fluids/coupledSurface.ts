/**
 * Surface of a body with the kernel's constraints, or of a mesh collider, as a method uses it between two of the
 * kernel's substeps. The method changes a body's velocities, and the constraints respond in the next substep.
 */
import type { Views } from "../../world/views.ts";
import { readSurface } from "../../intersections/surface.ts";
import { isClosed } from "../../spawn/inside.ts";
import type { SimLayout } from "../../world/worldLayout.ts";
import type { Surface } from "../method.ts";

export class CoupledSurface implements Surface {
  /** Number of the surface: those of mesh colliders follow the bodies'. */
  readonly number: number;
  readonly closed: boolean;
  readonly triangles: Uint32Array;
  readonly x: Float64Array;
  readonly v: Float64Array;
  readonly w: Float64Array;
  private readonly views: Views;
  /** Index of the first particle, in words: position and velocity. */
  private readonly place: number;
  private readonly speed: number;

  constructor(views: Views, layout: SimLayout, number: number) {
    const { first, count, triangles } = readSurface(views, layout.x, number);
    this.number = number;
    this.closed = number < layout.bodyCount ? layout.bodies[number]!.kind === "soft" : isClosed(triangles);
    this.triangles = Uint32Array.from(triangles);
    [this.x, this.v, this.w] = [new Float64Array(3 * count), new Float64Array(3 * count), new Float64Array(count)];
    this.views = views;
    [this.place, this.speed] = [layout.x / 4 + 4 * first, layout.v / 4 + 4 * first];
  }

  read(): void {
    const { f32 } = this.views;
    const { x, v, w, place, speed } = this;
    for (let i = 0; i < w.length; i++) {
      for (let r = 0; r < 3; r++) {
        x[3 * i + r] = f32[place + 4 * i + r]!;
        v[3 * i + r] = f32[speed + 4 * i + r]!;
      }
      w[i] = f32[place + 4 * i + 3]!;
    }
  }

  /**
   * Extrapolates positions; the kernel moves the particles in its own substep.
   * @param h s
   */
  advance(h: number): void {
    for (let k = 0; k < this.x.length; k++) this.x[k]! += h * this.v[k]!;
  }

  write(): void {
    const { f32 } = this.views;
    const { v, speed } = this;
    for (let i = 0; i < this.w.length; i++) for (let r = 0; r < 3; r++) f32[speed + 4 * i + r] = v[3 * i + r]!;
  }
}
