/**
 * Software rasterizer for small pictures: triangles with a depth buffer and Gouraud shading. Each pixel is the mean of
 * SAMPLES x SAMPLES samples. Light is added linearly and converted to sRGB at the end.
 */
import { axesOf } from "../../shared/geometry/framing.ts";
import type { Vec3 } from "../../shared/scene/scene.ts";

/** Samples along either side of a pixel. */
const SAMPLES = 2;
/** Near plane: closer surfaces are not drawn, m. */
const NEAR = 1e-3;
/** Blur radius of a shadow's edge, pixels. */
const SOFT = 2;

export interface View {
  eye: Vec3;
  target: Vec3;
  /** Tangent of half the vertical field of view. */
  tanY: number;
}

/** Light that leaves a surface, linear RGB from 0. */
export type Shade = (normal: Vec3, out: Float32Array, at: number) => void;

export interface Surface {
  /** float[3n] m */
  positions: ArrayLike<number>;
  /** float[3n], unit: smooth normals. */
  normals: ArrayLike<number>;
  /** uint32[3t] */
  triangles: ArrayLike<number>;
  front: Shade;
  back: Shade;
  /**
   * Cosine of the crease angle: corners whose smooth normal differs more from the face's use the face's normal; -1:
   * none.
   */
  crease: number;
}

export class Raster {
  readonly width: number;
  readonly height: number;
  /** Size in samples. */
  readonly #columns: number;
  readonly #rows: number;
  readonly #depth: Float32Array;
  readonly #light: Float32Array;
  readonly #shadow: Uint8Array;
  readonly #view: View;
  /** Camera axes: right, up, back. `#offset` is the eye's position along each. */
  readonly #axes: readonly [Vec3, Vec3, Vec3];
  readonly #offset: Vec3;
  /** Samples per unit of x / depth. */
  readonly #scale: number;

  constructor(width: number, height: number, view: View) {
    this.width = width;
    this.height = height;
    this.#view = view;
    this.#columns = SAMPLES * width;
    this.#rows = SAMPLES * height;
    const count = this.#columns * this.#rows;
    // Inverse depth: 0 is infinitely far, and it is linear on the screen.
    this.#depth = new Float32Array(count);
    this.#light = new Float32Array(3 * count);
    this.#shadow = new Uint8Array(count);
    const { right, up, back } = axesOf(minus(view.eye, view.target));
    this.#axes = [right, up, back];
    this.#offset = [dot(right, view.eye), dot(up, view.eye), dot(back, view.eye)];
    this.#scale = this.#rows / (2 * view.tanY);
  }

