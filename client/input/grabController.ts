/**
 * Grabs of this member: the surface points it holds, their targets, and when targets are sent to the server.
 * Each pointer (mouse or finger) has at most one grab. A target moves in the plane that faced the camera when the grab
 * began; the wheel moves this plane.
 */
import { Plane, Ray, Vector3 } from "three";
import type { Point } from "../../shared/protocol/fromServer.ts";
import { type Grab, OwnGrabs } from "../sdk/calls/ownGrabs.ts";
import type { DrawnGrab } from "../view/grabs/cursorsView.ts";
import type { AcknowledgedGrabs } from "../state/acknowledgedGrabs.ts";
import { BEND_RADIUS, LocalBend, type ShownMoment } from "../view/grabs/localBend.ts";
import { build, type SurfacePoint } from "../../shared/protocol/fromClient.ts";
import { surfacePoint } from "../../shared/geometry/surfacePoints.ts";
import type { Picked, RoomView } from "../view/roomView.ts";

interface OwnGrab {
  own: Grab;
  picked: Picked;
  plane: Plane;
  target: Vector3;
  /** One bend for each body that this grab holds. */
  bends: readonly LocalBend[];
  clientX: number;
  clientY: number;
}

export interface GrabControllerOptions {
  view: RoomView;
  acknowledged: AcknowledgedGrabs;
  send: (bytes: Uint8Array) => void;
  color: () => string;
  /** Limit of a target's distance from the world's origin, m. */
  reach: () => number;
  /** The world's origin in coordinates of the room, m. */
  worldOrigin: Vector3;
  maxGrabs: number;
  /** Returns the points on other bodies that a grab here holds as well. */
  others: (picked: SurfacePoint) => readonly SurfacePoint[];
}

export class GrabController {
  private readonly options: GrabControllerOptions;
  private readonly grabs = new Map<number, OwnGrab>();
  /** Bends of live grabs, and of released grabs until the picture shows the release. */
  private readonly bends: LocalBend[] = [];
  private readonly own: OwnGrabs;

  constructor(options: GrabControllerOptions) {
    this.options = options;
    // `aim` keeps targets within reach.
    this.own = new OwnGrabs(options.send, (_, to) => to as Point);
  }

  get count(): number {
    return this.grabs.size;
  }

  /**
   * @param clientX, clientY position in the window, for pointers that move over the window
   * @returns false if all grabs of this member are in use
   */
  begin(pointer: number, picked: Picked, clientX = 0, clientY = 0): boolean {
    if (this.grabs.size >= this.options.maxGrabs) return false;
    const facing = this.options.view.stage.camera.getWorldDirection(new Vector3());
    const others = this.options.others(picked);
    const target = picked.point.toArray() as Point;
    const own = this.own.begin(picked, target, { together: others.length > 0 });
    const bends = [picked, ...others].map((at) => this.bendAt(at, own.id, target));
    this.bends.push(...bends);
    this.grabs.set(pointer, {
      own,
      picked,
      target: picked.point.clone(),
      bends,
      clientX,
      clientY,
      plane: new Plane().setFromNormalAndCoplanarPoint(facing, picked.point),
    });
    return true;
  }

  /** Bends of one grab share its displacement, so any start works as long as all use the same. */
  private bendAt({ body: number, triangle, u, v }: SurfacePoint, id: number, target: Point): LocalBend {
    const body = this.options.view.bodies[number]!;
    const restPoint: Point = [0, 0, 0];
    surfacePoint(restPoint, { positions: body.rest, triangles: body.triangles }, triangle, u, v);
    return new LocalBend(body, id, target, restPoint, BEND_RADIUS * body.restRadius);
  }

  move(pointer: number, clientX: number, clientY: number): void {
    const grab = this.grabs.get(pointer);
    if (!grab) return;
    grab.clientX = clientX;
    grab.clientY = clientY;
    this.retarget(grab);
  }

