/**
 * A room as an object of a three.js scene: its bodies, skinned as on the room's own page, the grabs of all members, and
 * picking. It may be moved, turned and scaled like any object. Floor, light and camera belong to the caller.
 */
import {
  type Camera,
  DirectionalLight,
  Group,
  HemisphereLight,
  type Intersection,
  Object3D,
  type Raycaster,
  Vector3,
} from "three";
import { interpolateInto } from "../state/interpolate.ts";
import { BodyMesh } from "../view/bodies/bodyMesh.ts";
import { dressAll, mergeClouds, shineThrough } from "../view/bodies/dress.ts";
import { type DrawnGrab, drawnGrabs, GREY, CursorsView } from "../view/grabs/cursorsView.ts";
import { pickSurfaces } from "../view/grabs/picking.ts";
import type { Grab } from "./calls/ownGrabs.ts";
import type { MemberGrabs, Point } from "../../shared/protocol/fromServer.ts";
import type { GrabOptions, SurfacePoint } from "../../shared/protocol/fromClient.ts";
import type { Room } from "./room.ts";

/** Bounds of the interval between frames for blending, and its first value, ms. */
const INTERVAL = { least: 8, most: 200, first: 33 };

/** A point of a body's surface, and its position in the world, m. */
export interface PickedPoint extends SurfacePoint {
  point: Vector3;
}

/** The intersection that three's raycasting reports for a room. */
export interface RoomIntersection extends Intersection {
  surface: SurfacePoint;
}

/** A light rig that shows form and folds: sky and ground, and a sun from the left above the camera's side. */
export class RoomLights extends Group {
  constructor() {
    super();
    const sun = new DirectionalLight("#ffffff", 2);
    sun.position.set(-2, 4, 3);
    this.add(new HemisphereLight("#ffffff", "#8a7a6a", 2), sun);
  }
}

export class PliantRoom extends Object3D {
  readonly room: Room;
  #bodies: BodyMesh[] = [];
  /** Aborted when the bodies are rebuilt: their textures are then no longer needed. */
  #undressed = new AbortController();
  /** float32[3*particles] m: the positions drawn, and the two frames between which they are interpolated. */
  #shown = new Float32Array(0);
  #from = new Float32Array(0);
  #to = new Float32Array(0);
  #frameMs = Number.NaN;
  #intervalMs = INTERVAL.first;
  #lastMs = Number.NaN;
  readonly #cursorsView = new CursorsView();
  readonly #grabsByMember = new Map<number, MemberGrabs>();
  readonly #ends: (() => void)[];

