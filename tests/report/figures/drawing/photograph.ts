/**
 * Pictures of worlds: the current bodies of a laboratory in their looks, with their detail meshes and upright
 * funnels (raster.ts draws).
 */
import type { Collider } from "../../../../shared/scene/scene.ts";
import { attachDetail, createSkin, evaluateSkinInto } from "../../../../shared/skinning/index.ts";
import type { BodyTemplate } from "../../../../server/sim/body/template.ts";
import type { Laboratory } from "../../../physics/laboratory.ts";
import type { Picture } from "../figure.ts";
import { render, type Color, type RasterMesh, type RasterScene } from "./raster.ts";

/** Distinguishable in print, too. */
export const COLORS: readonly Color[] = [
  [0.16, 0.47, 0.71],
  [0.85, 0.45, 0.13],
  [0.22, 0.6, 0.42],
  [0.7, 0.32, 0.53],
  [0.55, 0.49, 0.2],
  [0.4, 0.4, 0.45],
];
const COLLIDER: Color = [0.62, 0.64, 0.67];

type Funnel = Extract<Collider, { type: "funnel" }>;

export interface Photograph {
  caption: string;
  /** Direction of the camera, relative to the bodies; default from the front, a little above. */
  from?: readonly [number, number, number];
  /** A fixed camera, instead of `from`. */
  camera?: RasterScene["camera"];
  /** Height of the ground; null: none. Default the lowest point. */
  ground?: number | null;
  edges?: boolean;
  colors?: readonly (Color | readonly Color[])[];
  /** Upright. */
  funnels?: readonly Funnel[];
  width?: number;
  height?: number;
}

/** Picture of a world's current state. */
export function photograph(lab: Laboratory, options: Photograph): Picture {
  const bodies = lab.created.bodies.map((body, b) =>
    bodyMesh(body, lab.positions(b), {
      ...options,
      color: options.colors?.[b] ?? hexColor(body.look.color) ?? COLORS[b % COLORS.length]!,
    }),
  );
  return photographMeshes(bodies, options);
}

/** Picture of meshes: comparisons, references, rest shapes. */
export function photographMeshes(bodies: readonly RasterMesh[], options: Photograph): Picture {
  const meshes = [...bodies, ...(options.funnels ?? []).map(halfFunnel)];
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const { positions } of meshes) {
    for (let i = 0; i < positions.length; i++) {
      low[i % 3] = Math.min(low[i % 3]!, positions[i]!);
      high[i % 3] = Math.max(high[i % 3]!, positions[i]!);
    }
  }
  const ground = options.ground === undefined ? low[1]! : options.ground;
  const { width = 640, height = 420 } = options;
  return {
    caption: options.caption,
    png: render({
      meshes,
      camera: options.camera ?? fit(meshes, options, low, high, width / height),
      ...(ground !== null && { ground }),
      width,
      height,
    }),
  };
}

/**
 * Mesh of a body for the rasterizer.
 * @param positions float64[3N] m, all particles
 */
export function bodyMesh(
  body: BodyTemplate,
  positions: ArrayLike<number>,
  { color, edges }: { color: Color | readonly Color[]; edges?: boolean },
): RasterMesh {
  const surface = Float64Array.from({ length: 3 * body.streamedCount }, (_, i) => positions[i]!);
  const back = hexColor(body.look.backColor);
  const look = { color, ...(back && { backColor: back }), ...(edges && { edges }) };
  if (!body.detail) return { positions: surface, triangles: body.triangles, ...look };
  const rest = body.positions.subarray(0, 3 * body.streamedCount);
  const { triangle, coords } = attachDetail({ positions: rest, triangles: body.triangles }, body.detail.positions);
  const skin = createSkin({
    rest,
    triangles: body.triangles,
    detailTriangles: body.detail.triangles,
    attachTriangle: triangle,
    attachCoords: coords,
  });
  const out = new Float32Array(body.detail.positions.length);
  const normals = new Float32Array(out.length);
  evaluateSkinInto(skin, surface, out, normals);
  return { positions: out, triangles: body.detail.triangles, ...look };
}

/** The far half of an upright funnel, so that its inside is visible. */
function halfFunnel({ a, b, radiusA, radiusB, look }: Funnel): RasterMesh {
  const steps = 32;
  const rings = Array.from(
    { length: steps + 1 },
    (_, i) => [Math.cos((Math.PI * i) / steps), -Math.sin((Math.PI * i) / steps)] as const,
  );
  const positions = rings.flatMap(([c, s]) => [
    a[0] + radiusA * c,
    a[1],
    a[2] + radiusA * s,
    b[0] + radiusB * c,
    b[1],
    b[2] + radiusB * s,
  ]);
  return {
    positions,
    triangles: rings.slice(1).flatMap((_, i) => [2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 1, 2 * i + 3, 2 * i + 2]),
    color: hexColor(look?.color) ?? COLLIDER,
  };
}

/** Finds the distance at which everything just fits, for a camera of given direction. */
function fit(
  meshes: readonly RasterMesh[],
  { from = [0.5, 0.45, 1] }: Photograph,
  low: number[],
  high: number[],
  aspect: number,
): RasterScene["camera"] {
  const fov = 30;
  const target = low.map((l, k) => (l + high[k]!) / 2) as [number, number, number];
  const length = Math.hypot(...from);
  const d = from.map((v) => v / length) as [number, number, number];
  const sideways = [d[2], 0, -d[0]].map((v) => v / (Math.hypot(d[0], d[2]) || 1));
  const up = [
    d[1] * sideways[2]! - d[2] * sideways[1]!,
    d[2] * sideways[0]! - d[0] * sideways[2]!,
    d[0] * sideways[1]! - d[1] * sideways[0]!,
  ];
  const tan = 0.85 * Math.tan((fov * Math.PI) / 360);
  let distance = 0;
  for (const { positions } of meshes) {
    for (let i = 0; i < positions.length; i += 3) {
      const p = [0, 1, 2].map((k) => positions[i + k]! - target[k]!);
      const toward = p[0]! * d[0] + p[1]! * d[1] + p[2]! * d[2];
      const across = Math.abs(p[0]! * sideways[0]! + p[2]! * sideways[2]!) / aspect;
      const along = Math.abs(p[0]! * up[0]! + p[1]! * up[1]! + p[2]! * up[2]!);
      distance = Math.max(distance, toward + Math.max(across, along) / tan);
    }
  }
  return { position: target.map((t, k) => t + distance * d[k]!) as [number, number, number], target, fov };
}

function hexColor(hex: string | undefined): Color | undefined {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(hex ?? "");
  return match ? (match.slice(1).map((part) => parseInt(part, 16) / 255) as unknown as Color) : undefined;
}
