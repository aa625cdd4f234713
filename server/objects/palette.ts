/**
 * The palette: spawnable primitives that a room's scene gets when its owner asks for them. Scenes do not reserve them
 * in advance, so a room without a palette costs nothing more.
 *
 *     scene, box around it -> the scene with a pool of spawnable bodies beside it, as many as fit into its budget
 */
import { CodedError } from "../../shared/errorCodes.ts";
import { frictionOf, rigidMaterial, sheetMaterial, solidMaterial } from "../../shared/scene/objectRoles.ts";
import type { PresetName } from "../../shared/scene/materialPresets.ts";
import type { Body, Look, MeshSource, Scene, Vec3 } from "../../shared/scene/scene.ts";
import { SceneError } from "../../shared/scene/sceneError.ts";
import { validateScene } from "../../shared/scene/sceneValidator.ts";

/** Number of primitives of each kind, by the largest number of streamed particles that the scene may have. */
const POOLS: readonly { particles: number; each: number }[] = [
  { particles: 8_000, each: 4 },
  { particles: 20_000, each: 2 },
];
const MOST_BODIES = 256;
/** Size of a primitive, relative to the longest side of the scene's bodies, and its limits, m. */
const SIZE = { part: 0.2, least: 0.04, most: 0.3 };
/** Places of the primitives at rest, in sizes: distance to the scene, distance in a row, and the rows. */
const APART = { first: 1.6, next: 1.4, rows: [-1.4, 0, 1.4, 3.4] } as const;
/** Edge of the sheet, in sizes, and its cells. */
const SHEET = { edge: 2.5, cells: 20 };

interface Primitive {
  shape: "box" | "block" | "ball" | "sheet";
  material: PresetName;
  look: Look;
}

/** Boxes of the palette, the most important first: a small pool has the most different materials. */
const BOXES: readonly Primitive[] = [
  { shape: "box", material: "jelly", look: { color: "#d1495b", finish: "jelly" } },
  { shape: "box", material: "rubber", look: { color: "#3f7cac", finish: "rubber" } },
  { shape: "box", material: "foam", look: { color: "#edae49", finish: "foam" } },
  { shape: "box", material: "clay", look: { color: "#9c6644", finish: "clay" } },
];
const BLOCKS: readonly Primitive[] = [
  { shape: "block", material: "steel", look: { color: "#8d99ae", finish: "metal" } },
  { shape: "block", material: "foam", look: { color: "#66a182" } },
  { shape: "block", material: "rubber", look: { color: "#7a5c99", finish: "rubber" } },
  { shape: "block", material: "clay", look: { color: "#c8553d", finish: "clay" } },
];
const BALLS: readonly Primitive[] = BLOCKS.map(({ material, look }) => ({ shape: "ball", material, look }));
const SHEETS: readonly Primitive[] = [
  { shape: "sheet", material: "cotton", look: { color: "#f4e9d8", backColor: "#c9ada7" } },
];

/** A scene that gets a palette. */
export interface PaletteBase {
  scene: Scene;
  /** Box around the scene's bodies and colliders, m. */
  low: Vec3;
  high: Vec3;
  /** Longest side of the box around its bodies alone, m. */
  extent: number;
  /** Streamed particles of the scene. */
  particles: number;
  /** m */
  worldRadius: number;
}

/** Name of a primitive, as members see it and as the page translates it. */
const nameOf = ({ shape, material }: Primitive): string => `${material} ${shape}`;

const isPrimitive = ({ name, spawnable }: Body): boolean =>
  spawnable === true && [...BOXES, ...BLOCKS, ...BALLS, ...SHEETS].some((primitive) => nameOf(primitive) === name);

/** True if the scene has a palette already. */
export const hasPalette = ({ bodies }: Scene): boolean => bodies.some(isPrimitive);