  /** @param room from `joinRoom`; `dispose` does not leave it */
  constructor(room: Room) {
    super();
    this.room = room;
    this.name = room.topology.title;
    this.add(this.#cursorsView.group);
    this.#build();
    this.#ends = [
      room.on("frame", () => this.#frame()),
      room.on("scene", () => this.#build()),
      room.on("grabs", ({ members }) => {
        for (const entry of members) this.#grabsByMember.set(entry.member, entry);
      }),
      room.on("members", ({ members }) => {
        const there = new Set(members.filter(({ connected }) => connected).map(({ member }) => member));
        for (const member of this.#grabsByMember.keys()) if (!there.has(member)) this.#grabsByMember.delete(member);
      }),
    ];
  }

  /**
   * Updates bodies and grabs. Call it once per picture, before rendering.
   * @param camera that renders them, perspective or orthographic: grab lines have a constant thickness on the screen
   */
  update(camera: Camera, nowMs = performance.now()): void {
    const part = (nowMs - this.#frameMs) / this.#intervalMs;
    interpolateInto(this.#shown, this.#from, this.#to, part);
    this.#updateBodies();
    const elapsedMs = Math.min(250, nowMs - this.#lastMs) || 0;
    this.#lastMs = nowMs;
    this.#cursorsView.update(this.#grabs(), [], this.#bodies, { camera }, elapsedMs);
  }

  /** Returns the nearest surface point on a ray; undefined if it meets none. */
  pick(raycaster: Raycaster): PickedPoint | undefined {
    this.updateWorldMatrix(true, false);
    const ray = raycaster.ray.clone().applyMatrix4(this.matrixWorld.clone().invert());
    ray.direction.normalize();
    const hit = pickSurfaces(this.#bodies, ray.origin.toArray() as Point, ray.direction.toArray() as Point);
    if (!hit) return undefined;
    const { body, triangle, u, v, distance } = hit;
    return { body, triangle, u, v, point: this.localToWorld(ray.at(distance, new Vector3())) };
  }

  /**
   * Reports a `RoomIntersection` to three's raycasting. The child meshes are not asked: their geometry is undeformed.
   */
  override raycast(raycaster: Raycaster, intersects: Intersection[]): boolean {
    const picked = this.pick(raycaster);
    const distance = picked?.point.distanceTo(raycaster.ray.origin) ?? Number.NaN;
    if (picked && distance >= raycaster.near && distance <= raycaster.far) {
      const { point, ...surface } = picked;
      const found: RoomIntersection = { distance, point, object: this, surface };
      intersects.push(found);
    }
    return false;
  }

  /** Grabs a picked point. @throws PliantError as `room.grab` does */
  grab({ body, triangle, u, v }: SurfacePoint, how?: GrabOptions): Grab {
    return this.room.grab(body, { triangle, u, v }, how);
  }

  /** Moves a grab's target to a place in the world, m. @throws PliantError as `grab.move` does */
  pull(grab: Grab, to: Vector3): void {
    grab.move(this.worldToLocal(to.clone()).toArray() as Point);
  }

  /** Frees the memory on the graphics card and removes the room's listeners. */
  override dispose(): void {
    super.dispose();
    for (const end of this.#ends) end();
    this.#clear();
    this.#cursorsView.update([], [], [], { camera: undefined as never }, 0);
    this.removeFromParent();
  }

  #build(): void {
    this.#clear();
    const { bodies, interaction } = this.room.topology;
    this.#cursorsView.together = interaction.together ?? [];
    const particles = bodies.reduce((sum, { count }) => sum + count, 0);
    this.#shown = new Float32Array(3 * particles);
    this.#from = this.#shown.slice();
    this.#to = this.#shown.slice();
    this.#bodies = bodies.map((body, index) => new BodyMesh(body, index, this.#shown));
    this.add(...this.#bodies.map(({ mesh }) => mesh));
    this.#undressed = new AbortController();
    const { topology, server: base } = this.room;
    void Promise.allSettled([shineThrough(this.#bodies), mergeClouds(this.#bodies)]);
    dressAll({ topology, bodies: this.#bodies, base, ended: this.#undressed.signal }, () => {});
    this.#frameMs = Number.NaN;
    this.#frame();
    this.#from.set(this.#to);
    this.#shown.set(this.#to);
    this.#updateBodies();
  }

  #updateBodies(): void {
    for (const [index, body] of this.#bodies.entries()) {
      body.hidden = this.room.spawnable.includes(index);
      body.mesh.visible = !body.hidden;
      if (body.hidden) body.box.makeEmpty();
      else body.update(performance.now() / 1000);
    }
  }

  #clear(): void {
    this.#grabsByMember.clear();
    this.#undressed.abort();
    for (const body of this.#bodies) {
      this.remove(body.mesh);
      body.dispose();
    }
    this.#bodies = [];
  }

  #frame(): void {
    const nowMs = performance.now();
    const sinceMs = nowMs - this.#frameMs;
    if (sinceMs > 0) {
      const now = Math.min(INTERVAL.most, Math.max(INTERVAL.least, sinceMs));
      this.#intervalMs += 0.1 * (now - this.#intervalMs);
    }
    this.#frameMs = nowMs;
    this.#from.set(this.#shown);
    for (const { index, first } of this.room.bodies) this.#to.set(this.room.positions(index), 3 * first);
  }

  #grabs(): DrawnGrab[] {
    const { room } = this;
    const colorOf = (member: number): string => room.members.find((one) => one.member === member)?.color ?? GREY;
    const own = room.grabs.map(({ id, at, target, together }) => ({
      ...at,
      id: `own:${id}`,
      color: colorOf(room.member),
      target: target as Point,
      ...(together && { together }),
    }));
    const others = [...this.#grabsByMember.values()].filter(({ member }) => member !== room.member);
    return [...own, ...drawnGrabs(others, colorOf)];
  }
}
