/**
 * The surface of a body of the kernel's constraints, as a method meets it between two of the kernel's substeps: what
 * the method does to velocities, the constraints answer in the next one.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Views } from "../grabs.ts";
import { readSurface } from "../intersections/surface.ts";
import type { SimLayout } from "../layout.ts";
import type { Surface } from "./method.ts";

export class WetSurface implements Surface {
  readonly body: number;
  readonly closed: boolean;
  readonly triangles: Uint32Array;
  readonly x: Float64Array;
  readonly v: Float64Array;
  readonly w: Float64Array;
  readonly change: Float64Array;
  readonly added: Float64Array;
  private readonly views: Views;
  /** Words of the first particle. */
  private readonly place: number;
  private readonly speed: number;
  private readonly acceleration: number;
  /** Of the kernel's substeps, s. */
  private readonly h: number;

  constructor(views: Views, layout: SimLayout, body: number) {
    const { first, count, triangles } = readSurface(views, layout.x, body);
    this.body = body;
    this.closed = layout.bodies[body]!.kind === "soft";
    this.triangles = Uint32Array.from(triangles);
    [this.x, this.v, this.w] = [new Float64Array(3 * count), new Float64Array(3 * count), new Float64Array(count)];
    [this.change, this.added] = [new Float64Array(3 * count), new Float64Array(count)];
    this.views = views;
    this.acceleration = 4 * first;
    this.h = 1 / (layout.tickHz * layout.substeps);
    [this.place, this.speed] = [layout.x / 4 + 4 * first, layout.v / 4 + 4 * first];
  }

  /** A tick begins: masses are the body's own. */
  begin(): void {
    this.readParticles();
    for (let i = 0; i < this.w.length; i++) this.w[i] = this.views.f32[this.place + 4 * i + 3]!;
    this.change.fill(0);
  }

  /** After one of the kernel's substeps. */
  read(): void {
    const { v, change } = this;
    change.set(v);
    this.readParticles();
    for (let k = 0; k < v.length; k++) change[k] = v[k]! - change[k]!;
  }

  /** Where it will be: the kernel moves its particles in its own time. @param h s */
  advance(h: number): void {
    for (let k = 0; k < this.x.length; k++) this.x[k]! += h * this.v[k]!;
    this.change.fill(0);
  }

  /** Before one of the kernel's substeps: masses with what moves along, which has its weight for itself. */
  write(): void {
    const { f32, i32 } = this.views;
    const { v, w, added, place, speed, h } = this;
    const acc = i32[(L.HEADER + L.H_ACC) / 4]! / 4 + this.acceleration;
    for (let i = 0; i < w.length; i++) {
      const own = w[i]! > 0 ? 1 / w[i]! : 0;
      const all = own + added[i]!;
      const part = own > 0 ? (h * added[i]!) / all : 0;
      for (let r = 0; r < 3; r++) f32[speed + 4 * i + r] = v[3 * i + r]! - part * f32[acc + 4 * i + r]!;
      f32[place + 4 * i + 3] = own > 0 ? 1 / all : 0;
    }
  }

  /** The tick ends: velocities and masses are the body's own again. */
  end(): void {
    const { f32 } = this.views;
    const { v, w, place, speed } = this;
    for (let i = 0; i < w.length; i++) {
      for (let r = 0; r < 3; r++) f32[speed + 4 * i + r] = v[3 * i + r]!;
      f32[place + 4 * i + 3] = w[i]!;
    }
  }

  private readParticles(): void {
    const { f32 } = this.views;
    const { x, v, w, place, speed } = this;
    for (let i = 0; i < w.length; i++)
      for (let r = 0; r < 3; r++) {
        x[3 * i + r] = f32[place + 4 * i + r]!;
        v[3 * i + r] = f32[speed + 4 * i + r]!;
      }
  }
}