  /** Moves a grab to a target in the room, m. For pointers that have a place in the room (headset controllers). */
  pull(pointer: number, to: Vector3): void {
    const grab = this.grabs.get(pointer);
    if (grab) this.aim(grab, scratch.copy(to));
  }

  /** Moves all targets away from the eye (positive) or towards it. @param steps wheel notches */
  depth(steps: number): void {
    const eye = this.options.view.stage.camera.position;
    for (const grab of this.grabs.values()) {
      const away = grab.target.distanceTo(eye);
      grab.plane.constant -= away * 0.06 * Math.max(-3, Math.min(3, steps));
      this.retarget(grab);
    }
  }

  end(pointer: number): void {
    const grab = this.grabs.get(pointer);
    if (grab) this.forget(pointer, grab, true);
  }

  /** Turns all grabs into pins. The release that follows has no effect, or ends a grab that was not pinned. */
  pin(): void {
    for (const [pointer, grab] of this.grabs) {
      grab.own.settle();
      this.options.send(build.pin(grab.own.id));
      this.forget(pointer, grab, true);
    }
  }

  /** Ends grabs of a body that was taken out. The server has already released them. */
  endOn(body: number): void {
    for (const [pointer, grab] of this.grabs) if (grab.picked.body === body) this.forget(pointer, grab, false);
  }

  /**
   * Releases all grabs.
   * @param tell also tell the server; false after a reset or a lost connection, when the server has released them
   */
  endAll(tell: boolean): void {
    for (const [pointer, grab] of this.grabs) this.forget(pointer, grab, tell);
  }

  holds(pointer: number): boolean {
    return this.grabs.has(pointer);
  }

  /**
   * Brings the local bends to the moment shown. Called once per animation frame.
   * @returns the bends to draw; live, read before the next call
   */
  update(moment: ShownMoment): readonly LocalBend[] {
    const { bends } = this;
    // Bends of one grab share its acknowledged track: update all of them before one of them deletes it.
    for (const bend of bends) bend.update(this.options.acknowledged, moment);
    let kept = 0;
    for (const bend of bends) {
      if (!bend.finished) bends[kept++] = bend;
      else this.options.acknowledged.forget(bend.grab);
    }
    if (kept < bends.length) this.options.view.invalidate();
    bends.length = kept;
    return bends;
  }

  drawn(): DrawnGrab[] {
    const color = this.options.color();
    return [...this.grabs.values()].map(({ own, picked, target }) => ({
      id: `own:${own.id}`,
      color,
      body: picked.body,
      triangle: picked.triangle,
      u: picked.u,
      v: picked.v,
      target: target.toArray() as Point,
      ...(own.together && { together: true }),
    }));
  }

  private retarget(grab: OwnGrab): void {
    const { origin, direction } = this.options.view.ray(grab.clientX, grab.clientY);
    // A view direction parallel to the plane has no intersection: the target stays.
    if (new Ray(origin, direction).intersectPlane(grab.plane, scratch)) this.aim(grab, scratch);
  }

  /** @param to inout: clamped to a place that the server accepts */
  private aim(grab: OwnGrab, to: Vector3): void {
    const { view, reach, worldOrigin } = this.options;
    to.y = Math.max(to.y, view.floorY);
    // `reach` is measured from the world's origin, not from the room's.
    to.sub(worldOrigin)
      .clampLength(0, 0.98 * reach())
      .add(worldOrigin);
    // A controller at rest reports the same place in every picture.
    if (grab.target.equals(to)) return;
    grab.target.copy(to);
    for (const bend of grab.bends) bend.move(to.x, to.y, to.z);
    grab.own.move(to.toArray() as Point);
  }

  /** @param tell also tell the server */
  private forget(pointer: number, { own, bends }: OwnGrab, tell: boolean): void {
    this.grabs.delete(pointer);
    if (tell) own.release();
    else own.end();
    for (const bend of bends) bend.release(performance.now(), tell);
  }
}

const scratch = new Vector3();
