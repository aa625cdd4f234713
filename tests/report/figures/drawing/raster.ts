/**
 * A small software rasterizer: triangles, z-buffer, smooth shading from both sides, a grid on the ground and the shadow
 * of the bodies on it. It needs no browser and no graphics driver, and gives the same bytes on every machine. For
 * antialiasing it draws SUPERSAMPLING times as large in both directions and averages.
 *
 *   meshes -> vertex normals -> camera space -> clip at the near plane -> z-buffer of color -> average -> PNG
 *
 * A picture of 640 x 420 with 50,000 triangles takes about 0.3 s.
 */
import { encode } from "fast-png";
import { vertexNormalsInto } from "../../../../shared/skinning/index.ts";

export type Color = readonly [number, number, number];
type Vec = readonly [number, number, number];

export interface RasterMesh {
  /** float[3N] m */
  positions: ArrayLike<number>;
  /** uint32[3T] counterclockwise from outside */
  triangles: ArrayLike<number>;
  /** components 0 to 1; one color per particle draws a field on the body */
  color: Color | readonly Color[];
  /** Color of a cloth's other side. */
  backColor?: Color;
  /** Draw the edges of the triangles. */
  edges?: boolean;
}

export interface RasterScene {
  meshes: readonly RasterMesh[];
  camera: { position: Vec; target: Vec /** vertical field of view, degrees, default 35 */; fov?: number };
  /** Height of the ground; absent: none. */
  ground?: number;
  /** pixels */
  width: number;
  height: number;
}

const SUPERSAMPLING = 3;
/** Direction to the key light, over the left shoulder of a camera that looks along -z. */
const LIGHT: Vec = unit([-0.45, 0.8, 0.55]);
const SKY_TOP: Color = [0.86, 0.89, 0.93];
const SKY_BOTTOM: Color = [0.97, 0.975, 0.98];
const GROUND: Color = [0.93, 0.94, 0.95];
const LINE: Color = [0.72, 0.75, 0.79];

/** Renders a scene to a PNG file. */
export function render(scene: RasterScene): Uint8Array {
  const { width, height } = scene;
  return encode({
    width,
    height,
    channels: 3,
    depth: 8,
    data: averaged(draw(scene, width * SUPERSAMPLING, height * SUPERSAMPLING), width, height),
  });
}

interface View {
  width: number;
  height: number;
  eye: Vec;
  right: Vec;
  up: Vec;
  /** from the eye to the target */
  forward: Vec;
  /** pixels per unit of x/z */
  focal: number;
}

function viewOf({ camera: { position, target, fov = 35 } }: RasterScene, width: number, height: number): View {
  const forward = unit(sub(target, position));
  const right = unit(cross(forward, Math.abs(forward[1]) > 0.999 ? [0, 0, -1] : [0, 1, 0]));
  return {
    width,
    height,
    eye: position,
    right,
    up: cross(right, forward),
    forward,
    focal: height / 2 / Math.tan((fov * Math.PI) / 360),
  };
}

/** float32[3*width*height] colors of the enlarged picture. */
function draw(scene: RasterScene, width: number, height: number): Float32Array {
  const view = viewOf(scene, width, height);
  const color = new Float32Array(3 * width * height);
  const depth = new Float32Array(width * height).fill(Infinity);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++)
      for (let c = 0; c < 3; c++) color[at++] = SKY_TOP[c]! + (SKY_BOTTOM[c]! - SKY_TOP[c]!) * (y / height);
  }
  if (scene.ground !== undefined) {
    drawGround(view, color, depth, scene.ground, gridFor(scene));
    drawShadow(view, color, depth, scene);
  }
  for (const mesh of scene.meshes) drawMesh(view, color, depth, mesh);
  return color;
}

function drawMesh(view: View, color: Float32Array, depth: Float32Array, mesh: RasterMesh): void {
  const { positions, triangles } = mesh;
  const normals = new Float64Array(positions.length);
  vertexNormalsInto(positions, triangles, normals);
  const shared = typeof mesh.color[0] === "number" ? (mesh.color as Color) : undefined;
  const own = mesh.color as readonly Color[];
  const at3 = (a: ArrayLike<number>, p: number): Vec => [a[3 * p]!, a[3 * p + 1]!, a[3 * p + 2]!];
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
    const A = at3(positions, a);
    const facing = dot(cross(sub(at3(positions, b), A), sub(at3(positions, c), A)), sub(A, view.eye)) < 0;
    const base = facing || !mesh.backColor ? undefined : mesh.backColor;
    const corners = [a, b, c].map((p) => {
      const position = at3(positions, p);
      const n = at3(normals, p);
      return {
        position,
        data: [...shade(facing ? n : [-n[0], -n[1], -n[2]], unit(sub(view.eye, position)), base ?? shared ?? own[p]!)],
      };
    });
    fill(view, corners, (pixel, z, data, edge) => {
      if (z >= depth[pixel]!) return;
      depth[pixel] = z;
      const dark = mesh.edges && edge < 0.35 * SUPERSAMPLING ? 0.55 : 1;
      for (let k = 0; k < 3; k++) color[3 * pixel + k] = data[k]! * dark;
    });
  }
}

