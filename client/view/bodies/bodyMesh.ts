/**
 * One body on the screen. Each frame it takes the displayed positions of its particles, computes the normals of the
 * simulation surface, and writes both to float textures for the vertex shader. The drawn mesh never changes its
 * buffers.
 */
import {
  Box3,
  BufferGeometry,
  type Color,
  FrontSide,
  type Material,
  Mesh,
  ShaderMaterial,
  Sphere,
  Vector3,
} from "three";
import type { BodyLook } from "../../../shared/scene/bodyLook.ts";
import type { TopologyBody } from "../../../shared/topology.ts";
import { float32Of, uint32Of } from "../../../shared/bytes.ts";
import { detailAttributes, directAttributes, meanEdge, sheetAttributes, sprites } from "./bodyGeometry.ts";
import { bodyMaterials, type BodyMaterials } from "./bodyMaterial.ts";
import type { Look } from "../../../shared/scene/scene.ts";
import type { PickSurface } from "../grabs/picking.ts";
import { RoundedEdges } from "./roundedEdges.ts";
import type { SkinMode, SkinUniforms } from "./skinShader.ts";
import { disposeMaterial, pictureGeometry, pictureMaterial } from "../uploads/uploadedPicture.ts";
import { type StrainKind, SurfaceStrain } from "./strainView.ts";
import { smoothingGroups, softenNormalsInto, surfaceNormalsInto } from "./surfaceNormals.ts";
import { VertexTexture } from "./vertexTexture.ts";