/** @throws CodedError NO_PALETTE: the scene is too large, or its bodies cannot share a room with the primitives */
export function paletteScene({ scene, low, high, extent, particles, worldRadius }: PaletteBase): Scene {
  const pool = POOLS.find((one) => particles <= one.particles);
  if (!pool)
    throw new CodedError("NO_PALETTE", { field: "particles", value: particles, limit: POOLS.at(-1)!.particles });
  const size = rounded(Math.min(SIZE.most, Math.max(SIZE.least, SIZE.part * extent)));
  const kinds = [BOXES, BLOCKS, BALLS].map((kind) => kind.slice(0, pool.each));
  const primitives = [...kinds, SHEETS].flatMap((row, r) =>
    row.map((primitive, n) => bodyOf(primitive, size, { low, high, row: r, n })),
  );
  if (scene.bodies.length + primitives.length > MOST_BODIES)
    throw new CodedError("NO_PALETTE", { field: "bodies", value: scene.bodies.length, limit: MOST_BODIES });
  const reach =
    Math.max(...primitives.map(({ transform }) => Math.hypot(...transform!.translate!))) + SHEET.edge * size;
  if (reach > worldRadius)
    throw new CodedError("NO_PALETTE", { field: "worldRadius", value: worldRadius, limit: `at least ${reach} m` });
  try {
    const bodies = scene.bodies.map((body) => passing(body, primitives));
    return validateScene({ ...scene, bodies: [...bodies, ...primitives] });
  } catch (error) {
    if (!(error instanceof SceneError)) throw error;
    const { path, value, limit } = error;
    throw new CodedError("NO_PALETTE", { field: path.slice(1), value, limit }, error.message);
  }
}

/**
 * Primitives pass through bodies of a method: to meet them, it would step as often as the scene has substeps
 * (server/sim/methods/joins.ts). Smoothed particles meet compliant ones.
 */
function passing<B extends Body>(body: B, primitives: readonly Body[]): B {
  if (!("method" in body) || !body.method) return body;
  const isMet = ({ kind, material }: Body): boolean =>
    body.method!.type === "smoothed-particles" && kind !== "ball" && !("mode" in material);
  const ignored = primitives.flatMap((primitive) => (isMet(primitive) ? [] : [primitive.name]));
  return { ...body, contact: { ...body.contact, ignore: [...(body.contact?.ignore ?? []), ...ignored] } };
}

interface Place {
  low: Vec3;
  high: Vec3;
  row: number;
  n: number;
}

/** Describes a primitive. Primitives lie in rows beside the scene, where none meets another, until a spawn. */
function bodyOf(primitive: Primitive, size: number, { low, high, row, n }: Place): Body {
  const { shape, material, look } = primitive;
  const translate = [
    high[0] + (APART.first + APART.next * n) * size,
    low[1] + size,
    0.5 * (low[2] + high[2]) + APART.rows[row]! * size,
  ].map(rounded) as Vec3;
  const common = { name: nameOf(primitive), spawnable: true, transform: { translate }, look } as const;
  if (shape === "sheet") {
    const edge = rounded(SHEET.edge * size);
    const mesh: Extract<MeshSource, { type: "grid" }> = {
      type: "grid",
      size: [edge, edge],
      cells: [SHEET.cells, SHEET.cells],
    };
    return { ...common, kind: "cloth", mesh, material: sheetMaterial(material)! };
  }
  if (shape === "ball") {
    const { density } = rigidMaterial(material);
    const mesh = { type: "ball", radius: rounded(0.5 * size), subdivisions: 2 } as const;
    return { ...common, kind: "ball", mesh, material: { density, friction: frictionOf(material) } };
  }
  const cells: [number, number, number] = shape === "block" ? [2, 2, 2] : [3, 3, 3];
  const solid = shape === "block" ? rigidMaterial(material) : solidMaterial(material)!;
  return { ...common, kind: "soft", mesh: { type: "box", size: [size, size, size], cells }, material: solid };
}

const rounded = (value: number): number => Number(value.toPrecision(3));