/** Key light, light from the sky and from the ground, and a little rim light. */
function shade(n: Vec, toEye: Vec, base: Color): Color {
  const key = Math.max(0, dot(n, LIGHT));
  const sky = 0.5 + 0.5 * n[1];
  const half = unit([LIGHT[0] + toEye[0], LIGHT[1] + toEye[1], LIGHT[2] + toEye[2]]);
  const shine = 0.18 * Math.max(0, dot(n, half)) ** 24;
  const light = 0.32 + 0.28 * sky + 0.55 * key;
  return [base[0] * light + shine, base[1] * light + shine, base[2] * light + shine];
}

interface Corner {
  position: Vec;
  /** interpolated over the triangle */
  data: number[];
}

/**
 * Calls `paint` for every pixel of a triangle: pixel, distance, perspective-correct data, and the distance to the
 * nearest edge in pixels.
 */
function fill(
  view: View,
  world: Corner[],
  paint: (pixel: number, z: number, data: number[], edge: number) => void,
): void {
  const near = (1e-4 * view.height) / view.focal;
  const inView = world.map(({ position, data }) => {
    const d = sub(position, view.eye);
    return { p: [dot(d, view.right), dot(d, view.up), dot(d, view.forward)] as Vec, data };
  });
  if (inView.every(({ p }) => p[2] > near)) return fillClipped(view, inView, paint);
  // a plane cuts a triangle to at most four corners
  const kept: typeof inView = [];
  inView.forEach((a, i) => {
    const b = inView[(i + 1) % 3]!;
    if (a.p[2] > near) kept.push(a);
    if (a.p[2] > near !== b.p[2] > near) {
      const t = (near * 1.0001 - a.p[2]) / (b.p[2] - a.p[2]);
      const mix = (u: number, v: number): number => u + t * (v - u);
      kept.push({
        p: [mix(a.p[0], b.p[0]), mix(a.p[1], b.p[1]), near * 1.0001],
        data: a.data.map((u, k) => mix(u, b.data[k]!)),
      });
    }
  });
  for (let k = 2; k < kept.length; k++) fillClipped(view, [kept[0]!, kept[k - 1]!, kept[k]!], paint);
}

function fillClipped(
  view: View,
  [a, b, c]: { p: Vec; data: number[] }[],
  paint: (pixel: number, z: number, data: number[], edge: number) => void,
): void {
  const [A, B, C] = [a!, b!, c!].map(
    ({ p }) =>
      [view.width / 2 + (view.focal * p[0]) / p[2], view.height / 2 - (view.focal * p[1]) / p[2], 1 / p[2]] as Vec,
  ) as [Vec, Vec, Vec];
  const area = (B[0] - A[0]) * (C[1] - A[1]) - (B[1] - A[1]) * (C[0] - A[0]);
  if (!(Math.abs(area) > 1e-12)) return;
  const sides = [
    Math.hypot(C[0] - B[0], C[1] - B[1]),
    Math.hypot(A[0] - C[0], A[1] - C[1]),
    Math.hypot(B[0] - A[0], B[1] - A[1]),
  ];
  const low = (k: 0 | 1): number => Math.max(0, Math.ceil(Math.min(A[k], B[k], C[k]) - 0.5));
  const high = (k: 0 | 1, limit: number): number => Math.min(limit - 1, Math.floor(Math.max(A[k], B[k], C[k]) - 0.5));
  const x0 = low(0);
  const x1 = high(0, view.width);
  const y1 = high(1, view.height);
  const data = new Array<number>(a!.data.length).fill(0);
  for (let y = low(1); y <= y1; y++) {
    for (let x = x0; x <= x1; x++) {
      const px = x + 0.5;
      const py = y + 0.5;
      const wa = ((B[0] - px) * (C[1] - py) - (B[1] - py) * (C[0] - px)) / area;
      const wb = ((C[0] - px) * (A[1] - py) - (C[1] - py) * (A[0] - px)) / area;
      const wc = 1 - wa - wb;
      if (wa < 0 || wb < 0 || wc < 0) continue;
      const inverse = wa * A[2] + wb * B[2] + wc * C[2];
      const ua = (wa * A[2]) / inverse;
      const ub = (wb * B[2]) / inverse;
      const uc = (wc * C[2]) / inverse;
      for (let k = 0; k < data.length; k++) data[k] = ua * a!.data[k]! + ub * b!.data[k]! + uc * c!.data[k]!;
      paint(
        y * view.width + x,
        1 / inverse,
        data,
        Math.abs(area) * Math.min(wa / sides[0]!, wb / sides[1]!, wc / sides[2]!),
      );
    }
  }
}