type JellyCode = typeof import("./jelly.ts");

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
  /** Light shines through it (jelly.ts). */
  jelly: boolean;
  /** A cloud of points that the fluid layer draws. */
  readonly fluid: TopologyBody["fluid"];
  /** Simulated time of the positions, s. */
  seconds = 0;
  /** Half the diagonal of the rest shape's bounding box, or the radius of a cloud's spheres, m. */
  readonly restRadius: number;
  /** Largest distance of the drawn mesh from the particles, m. */
  private readonly margin: number;
  /** Computes the surface of a cloud of points, once its code is there (cloudMesh.ts). */
  surfaceInto: ((positions: Float32Array) => void) | undefined;
  private readonly normals: Float32Array;
  private readonly slots: Uint32Array;
  /** Smoothed normals; only for cloth without a detail mesh. */
  private readonly softNormals: Float32Array | undefined;
  private readonly positionTexture: VertexTexture;
  private readonly normalTexture: VertexTexture;
  materials: BodyMaterials;
  private readonly materialsOf: (look: Look) => BodyMaterials;
  /** Look of the scene. */
  private readonly ownLook: Look;
  /** Only for solids with creases that are drawn by their simulation surface. */
  private readonly edges: RoundedEdges | undefined;
  /** Points of the rounded edges' mesh, m, and their strain. */
  private readonly points: Float32Array;
  private readonly pointStrains: Float32Array;
  /** Strain of the surface; only in the strain view. */
  private strain: SurfaceStrain | undefined;
  /** Materials of the uploaded model's picture, while it is shown. */
  private pictureMaterials: Material[] = [];

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
    this.fluid = body.radius === undefined ? undefined : body.fluid;
    this.restRadius = body.radius ?? this.bounds.radius;
    this.thin = body.kind === "cloth";
    this.mode = body.radius !== undefined ? "points" : body.detail ? "detail" : this.thin ? "sheet" : "direct";
    this.jelly = body.look?.finish === "jelly" && this.mode === "direct";
    const geometry = this.mode === "points" ? sprites(body.count) : new BufferGeometry();
    let normalCount = body.count;
    let grid = 0;
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
      if (this.mode === "sheet") grid = sheetAttributes(geometry, this.triangles, groups, this.rest);
      else {
        this.edges = RoundedEdges.of(this.rest, this.triangles, groups);
        directAttributes(geometry, this.triangles, groups, this.edges);
      }
    }
    const distances = body.detail
      ? float32Of(body.detail.attachCoords).filter((_, i) => i % 3 === 2)
      : new Float32Array();
    this.margin = body.radius ?? distances.reduce((most, distance) => Math.max(most, Math.abs(distance)), 0);
    normalCount = this.edges?.normalCount ?? normalCount;
    this.normals = new Float32Array(3 * normalCount);
    if (body.kind === "cloth" && !body.detail) this.softNormals = new Float32Array(3 * normalCount);
    const points = this.edges?.pointCount ?? body.count;
    this.points = new Float32Array(this.edges ? 3 * points : 0);
    this.pointStrains = new Float32Array(this.edges ? points : 0);
    this.positionTexture = new VertexTexture(points);
    this.normalTexture = new VertexTexture(normalCount);
    this.uniforms = {
      pliantPositions: { value: this.positionTexture.texture },
      pliantNormals: { value: this.normalTexture.texture },
      pliantRadius: { value: body.radius ?? 0 },
      pliantHalf: { value: Math.min(SHEET_HALF, SHEET_HALF_EDGE * meanEdge(this.rest, this.triangles)) },
    };
    this.ownLook = body.look ?? {};
    this.materialsOf = (look) =>
      bodyMaterials(this.mode === "detail" ? "soft" : body.kind, look, index, this.mode, this.uniforms, grid);
    this.materials = this.materialsOf(this.ownLook);
    this.mesh = new Mesh(geometry, this.materials.surface);
    this.mesh.customDepthMaterial = this.materials.shadow;
    this.mesh.castShadow = this.fluid?.type !== "gas";
    this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.mesh.name = body.name;
    Object.assign(this.mesh, { boundingBox: this.box });
  }

  /** Lets light shine through it, with the code of jelly. */
  shineThrough(jellyOf: JellyCode["jellyOf"]): void {
    this.materials.jelly = jellyOf(this.mesh.geometry, this.triangles, this.rest, this.edges);
    // Its dark inside showed as dashes along outlines.
    this.materials.surface.side = FrontSide;
    this.materials.surface.needsUpdate = true;
  }

  /** Changes its look; jelly then needs `shineThrough`. @param given by members: absent fields are as in the scene */
  dress({ color, finish }: BodyLook): void {
    const { backColor, roughness, metalness, ...own } = this.ownLook;
    const old = this.materials;
    const made = this.materialsOf({
      ...own,
      ...(color ? { color } : { backColor }),
      ...(finish ? { finish } : { roughness, metalness }),
    } as Look);
    made.held.value = old.held.value;
    made.strainScale.value = old.strainScale.value;
    made.skin = old.skin;
    made.wrinkles = old.wrinkles;
    this.jelly = (finish ?? own.finish) === "jelly" && this.mode === "direct";
    if (this.mesh.material === old.surface) this.mesh.material = made.surface;
    this.mesh.customDepthMaterial = made.shadow;
    this.materials = made;
    for (const material of [old.surface, old.shadow]) material.dispose();
  }

  /** First color of its look, linear. */
  get color(): Color {
    return this.materials.surface.color;
  }

  /** @param on the fluid layer draws it; otherwise it is drawn as spheres */
  leaveToFluidLayer(on: boolean): void {
    this.mesh.material = on ? NOTHING : this.materials.surface;
  }

  /**
   * Called once per frame after the displayed positions have changed.
   * @param seconds simulated time of the room
   */
  update(seconds = 0): void {
    this.surfaceInto?.(this.positions);
    surfaceNormalsInto(this.normals, this.positions, this.triangles, this.slots);
    if (this.softNormals) softenNormalsInto(this.softNormals, this.normals, this.slots);
    this.edges?.meansInto(this.normals);
    this.seconds = seconds;
    this.strain?.update(this.positions);
    this.writePositions();
    this.normalTexture.write(this.softNormals ?? this.normals);
    boundsOf(this.bounds, this.box, this.positions);
    this.box.expandByScalar(this.margin);
  }

  private writePositions(): void {
    const { edges, strain, points, pointStrains } = this;
    if (!edges) return this.positionTexture.write(this.positions, strain?.values);
    edges.spreadInto(points, this.positions, 3);
    if (strain) edges.spreadInto(pointStrains, strain.values, 1);
    this.positionTexture.write(points, strain && pointStrains);
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
    this.pictureMaterials = parts.map((part) => pictureMaterial(part, this.uniforms, this.thin));
    if (!this.strain) this.mesh.material = this.pictureMaterials;
    return true;
  }

  /** @param on a member holds the body. @returns true if the picture has changed */
  setHeld(on: boolean): boolean {
    const changed = (this.materials.held.value === 1) !== on;
    this.materials.held.value = on ? 1 : 0;
    return changed;
  }

  /** Strain of each particle in the strain view; empty otherwise, and for points. */
  get strains(): Float32Array {
    return this.strain?.values ?? NO_VALUES;
  }

  /** Shows a strain as colors; undefined: none. The next `update` shows it. */
  showStrain(kind: StrainKind | undefined): void {
    if (this.mode === "points") return;
    this.strain = kind && new SurfaceStrain(this.rest, this.triangles, kind);
    if (!kind) this.materials.strainScale.value = 0;
    this.mesh.material = kind || this.pictureMaterials.length === 0 ? this.materials.surface : this.pictureMaterials;
  }

  /** @param end strain at the end of the scale */
  setStrainScale(end: number): void {
    this.materials.strainScale.value = this.strain ? 1 / end : 0;
  }

  private undress(): void {
    for (const material of this.pictureMaterials) disposeMaterial(material);
    this.pictureMaterials = [];
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

const NO_VALUES = new Float32Array();

/** Draws nothing; the body's shadow stays. */
const NOTHING = new ShaderMaterial({
  vertexShader: "void main() { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); }",
  fragmentShader: "void main() { gl_FragColor = vec4(0.0); }",
});

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
