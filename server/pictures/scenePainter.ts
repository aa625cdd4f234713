/**
 * Draws a scene as a small picture, from the initial view of the room's page: bodies with their detail meshes,
 * colliders, and the shadow on the floor, on a transparent background. The light is the page's, without effects that
 * need a GPU.
 */
import { float32Of, uint32Of } from "../../shared/bytes.ts";
import { CloudSurface } from "../../shared/geometry/cloudSurface.ts";
import { axesOf, frame, withSpace, type FreeArea } from "../../shared/geometry/framing.ts";
import type { MoverRow } from "../../shared/protocol/fromServer.ts";
import type { Vec3 } from "../../shared/scene/scene.ts";
import { createSkin, evaluateSkinInto, vertexNormalsInto, type Skin } from "../../shared/skinning/index.ts";
import type { Topology, TopologyBody } from "../../shared/topology.ts";
import { Raster, type Shade, type Surface } from "./raster.ts";
import { moved, solidOf, type Solid } from "./solids.ts";

/** Tangent of half the page's vertical field of view (client/view/stage/stage.ts). */
const TAN_Y = Math.tan((38 * Math.PI) / 360);
/**
 * Margin around fitted content. If a box filled the picture, the camera would be so close that only one side is
 * visible.
 */
const FREE: FreeArea = { left: -0.7, right: 0.7, bottom: -0.7, top: 0.7 };
/** Direction towards the light that casts the shadow, as in client/view/stage/studioLight.ts. */
const KEY = unit([0.55, 0.75, 0.4]);
const SHADE = { color: [74, 47, 30], opacity: 0.45 } as const;
/** Colors for bodies without one, by index, and for colliders; the same as in client/view. */
const COLORS = ["#e8835a", "#5b9bb0", "#e9b44c", "#9a7bb5", "#7fae74", "#d2647a"];
const PLASTER = "#e9e2d8";
/** Brightness of a body's inside relative to its outside. */
const INSIDE = 0.35;
/** A normal must face away this clearly (cosine) to show the inside: scans contain tiny flipped triangles. */
const AWAY = -0.2;
/** Edges sharper than this stay sharp; cosine between a corner's smooth normal and its face's. */
const CREASE = 0.88;

interface PaintedBody {
  index: number;
  body: TopologyBody;
  triangles: Uint32Array;
  skin: Skin | null;
  detail: Uint32Array | null;
}

export interface Moment {
  /** float32[3 * particles] m */
  positions: Float32Array;
  /** Indices of the spawnable bodies that are not in the scene. */
  absent: readonly number[];
  /** Simulated time since the room's first tick, s. */
  seconds: number;
  /** Displacements of moving colliders from their paths. */
  movers: readonly MoverRow[];
  /** Colors of the bodies that do not look as in the scene, #rrggbb. */
  colors: ReadonlyMap<number, string>;
}

export class ScenePainter {
  readonly #topology: Topology;
  readonly #bodies: PaintedBody[];
  readonly #solids: (Solid | null)[];
  /** Height of the highest horizontal plane; null: none. */
  readonly #floor: number | null;

  constructor(topology: Topology) {
    this.#topology = topology;
    this.#bodies = topology.bodies.map((body, index) => paintedBody(body, index));
    this.#solids = topology.colliders.map(solidOf);
    const floors = topology.colliders.flatMap((c) => (c.type === "plane" && c.normal[1] > 0.999 ? [c.offset] : []));
    this.#floor = floors.length > 0 ? Math.max(...floors) : null;
  }

  /** The scene's initial state. Spawnable bodies are shown only if the scene has no others. */
  get start(): Moment {
    const { bodies, particles } = this.#topology;
    const positions = new Float32Array(3 * particles);
    for (const { first, rest } of bodies) positions.set(float32Of(rest), 3 * first);
    const absent = bodies.flatMap(({ spawnable }, index) => (spawnable ? [index] : []));
    return {
      positions,
      absent: absent.length === bodies.length ? [] : absent,
      seconds: 0,
      movers: [],
      colors: new Map(),
    };
  }

  /** Returns uint8[4 * width * height], sRGB and straight opacity. */
  paint({ positions, absent, seconds, movers, colors }: Moment, width: number, height: number): Uint8Array {
    const shown = this.#bodies
      // A gas would hide what is in it.
      .filter(({ index, body }) => !absent.includes(index) && body.fluid?.type !== "gas")
      .map((painted) => ({ painted, points: pointsOf(painted.body, positions) }));
    const view = this.#view(
      shown.map(({ points }) => points),
      width / height,
    );
    const towards = axesOf([0, 1, 2].map((r) => view.eye[r]! - view.target[r]!) as Vec3).back;
    const surfaces = [
      ...this.#colliderSurfaces(seconds, movers, towards),
      ...shown.map(({ painted, points }) => bodySurface(painted, points, towards, colors.get(painted.index))),
    ];
    const raster = new Raster(width, height, view);
    for (const surface of surfaces) raster.draw(surface);
    if (this.#floor !== null) for (const surface of surfaces) raster.shadow(surface, KEY, this.#floor);
    return raster.pixels(SHADE);
  }

