/**
 * Makes the core meshes of colliders: fixed triangles that bodies' surfaces meet. Analytic shapes are tessellated; mesh
 * colliders have their own triangles.
 */
import { basename } from "node:path";
import type { Collider, MeshSource } from "../../../shared/scene/scene.ts";
import { boundarySurface } from "../../meshing/surface/boundary.ts";
import { MeshError, type SurfaceMesh } from "../../meshing/mesh.ts";
import { loadMesh, type MeshSources } from "../body/meshes.ts";
import type { Drawing } from "../body/objectMeshes.ts";
import { type Placement, placed, placementOf, scaled } from "../body/transform.ts";
import { boxCore, capsuleCore, cylinderCore, type Fineness, funnelCore, sphereCore } from "./coreShapes.ts";
import { insetOf } from "./smooth.ts";

export interface CoreMesh extends SurfaceMesh {
  /** For an object: the picture that is drawn in its place. */
  picture?: Pick<Drawing, "object" | "scale" | "offset"> & { placement: Placement };
}

/**
 * Core mesh of each collider, where the scene places it; a plane has none, since it has no edges and no end.
 * @param colliders in the coordinates for the meshes
 * @param sources of meshes
 * @param edge the longest edge that bodies lay on them (smooth.ts), m
 * @param fineness of the bodies
 * @throws MeshError that names the collider
 */
export async function loadCores(
  colliders: readonly Collider[],
  sources: MeshSources,
  edge = 0,
  fineness?: Fineness,
): Promise<(CoreMesh | undefined)[]> {
  const cores: (CoreMesh | undefined)[] = [];
  for (const [i, collider] of colliders.entries()) {
    cores.push(
      await coreMesh(inFloat32(collider), sources, edge, fineness).catch((error: unknown) => {
        if (error instanceof MeshError) error.message = `scene /colliders/${i}/mesh: ${error.message}`;
        throw error;
      }),
    );
  }
  return cores;
}

/** Rounds places and lengths to float32, as in the kernel: no bit may depend on the room's origin. */
function inFloat32<C extends Collider>(collider: C): C {
  const round = (value: unknown): unknown =>
    typeof value === "number" ? Math.fround(value) : Array.isArray(value) ? value.map(round) : value;
  return Object.fromEntries(
    Object.entries(collider).map(([key, value]) => [key, PLACES.has(key) ? round(value) : value]),
  ) as C;
}

const PLACES = new Set(["center", "halfExtents", "a", "b", "radius", "radiusA", "radiusB", "thickness"]);

/** @param edge, fineness as in loadCores */
export async function coreMesh(
  collider: Collider,
  sources: MeshSources,
  edge = 0,
  fineness?: Fineness,
): Promise<CoreMesh | undefined> {
  switch (collider.type) {
    case "plane":
      return undefined;
    case "sphere":
      return sphereCore(collider, insetOf(collider, edge));
    case "box":
      return boxCore(collider);
    case "capsule":
      return capsuleCore(collider, insetOf(collider, edge), fineness);
    case "cylinder":
      return cylinderCore(collider, fineness);
    case "funnel":
      return funnelCore(collider);
    case "mesh":
      return meshCore(collider, sources);
  }
}

/** Boundary of a mesh's tetrahedra, else the triangles of the file; placed and welded. */
async function meshCore(collider: Extract<Collider, { type: "mesh" }>, sources: MeshSources): Promise<CoreMesh> {
  const source = await loadMesh(collider.mesh, sources, "collider");
  const mesh =
    source.kind === "tets"
      ? { positions: source.tets.positions, triangles: boundarySurface(source.tets) }
      : source.surface;
  const placement = placementOf(collider.transform, mesh.positions);
  const welded = weld({ positions: placed(scaled(mesh.positions, placement), placement), triangles: mesh.triangles });
  if (welded.triangles.length === 0)
    throw new MeshError({
      file: nameOf(collider.mesh),
      field: "triangle count",
      value: 0,
      limit: "at least 1 whose corners differ in float32 is needed",
    });
  if (source.drawing) {
    const { object, scale, offset } = source.drawing;
    return { ...welded, picture: { object, scale, offset, placement } };
  }
  return welded;
}

function nameOf(mesh: MeshSource): string {
  return mesh.type === "file" ? basename(mesh.path) : mesh.type === "package" ? mesh.package : mesh.type;
}

/**
 * Merges vertices that are equal in float32, such as those at seams of a file. Removes triangles that lose a corner by
 * this, and vertices without a triangle.
 * @returns vertices in the order of their first use
 */
export function weld(mesh: SurfaceMesh): SurfaceMesh {
  const numbers = new Map<string, number>();
  const positions: number[] = [];
  const triangles: number[] = [];
  const numberOf = (vertex: number): number => {
    const at = mesh.positions.subarray(3 * vertex, 3 * vertex + 3);
    const key = Array.from(at, (x) => Math.fround(x) + 0).join(" ");
    let number = numbers.get(key);
    if (number === undefined) {
      numbers.set(key, (number = numbers.size));
      positions.push(...at);
    }
    return number;
  };
  for (let t = 0; t < mesh.triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => numberOf(mesh.triangles[t + k]!)) as [number, number, number];
    if (a !== b && b !== c && c !== a) triangles.push(a, b, c);
  }
  return { positions: Float64Array.from(positions), triangles: Uint32Array.from(triangles) };
}