function drawGround(view: View, color: Float32Array, depth: Float32Array, ground: number, grid: number): void {
  for (let y = 0; y < view.height; y++) {
    for (let x = 0; x < view.width; x++) {
      const u = (x + 0.5 - view.width / 2) / view.focal;
      const v = (view.height / 2 - y - 0.5) / view.focal;
      const ray = [0, 1, 2].map((k) => view.forward[k]! + u * view.right[k]! + v * view.up[k]!) as unknown as Vec;
      const t = (ground - view.eye[1]) / ray[1];
      if (!(t > 0)) continue;
      const pixel = y * view.width + x;
      const footprint = (t / view.focal) * (1 + Math.abs(ray[1]) ** -1) * 0.5;
      const toLine = (at: number): number => Math.abs(at / grid - Math.round(at / grid)) * grid;
      const near = Math.min(toLine(view.eye[0] + t * ray[0]), toLine(view.eye[2] + t * ray[2]));
      // lines fade where they are less than some pixels apart, and the ground fades into the sky
      const line = near < 1.2 * footprint ? Math.max(0, Math.min(1, grid / footprint / 40)) : 0;
      const fade = Math.min(1, (60 * grid) / t) ** 2;
      depth[pixel] = t;
      for (let k = 0; k < 3; k++)
        color[3 * pixel + k] =
          color[3 * pixel + k]! * (1 - fade) + fade * (GROUND[k]! + line * (LINE[k]! - GROUND[k]!));
    }
  }
}

/**
 * Darkens the ground where a triangle, projected along the light, meets it. Runs before the bodies are drawn, so the
 * depth buffer holds only the ground.
 */
function drawShadow(view: View, color: Float32Array, depth: Float32Array, scene: RasterScene): void {
  const ground = scene.ground!;
  const dark = new Uint8Array(depth.length);
  for (const { positions, triangles } of scene.meshes) {
    for (let t = 0; t < triangles.length; t += 3) {
      const corners = [0, 1, 2].map((k) => {
        const p = 3 * triangles[t + k]!;
        const down = Math.max(0, positions[p + 1]! - ground) / LIGHT[1];
        return {
          position: [positions[p]! - down * LIGHT[0], ground, positions[p + 2]! - down * LIGHT[2]] as Vec,
          data: [],
        };
      });
      fill(view, corners, (pixel) => (dark[pixel] = 1));
    }
  }
  dark.forEach((is, pixel) => {
    if (is) for (let k = 0; k < 3; k++) color[3 * pixel + k]! *= 0.84;
  });
}

/** About a tenth of the picture's width at the target: 1, 2 or 5 times a power of ten, m. */
function gridFor({ camera: { position, target, fov = 35 } }: RasterScene): number {
  const wide = 0.2 * Math.hypot(...sub(target, position)) * Math.tan((fov * Math.PI) / 360);
  const power = 10 ** Math.floor(Math.log10(wide));
  return [1, 2, 5, 10].map((m) => m * power).find((g) => g >= wide)!;
}

function averaged(color: Float32Array, width: number, height: number): Uint8Array {
  const out = new Uint8Array(3 * width * height);
  const n = SUPERSAMPLING;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let k = 0; k < 3; k++) {
        let sum = 0;
        for (let j = 0; j < n; j++)
          for (let i = 0; i < n; i++) sum += Math.min(1, color[3 * ((y * n + j) * width * n + x * n + i) + k]!);
        out[3 * (y * width + x) + k] = Math.round((255 * sum) / (n * n));
      }
    }
  }
  return out;
}

function sub(a: Vec, b: Vec): Vec {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function dot(a: Vec, b: Vec): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: Vec, b: Vec): Vec {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function unit(a: Vec): Vec {
  const length = Math.hypot(...a);
  return length > 0 ? [a[0] / length, a[1] / length, a[2] / length] : [0, 1, 0];
}