  draw({ positions, normals, triangles, front, back, crease }: Surface): void {
    const screen = this.#project(positions);
    const lights = new Float32Array(9);
    const normal: Vec3 = [0, 0, 0];
    for (let t = 0; t < triangles.length; t += 3) {
      const corners = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!] as const;
      const area = signedArea(screen, corners);
      // NaN, edge-on, or a corner behind the eye
      if (!(area !== 0)) continue;
      const sign = area > 0 ? 1 : -1;
      const face = faceNormal(positions, corners);
      corners.forEach((corner, k) => {
        for (let r = 0; r < 3; r++) normal[r] = normals[3 * corner + r]!;
        const own = dot(normal, face) >= crease ? normal : face;
        (sign > 0 ? front : back)([sign * own[0], sign * own[1], sign * own[2]], lights, 3 * k);
      });
      this.#fill(screen, corners, area, (at, depth, u, v, w) => {
        if (depth <= this.#depth[at]!) return;
        this.#depth[at] = depth;
        for (let c = 0; c < 3; c++) this.#light[3 * at + c] = u * lights[c]! + v * lights[3 + c]! + w * lights[6 + c]!;
      });
    }
  }

  /**
   * Casts a shadow on a horizontal floor. Call it after everything is drawn; a floor that is seen from below gets none.
   * @param light unit direction towards the light, upwards
   * @param floor height, m
   */
  shadow({ positions, triangles }: Pick<Surface, "positions" | "triangles">, light: Vec3, floor: number): void {
    if (this.#view.eye[1] <= floor) return;
    const flat = new Float32Array(positions.length);
    for (let i = 0; i < flat.length; i += 3) {
      // Points below the floor cast no shadow.
      const along = positions[i + 1]! < floor ? Number.NaN : (positions[i + 1]! - floor) / light[1];
      flat[i] = positions[i]! - along * light[0];
      flat[i + 1] = floor;
      flat[i + 2] = positions[i + 2]! - along * light[2];
    }
    const screen = this.#project(flat);
    for (let t = 0; t < triangles.length; t += 3) {
      const corners = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!] as const;
      const area = signedArea(screen, corners);
      if (!(area !== 0)) continue;
      // Also behind objects in front of it: otherwise the blurred shadow would leave a bright rim around them.
      this.#fill(screen, corners, area, (at) => {
        this.#shadow[at] = 1;
      });
    }
  }

  /**
   * Returns uint8[4 * width * height], sRGB and straight opacity: surfaces and their shadow on a transparent
   * background.
   * @param shade color of full shadow: sRGB, and its opacity from 0 to 1
   */
  pixels(shade: { color: readonly [number, number, number]; opacity: number }): Uint8Array {
    const { width, height } = this;
    const shadow = softened(this.#averaged(this.#shadow), width, height);
    const out = new Uint8Array(4 * width * height);
    const sum = [0, 0, 0];
    for (let pixel = 0; pixel < width * height; pixel++) {
      sum.fill(0);
      let covered = 0;
      for (let sample = 0; sample < SAMPLES ** 2; sample++) {
        const at = this.#sampleOf(pixel, sample);
        if (this.#depth[at] === 0) continue;
        covered += 1;
        for (let c = 0; c < 3; c++) sum[c]! += this.#light[3 * at + c]!;
      }
      const solid = covered / SAMPLES ** 2;
      const dark = (1 - solid) * shade.opacity * shadow[pixel]!;
      const alpha = solid + dark;
      if (alpha === 0) continue;
      for (let c = 0; c < 3; c++) {
        const own = covered === 0 ? 0 : srgbOf(sum[c]! / covered);
        out[4 * pixel + c] = Math.round((solid * own + dark * shade.color[c]!) / alpha);
      }
      out[4 * pixel + 3] = Math.round(255 * alpha);
    }
    return out;
  }

  /** Returns float32[3n]: column, row, inverse depth; NaN behind the eye. */
  #project(positions: ArrayLike<number>): Float32Array {
    const out = new Float32Array(positions.length);
    const [right, up, back] = this.#axes;
    const [x0, y0, z0] = this.#offset;
    for (let i = 0; i < out.length; i += 3) {
      const x = positions[i]!;
      const y = positions[i + 1]!;
      const z = positions[i + 2]!;
      const depth = z0 - (x * back[0] + y * back[1] + z * back[2]);
      const inverse = depth > NEAR ? 1 / depth : Number.NaN;
      const scale = this.#scale * inverse;
      out[i] = 0.5 * this.#columns + scale * (x * right[0] + y * right[1] + z * right[2] - x0);
      out[i + 1] = 0.5 * this.#rows - scale * (x * up[0] + y * up[1] + z * up[2] - y0);
      out[i + 2] = inverse;
    }
    return out;
  }

  /** Visits every sample whose center lies in the triangle, with its barycentric coordinates. */
  #fill(
    screen: Float32Array,
    [a, b, c]: readonly [number, number, number],
    area: number,
    paint: (at: number, depth: number, u: number, v: number, w: number) => void,
  ): void {
    const [ax, ay, az] = [screen[3 * a]!, screen[3 * a + 1]!, screen[3 * a + 2]!];
    const [bx, by, bz] = [screen[3 * b]!, screen[3 * b + 1]!, screen[3 * b + 2]!];
    const [cx, cy, cz] = [screen[3 * c]!, screen[3 * c + 1]!, screen[3 * c + 2]!];
    const left = Math.max(0, Math.ceil(Math.min(ax, bx, cx) - 0.5));
    const right = Math.min(this.#columns - 1, Math.floor(Math.max(ax, bx, cx) - 0.5));
    const top = Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5));
    const bottom = Math.min(this.#rows - 1, Math.floor(Math.max(ay, by, cy) - 0.5));
    for (let row = top; row <= bottom; row++) {
      const y = row + 0.5;
      for (let column = left; column <= right; column++) {
        const x = column + 0.5;
        const u = ((cx - bx) * (y - by) - (cy - by) * (x - bx)) / -area;
        const v = ((ax - cx) * (y - cy) - (ay - cy) * (x - cx)) / -area;
        const w = 1 - u - v;
        if (u < 0 || v < 0 || w < 0) continue;
        paint(row * this.#columns + column, u * az + v * bz + w * cz, u, v, w);
      }
    }
  }

  /** @param sample index within the pixel, 0 to SAMPLES ** 2 - 1 */
  #sampleOf(pixel: number, sample: number): number {
    const column = SAMPLES * (pixel % this.width) + (sample % SAMPLES);
    const row = SAMPLES * Math.floor(pixel / this.width) + Math.floor(sample / SAMPLES);
    return row * this.#columns + column;
  }

  #averaged(samples: Uint8Array): Float32Array {
    return Float32Array.from({ length: this.width * this.height }, (_, pixel) => {
      let sum = 0;
      for (let sample = 0; sample < SAMPLES ** 2; sample++) sum += samples[this.#sampleOf(pixel, sample)]!;
      return sum / SAMPLES ** 2;
    });
  }
}

/** Twice the area on the screen, whose rows go down; positive when the front faces the eye. */
function signedArea(screen: Float32Array, [a, b, c]: readonly [number, number, number]): number {
  const ux = screen[3 * b]! - screen[3 * a]!;
  const uy = screen[3 * b + 1]! - screen[3 * a + 1]!;
  const vx = screen[3 * c]! - screen[3 * a]!;
  const vy = screen[3 * c + 1]! - screen[3 * a + 1]!;
  return uy * vx - ux * vy;
}

function faceNormal(positions: ArrayLike<number>, [a, b, c]: readonly [number, number, number]): Vec3 {
  const at = (corner: number): Vec3 => [positions[3 * corner]!, positions[3 * corner + 1]!, positions[3 * corner + 2]!];
  const origin = at(a);
  const u = minus(at(b), origin);
  const v = minus(at(c), origin);
  const normal: Vec3 = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  const length = Math.hypot(...normal) || 1;
  return [normal[0] / length, normal[1] / length, normal[2] / length];
}

/** Box blur: the mean over a square around each pixel, first along rows, then along columns. */
function softened(values: Float32Array, width: number, height: number): Float32Array {
  const along = (from: Float32Array, step: number, count: number, at: (pixel: number) => number): Float32Array =>
    from.map((_, pixel) => {
      const here = at(pixel);
      let sum = 0;
      for (let d = -SOFT; d <= SOFT; d++) if (here + d >= 0 && here + d < count) sum += from[pixel + d * step]!;
      return sum / (2 * SOFT + 1);
    });
  const rows = along(values, 1, width, (pixel) => pixel % width);
  return along(rows, width, height, (pixel) => Math.floor(pixel / width));
}

/** Converts linear light to sRGB, 0 to 255. */
function srgbOf(light: number): number {
  const value = Math.min(1, Math.max(0, light));
  return 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);
}

const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const minus = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
