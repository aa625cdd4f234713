/**
 * Converts objects that a scene names to a mesh for their role, and to a picture drawn on it.
 *
 *     shape (meshing/objectShape.ts) -> prepareSurface by role, size, particles -> mesh, m
 *                                    -> the picture's places, welded            -> detail mesh attached to it
 */
import type { ObjectRole } from "../../../shared/scene/objectRoles.ts";
import type { ObjectMesh } from "../../../shared/scene/scene.ts";
import { MeshError, type LoadedMesh, type SurfaceMesh } from "../../meshing/mesh.ts";
import type { MeshNote } from "../../meshing/meshNotes.ts";
import { ObjectError } from "../../meshing/objects/objectFile.ts";
import { prepareSurface } from "../../meshing/objects/prepareSurface.ts";
import { decodeShape, fileOf } from "../../meshing/objectShape.ts";

/** Number of particles if the scene names none: one thread can step them in a tick. */
const DEFAULT_PARTICLES = 1500;

/** Placement of an object's picture on the detail mesh. */
export interface Drawing {
  /** Id of the object. */
  object: string;
  /** Places of the picture's vertices, each place once, m; in the mesh's own coordinates. */
  places: SurfaceMesh;
  /** uint32[picture vertices]: number of each vertex's place. */
  vertices: Uint32Array;
  /** A place is scale * (a position of the picture) + offset. */
  scale: number;
  offset: [number, number, number];
}

export type PreparedObject = LoadedMesh & { drawing: Drawing };

/** A note about an object's surface: a finding, or a repair. */
export type FoundInObject = MeshNote & { object: string };

export class ObjectMeshes {
  readonly #shapes: ReadonlyMap<string, Uint8Array>;
  readonly #prepared = new Map<string, Promise<PreparedObject>>();
  /** Notes about all prepared objects. */
  readonly found: FoundInObject[] = [];

  /** @param shapes encoded, by the object's id */
  constructor(shapes: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.#shapes = shapes;
  }

  /** @throws MeshError if there is no such object, or its shape does not fit this role */
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
 * @param surfaceOfPicture uint32[picture vertices]
 * @param count of the surface's vertices
 * @returns place of each picture vertex, and for each place its first picture vertex
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
