/**
 * One body on the screen. Each frame it takes the displayed positions of its particles, computes the normals of the
 * simulation surface, and writes both to float textures for the vertex shader. The drawn mesh never changes its
 * buffers.
 */
import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  InstancedBufferGeometry,
  type Material,
  Mesh,
  Sphere,
  Vector3,
} from "three";
import { createSkin } from "../../shared/skinning/index.ts";
import type { TopologyBody } from "../../shared/topology.ts";
import { float32Of, uint32Of } from "../../shared/bytes.ts";
import { bodyMaterials, type BodyMaterials } from "./bodyMaterial.ts";
import type { PickSurface } from "./picking.ts";
import type { SkinMode, SkinUniforms } from "./skinShader.ts";
import { disposeMaterial, pictureGeometry, pictureMaterial } from "./picture.ts";
import { sheetOf } from "./sheet.ts";
import { smoothingGroups, type SmoothingGroups, softenNormalsInto, surfaceNormalsInto } from "./surfaceNormals.ts";
import { VertexTexture } from "./vertexTexture.ts";

/** Edges with a larger angle stay sharp on bodies drawn by their simulation surface: cos 50 degrees. */
const CREASE_COSINE = 0.64;

/** Half of the drawn thickness of a sheet: m, and at most this part of its mean edge. */
const SHEET_HALF = 0.0012;
const SHEET_HALF_EDGE = 0.05;

export class BodyMesh implements PickSurface {
  readonly mesh: Mesh<BufferGeometry>;
  readonly mode: SkinMode;
  readonly uniforms: SkinUniforms;
  /** uint32[3*T] simulation surface; empty for a cloud of points. */
  readonly triangles: Uint32Array;
  /** float32[3*count] undeformed positions. */
  readonly rest: Float32Array;
  /** float32[3*count] view of the room's displayed positions. */
  readonly positions: Float32Array;
  readonly bounds = new Sphere();
  /** Box around the drawn body; empty while it is hidden. three's `Box3.setFromObject` reads it from the mesh. */
  readonly box = new Box3();
  /** A spawnable body that is not in the room: not drawn and not picked. */
  hidden = false;
  /** A cloth: both of its sides are outside. */
  readonly thin: boolean;
  /** Radius of the spheres of a cloud of points, m. */
  readonly radius: number | undefined;
  /** Half the diagonal of the rest shape's bounding box, or the radius of a cloud's spheres, m. */
  readonly restRadius: number;
  /** How far the drawn mesh reaches beyond the particles, m. */
  private readonly margin: number;
  private readonly normals: Float32Array;
  private readonly slots: Uint32Array;
  /** Only for cloth without a detail mesh. */
  private readonly softNormals: Float32Array | undefined;
  private readonly positionTexture: VertexTexture;
  private readonly normalTexture: VertexTexture;
  private readonly materials: BodyMaterials;
  /** Materials of its model's picture. */
  private worn: Material[] = [];

  /**
   * @param body its topology
   * @param index its index in the room
   * @param displayed float32[3*particles] of the whole room, m; read at every `update`
   */
  constructor(body: TopologyBody, index: number, displayed: Float32Array) {
    this.triangles = uint32Of(body.triangles);
    this.rest = float32Of(body.rest);
    this.positions = displayed.subarray(3 * body.first, 3 * (body.first + body.count));
    boundsOf(this.bounds, this.box, this.rest);
    this.radius = body.radius;
    this.restRadius = body.radius ?? this.bounds.radius;
    this.thin = body.kind === "cloth";
    this.mode = body.radius !== undefined ? "points" : body.detail ? "detail" : this.thin ? "sheet" : "direct";
    const geometry = this.mode === "points" ? sprites(body.count) : new BufferGeometry();
    let normalCount = body.count;
    this.slots = this.triangles;
    if (this.mode === "points") {
      normalCount = 0;
    } else if (body.detail) {
      detailAttributes(geometry, body.detail, this.rest, this.triangles);
    } else {
      // Cloth is smooth everywhere, because its folds are shape and not edges; so are balls.
      const groups = smoothingGroups(this.rest, this.triangles, body.kind === "soft" ? CREASE_COSINE : -1);
      this.slots = groups.slots;
      normalCount = groups.count;
      directAttributes(geometry, this.triangles, groups, this.mode === "sheet");
    }
    const distances = body.detail
      ? float32Of(body.detail.attachCoords).filter((_, i) => i % 3 === 2)
      : new Float32Array();
    this.margin = body.radius ?? distances.reduce((most, distance) => Math.max(most, Math.abs(distance)), 0);
    this.normals = new Float32Array(3 * normalCount);
    if (body.kind === "cloth" && !body.detail) this.softNormals = new Float32Array(3 * normalCount);
    this.positionTexture = new VertexTexture(body.count);
    this.normalTexture = new VertexTexture(normalCount);
    this.uniforms = {
      pliantPositions: { value: this.positionTexture.texture },
      pliantNormals: { value: this.normalTexture.texture },
      pliantRadius: { value: body.radius ?? 0 },
      pliantHalf: { value: Math.min(SHEET_HALF, SHEET_HALF_EDGE * meanEdge(this.rest, this.triangles)) },
    };
    this.materials = bodyMaterials(
      this.mode === "detail" ? "soft" : body.kind,
      body.look ?? {},
      index,
      this.mode,
      this.uniforms,
    );
    this.mesh = new Mesh(geometry, this.materials.surface);
    this.mesh.customDepthMaterial = this.materials.shadow;
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.mesh.name = body.name;
    Object.assign(this.mesh, { boundingBox: this.box });
  }

