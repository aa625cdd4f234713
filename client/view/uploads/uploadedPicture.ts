/**
 * The picture of an uploaded model on a body: geometry and materials of its file, attached to the body's surface. All
 * primitives become one geometry with a group each, skinned by the same shader as detail meshes. Texture coordinates
 * and colors of the file are kept.
 *
 * Tangents are dropped: the shader derives them from the texture coordinates, which works in every deformed shape.
 * three does the same for files without tangents.
 */
import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  type InterleavedBufferAttribute,
  type Material,
  Matrix3,
  Matrix4,
  type Mesh,
  type MeshPhysicalMaterial,
  Texture,
  Vector3,
} from "three";
import { createSkin } from "../../../shared/skinning/index.ts";
import { injectSkin, type SkinUniforms } from "../bodies/skinShader.ts";

/** Placement of a picture on a body (shared/topology.ts). */
export interface PictureSource {
  /** float32[3*count], uint32[3*T]: the body's surface at rest. */
  rest: Float32Array;
  triangles: Uint32Array;
  /** Attachment of the detail mesh. */
  attachTriangle: Uint32Array;
  attachCoords: Float32Array;
  /** uint32[P]: detail vertices. */
  vertices: Uint32Array;
  /** number[16] */
  matrix: readonly number[];
}

type Attribute = BufferAttribute | InterleavedBufferAttribute;

/** Kept vertex attributes: name, size, and default for primitives without it. */
const KEPT: readonly [name: string, size: number, otherwise: number][] = [
  ["uv", 2, 0],
  ["uv1", 2, 0],
  ["uv2", 2, 0],
  ["uv3", 2, 0],
  ["color", 4, 1],
];

const countOf = (part: Mesh): number => part.geometry.getAttribute("position").count;

/**
 * @param parts of the picture, in its order
 * @returns undefined if the number of vertices differs from the body's
 */
export function pictureGeometry(parts: readonly Mesh[], source: PictureSource): BufferGeometry | undefined {
  const count = parts.reduce((sum, part) => sum + countOf(part), 0);
  if (count !== source.vertices.length) return undefined;
  const geometry = new BufferGeometry();
  const index = indexOf(parts, geometry);
  geometry.setIndex(new BufferAttribute(index, 1));
  for (const [name, size, otherwise] of KEPT) {
    if (!parts.some((part) => part.geometry.hasAttribute(name))) continue;
    const values = new Float32Array(size * count).fill(otherwise);
    eachVertex(parts, name, (attribute, from, vertex) => {
      for (let k = 0; k < Math.min(size, attribute.itemSize); k++)
        values[size * vertex + k] = attribute.getComponent(from, k);
    });
    geometry.setAttribute(name, new BufferAttribute(values, size));
  }
  skinAttributes(geometry, index, normalsOf(parts, count, source.matrix), source);
  return geometry;
}

/** Corners of all parts, one after another, with a group for each. */
function indexOf(parts: readonly Mesh[], geometry: BufferGeometry): Uint32Array {
  const lists = parts.map((part) => {
    const { index } = part.geometry;
    return index ? Array.from(index.array) : Array.from({ length: countOf(part) }, (_, i) => i);
  });
  const corners = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let at = 0;
  let first = 0;
  for (const [p, list] of lists.entries()) {
    geometry.addGroup(at, list.length, p);
    for (const vertex of list) corners[at++] = first + vertex;
    first += countOf(parts[p]!);
  }
  return corners;
}

function eachVertex(
  parts: readonly Mesh[],
  name: string,
  visit: (attribute: Attribute, from: number, vertex: number) => void,
): void {
  let first = 0;
  for (const part of parts) {
    const attribute = part.geometry.getAttribute(name) as Attribute | undefined;
    if (attribute) for (let i = 0; i < attribute.count; i++) visit(attribute, i, first + i);
    first += countOf(part);
  }
}

/** float32[3*count], rotated as the body is placed. */
function normalsOf(parts: readonly Mesh[], count: number, matrix: readonly number[]): Float32Array {
  for (const { geometry } of parts) if (!geometry.hasAttribute("normal")) geometry.computeVertexNormals();
  const turn = new Matrix3().getNormalMatrix(new Matrix4().fromArray([...matrix]));
  const normals = new Float32Array(3 * count);
  const normal = new Vector3();
  eachVertex(parts, "normal", (attribute, from, vertex) => {
    normal
      .fromBufferAttribute(attribute, from)
      .applyMatrix3(turn)
      .normalize()
      .toArray(normals, 3 * vertex);
  });
  return normals;
}

function skinAttributes(
  geometry: BufferGeometry,
  detailTriangles: Uint32Array,
  detailNormals: Float32Array,
  { rest, triangles, attachTriangle: heldBy, attachCoords: heldAt, vertices }: PictureSource,
): void {
  const attachTriangle = vertices.map((vertex) => heldBy[vertex]!);
  const attachCoords = new Float32Array(3 * vertices.length);
  vertices.forEach((vertex, i) => attachCoords.set(heldAt.subarray(3 * vertex, 3 * vertex + 3), 3 * i));
  const skin = createSkin({ rest, triangles, detailTriangles, attachTriangle, attachCoords, detailNormals });
  geometry.setAttribute("pliantCorners", new BufferAttribute(skin.corners, 3));
  geometry.setAttribute("pliantCoords", new BufferAttribute(attachCoords, 3));
  geometry.setAttribute("pliantCovector", new BufferAttribute(Float32Array.from(skin.covectors), 3));
  // A dummy attribute, as for every body: three shades geometries without one flat.
  geometry.setAttribute("normal", new BufferAttribute(new Int8Array(3 * vertices.length), 3, true));
}

/** @param thin draw both sides, regardless of the file */
export function pictureMaterial(part: Mesh, uniforms: SkinUniforms, thin: boolean): Material {
  const material = (part.material as Material).clone() as MeshPhysicalMaterial;
  if (thin) material.side = DoubleSide;
  // With tangents in the file the loader does not flip the scale, so flip it here.
  if (part.geometry.hasAttribute("tangent")) {
    if (material.normalScale) material.normalScale.y *= -1;
    if (material.clearcoatNormalScale) material.clearcoatNormalScale.y *= -1;
  }
  material.onBeforeCompile = (shader) => injectSkin(shader, uniforms, "detail");
  material.customProgramCacheKey = () => "pliant-picture";
  return material;
}

/** Disposes a material with its textures, which no other material shares. */
export function disposeMaterial(material: Material): void {
  for (const value of Object.values(material)) if (value instanceof Texture) value.dispose();
  material.dispose();
}