  #colliderSurfaces(seconds: number, movers: readonly MoverRow[], towards: Vec3): Surface[] {
    const moving = this.#topology.colliders.filter(({ motion }) => motion);
    return this.#solids.flatMap((solid, index) => {
      if (!solid) return [];
      const collider = this.#topology.colliders[index]!;
      const [, x, y, z] = movers.find(([mover]) => moving[mover] === collider) ?? [0, 0, 0, 0];
      const positions = moved(collider, solid.positions, seconds, [x, y, z]);
      const normals = positions === solid.positions ? solid.normals : new Float32Array(positions.length);
      if (normals !== solid.normals) vertexNormalsInto(positions, solid.triangles, normals);
      const shade = shadeOf(linear(collider.look?.color ?? PLASTER), towards);
      return [{ positions, normals, triangles: solid.triangles, front: shade, back: shade, crease: CREASE }];
    });
  }

  /** Returns the same view as the page: the scene's own camera, or one that fits all shown bodies. */
  #view(points: readonly Float32Array[], aspect: number): { eye: Vec3; target: Vec3; tanY: number } {
    const { position, target, fit, space } = this.#topology.camera;
    const all = new Float32Array(points.flatMap((list) => [...list])).filter(Number.isFinite);
    if (!fit || all.length === 0) return { eye: position, target, tanY: TAN_Y };
    const towards = position.map((p, r) => p - target[r]!) as Vec3;
    const framed = frame(withSpace(all, space), towards, { tanX: TAN_Y * aspect, tanY: TAN_Y }, FREE);
    return { eye: framed.position, target: framed.target, tanY: TAN_Y };
  }
}

function paintedBody(body: TopologyBody, index: number): PaintedBody {
  const { detail } = body;
  const triangles = uint32Of(body.triangles);
  const detailTriangles = detail ? uint32Of(detail.triangles) : null;
  return {
    index,
    body,
    triangles,
    detail: detailTriangles,
    skin:
      detail && detailTriangles
        ? createSkin({
            rest: float32Of(body.rest),
            triangles,
            detailTriangles,
            attachTriangle: uint32Of(detail.attachTriangle),
            attachCoords: float32Of(detail.attachCoords),
          })
        : null,
  };
}

const pointsOf = ({ first, count }: TopologyBody, positions: Float32Array): Float32Array =>
  positions.subarray(3 * first, 3 * (first + count));

/** @param given color of a member, #rrggbb; undefined: as in the scene */
function bodySurface(
  { index, body, triangles, skin, detail }: PaintedBody,
  points: Float32Array,
  towards: Vec3,
  given: string | undefined,
): Surface {
  const { look, kind } = body;
  const color = linear(given ?? look?.color ?? COLORS[index % COLORS.length]!);
  const back = look?.backColor ? linear(look.backColor) : kind === "cloth" ? color : times(color, INSIDE);
  const outside = shadeOf(color, towards);
  const other = shadeOf(back, towards);
  const inside: Shade = (flipped, out, at) => {
    const normal = times(flipped, -1);
    if (dot(normal, towards) > AWAY) outside(normal, out, at);
    else other(flipped, out, at);
  };
  const sides = { front: outside, back: kind === "cloth" ? other : inside };
  if (skin && detail) {
    const positions = new Float32Array(skin.coords.length);
    const normals = new Float32Array(skin.coords.length);
    evaluateSkinInto(skin, points, positions, normals);
    return { positions, normals, triangles: detail, ...sides, crease: -1 };
  }
  if (body.radius !== undefined) {
    const { positions, normals, triangles, corners } = new CloudSurface(2 * body.radius).update(points);
    return { positions, normals, triangles: triangles.subarray(0, corners), ...sides, crease: -1 };
  }
  const normals = new Float32Array(points.length);
  vertexNormalsInto(points, triangles, normals);
  return { positions: points, normals, triangles, ...sides, crease: kind === "soft" ? CREASE : -1 };
}

/** Returns the shading: sky and ground light, the key light, and a rim where the surface turns away from the eye. */
function shadeOf(color: Vec3, towards: Vec3): Shade {
  return (normal, out, at) => {
    const key = Math.max(0, dot(normal, KEY));
    const grazing = 1 - Math.min(1, Math.max(0, dot(normal, towards)));
    const light = 0.27 + 0.14 * normal[1] + 0.92 * key + 0.2 * grazing ** 3;
    for (let c = 0; c < 3; c++) out[at + c] = color[c]! * light;
  };
}

/** Converts "#rrggbb" to linear light. */
function linear(color: string): Vec3 {
  return [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Vec3;
}

function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function times(a: Vec3, factor: number): Vec3 {
  return [factor * a[0], factor * a[1], factor * a[2]];
}

function unit(a: Vec3): Vec3 {
  return times(a, 1 / Math.hypot(...a));
}
