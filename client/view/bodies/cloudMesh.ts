/** Draws a cloud of points as one surface (shared/geometry/cloudSurface.ts). Without this code it is drawn as balls. */
import { BufferAttribute, BufferGeometry, DynamicDrawUsage } from "three";
import { CloudSurface } from "../../../shared/geometry/cloudSurface.ts";
import type { BodyMesh } from "./bodyMesh.ts";

/** Declares `pliantSkin`: the vertices are where they are drawn. */
const CLOUD_SKIN_GLSL = /* glsl */ `
void pliantSkin(out vec3 place, out vec3 outward) {
  place = position;
  outward = normal;
}
`;

/** Draws a body of points by its surface, which follows every change of its positions. */
export function mergePoints(body: BodyMesh): void {
  const surface = new CloudSurface(2 * body.radius!);
  const geometry = new BufferGeometry();
  /** Reuses an attribute until its array has been replaced by a longer one: buffers do not grow. */
  const attributeOf = (old: BufferAttribute | null, array: Float32Array | Uint32Array, used: number, size: number) => {
    if (old && old.array !== array) geometry.dispose();
    const attribute = old?.array === array ? old : new BufferAttribute(array, size).setUsage(DynamicDrawUsage);
    attribute.clearUpdateRanges();
    attribute.addUpdateRange(0, used);
    attribute.needsUpdate = true;
    return attribute;
  };
  body.surfaceInto = (positions) => {
    surface.update(positions);
    const { positions: places, normals, triangles, vertices, corners } = surface;
    for (const [name, array] of [
      ["position", places],
      ["normal", normals],
    ] as const)
      geometry.setAttribute(
        name,
        attributeOf((geometry.attributes[name] as BufferAttribute | undefined) ?? null, array, 3 * vertices, 3),
      );
    geometry.setIndex(attributeOf(geometry.getIndex(), triangles, corners, 1));
    geometry.setDrawRange(0, corners);
  };
  body.surfaceInto(body.positions);
  const { mesh, materials } = body;
  mesh.geometry.dispose();
  mesh.geometry = geometry;
  materials.skin = CLOUD_SKIN_GLSL;
  materials.surface.needsUpdate = materials.shadow.needsUpdate = true;
}
