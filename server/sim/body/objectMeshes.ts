/**
 * Objects that a scene names -> the mesh of what each is to be, and what is drawn of it.
 *
 *     shape (meshing/objectShape.ts) -> prepareSurface by role, size, particles -> mesh, m
 *                                    -> the picture's places, welded            -> detail mesh that hangs on it
 */
import type { ObjectRole } from "../../../shared/objectRoles.ts";
import type { ObjectMesh } from "../../../shared/scene.ts";
import { MeshError, type LoadedMesh, type SurfaceMesh } from "../../meshing/mesh.ts";
import { ObjectError, type ObjectNote } from "../../meshing/objects/objectFile.ts";
import { prepareSurface } from "../../meshing/objects/prepareSurface.ts";
import { decodeShape, fileOf } from "../../meshing/objectShape.ts";

/** Particles where a scene says nothing: what one thread steps in a tick. */
const DEFAULT_PARTICLES = 1500;

/** How an object's picture lies on what is drawn of it without the picture. */
export interface Drawing {
  /** The object's id. */
  object: string;
  /** Where the picture's vertices are, each place once, m; in the mesh's own coordinates. */
  places: SurfaceMesh;
  /** uint32[picture vertices]: which of the places each is at. */
  vertices: Uint32Array;
  /** A place is scale * (a position of the picture) + offset. */
  scale: number;
  offset: [number, number, number];
}

export type PreparedObject = LoadedMesh & { drawing: Drawing };

/** What was found in an object's surface, or done to it. */
export type FoundInObject = ObjectNote & { object: string };

export class ObjectMeshes {
  readonly #shapes: ReadonlyMap<string, Uint8Array>;
  readonly #prepared = new Map<string, Promise<PreparedObject>>();
  /** Of all that has been prepared. */
  readonly found: FoundInObject[] = [];

  /** @param shapes encoded, by the object's id */
  constructor(shapes: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.#shapes = shapes;
  }

  /** @throws MeshError: there is no such object, or nothing of this role can be made of it */
  prepare(mesh: ObjectMesh, role: ObjectRole): Promise<PreparedObject> {
    const key = `${role} ${mesh.id} ${mesh.size} ${mesh.particles}`;
    let prepared = this.#prepared.get(key);
    if (!prepared) this.#prepared.set(key, (prepared = this.#prepare(mesh, role)));
    return prepared;
  }

  async #prepare({ id, size, particles = DEFAULT_PARTICLES }: ObjectMesh, role: ObjectRole): Promise<PreparedObject> {
    const bytes = this.#shapes.get(id);
    if (!bytes)
      throw new MeshError({ file: "object", field: "id", value: id, limit: "an object that is stored is needed" });
    const shape = decodeShape(bytes);
    try {
      const prepared = await prepareSurface(fileOf(shape), { role, size, particles });
      const { detail, scale, offset, notes } = prepared;
      this.found.push(...notes.map((note) => ({ object: id, ...note })));
      const { vertices, firsts } = compact(shape.surfaceOfPicture, shape.surface.positions.length / 3);
      const positions = new Float64Array(3 * firsts.length);
      firsts.forEach((vertex, place) => positions.set(detail.subarray(3 * vertex, 3 * vertex + 3), 3 * place));
      const triangles = shape.pictureTriangles.map((vertex) => vertices[vertex]!);
      return { ...prepared.mesh, drawing: { object: id, places: { positions, triangles }, vertices, scale, offset } };
    } catch (error) {
      if (!(error instanceof ObjectError)) throw error;
      const { where, value, limit, help } = error.fault;
      throw new MeshError({ file: "object", field: where, value, limit: `${limit}. ${help}` }, error.code);
    }
  }
}

/**
 * @param surfaceOfPicture uint32[picture vertices]. @param count of the surface's vertices
 * @returns which place each picture vertex is at, and for each place the first picture vertex there
 */
function compact(surfaceOfPicture: Uint32Array, count: number): { vertices: Uint32Array; firsts: number[] } {
  const placeOf = new Int32Array(count).fill(-1);
  const firsts: number[] = [];
  const vertices = surfaceOfPicture.map((vertex, i) => {
    if (placeOf[vertex]! < 0) placeOf[vertex] = firsts.push(i) - 1;
    return placeOf[vertex]!;
  });
  return { vertices, firsts };
}