  /** Called once per frame after the displayed positions have changed. */
  update(): void {
    surfaceNormalsInto(this.normals, this.positions, this.triangles, this.slots);
    if (this.softNormals) softenNormalsInto(this.softNormals, this.normals, this.slots);
    this.positionTexture.write(this.positions);
    this.normalTexture.write(this.softNormals ?? this.normals);
    boundsOf(this.bounds, this.box, this.positions);
    this.box.expandByScalar(this.margin);
  }

  /** Draws the model's picture from now on. @returns false if the picture does not belong to this body */
  wear(body: TopologyBody, parts: readonly Mesh[]): boolean {
    const detail = body.detail!;
    const picture = detail.picture!;
    const geometry = pictureGeometry(parts, {
      rest: this.rest,
      triangles: this.triangles,
      attachTriangle: uint32Of(detail.attachTriangle),
      attachCoords: float32Of(detail.attachCoords),
      vertices: uint32Of(picture.vertices),
      matrix: picture.matrix,
    });
    if (!geometry) return false;
    this.undress();
    this.mesh.geometry.dispose();
    this.mesh.geometry = geometry;
    this.worn = parts.map((part) => pictureMaterial(part, this.uniforms, this.thin));
    this.mesh.material = this.worn;
    return true;
  }

  private undress(): void {
    for (const material of this.worn) disposeMaterial(material);
    this.worn = [];
  }

  dispose(): void {
    this.undress();
    this.mesh.geometry.dispose();
    this.materials.surface.dispose();
    this.materials.shadow.dispose();
    this.positionTexture.dispose();
    this.normalTexture.dispose();
  }
}

/**
 * Squares with corners at -1 and 1, one for each point of a cloud. The shaders turn them to the eye and draw spheres.
 */
function sprites(count: number): InstancedBufferGeometry {
  const geometry = new InstancedBufferGeometry();
  geometry.instanceCount = count;
  geometry.setIndex([0, 1, 2, 2, 1, 3]);
  geometry.setAttribute("position", new BufferAttribute(Float32Array.of(-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0), 3));
  nameNormals(geometry, 4);
  return geometry;
}

function detailAttributes(
  geometry: BufferGeometry,
  detail: NonNullable<TopologyBody["detail"]>,
  rest: Float32Array,
  triangles: Uint32Array,
): void {
  const detailTriangles = uint32Of(detail.triangles);
  const attachTriangle = uint32Of(detail.attachTriangle);
  const attachCoords = float32Of(detail.attachCoords);
  const { corners, covectors } = createSkin({ rest, triangles, detailTriangles, attachTriangle, attachCoords });
  geometry.setIndex(new BufferAttribute(detailTriangles, 1));
  geometry.setAttribute("pliantCorners", new BufferAttribute(corners, 3));
  geometry.setAttribute("pliantCoords", new BufferAttribute(attachCoords, 3));
  geometry.setAttribute("pliantCovector", new BufferAttribute(Float32Array.from(covectors), 3));
  nameNormals(geometry, attachTriangle.length);
}

/** One vertex per normal slot: a particle on a crease appears once per side. The shell of a sheet has more vertices. */
function directAttributes(
  geometry: BufferGeometry,
  triangles: Uint32Array,
  { slots, count }: SmoothingGroups,
  sheet: boolean,
): void {
  const particles = new Uint32Array(count);
  triangles.forEach((particle, corner) => (particles[slots[corner]!] = particle));
  const shell = sheet ? sheetOf(slots, count) : undefined;
  const drawn = shell?.vertices ?? Uint32Array.from({ length: count }, (_, slot) => slot);
  const pairs = new Uint32Array(2 * drawn.length);
  drawn.forEach((slot, vertex) => pairs.set([particles[slot]!, slot], 2 * vertex));
  geometry.setIndex(new BufferAttribute(shell?.triangles ?? slots, 1));
  geometry.setAttribute("pliantSlots", new BufferAttribute(pairs, 2));
  if (shell) geometry.setAttribute("pliantSide", new BufferAttribute(shell.sides, 2));
  nameNormals(geometry, drawn.length);
}

/** Adds a dummy normal attribute: three.js shades geometries without one flat. The shader computes the real normals. */
function nameNormals(geometry: BufferGeometry, count: number): void {
  geometry.setAttribute("normal", new BufferAttribute(new Int8Array(3 * count), 3, true));
}

/** Mean edge length of the rest shape, m. */
function meanEdge(rest: Float32Array, triangles: Uint32Array): number {
  let sum = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!;
    const b = 3 * triangles[t + 1]!;
    sum += Math.hypot(rest[a]! - rest[b]!, rest[a + 1]! - rest[b + 1]!, rest[a + 2]! - rest[b + 2]!);
  }
  return (3 * sum) / Math.max(1, triangles.length);
}

const low = new Vector3();
const high = new Vector3();

/** Box around the positions, and the sphere around it: cheap, and at most 1.7 times too large. */
function boundsOf(out: Sphere, box: Box3, positions: Float32Array): void {
  low.setScalar(Infinity);
  high.setScalar(-Infinity);
  for (let i = 0; i < positions.length; i += 3) {
    const x = positions[i]!;
    const y = positions[i + 1]!;
    const z = positions[i + 2]!;
    if (x < low.x) low.x = x;
    if (y < low.y) low.y = y;
    if (z < low.z) low.z = z;
    if (x > high.x) high.x = x;
    if (y > high.y) high.y = y;
    if (z > high.z) high.z = z;
  }
  box.set(low, high);
  out.center.addVectors(low, high).multiplyScalar(0.5);
  out.radius = low.distanceTo(high) / 2;
}
