/**
 * Grabs of this member: the surface points it holds, their targets, and when targets are sent to the server.
 * Each pointer (mouse or finger) has at most one grab. A target moves in the plane that faced the camera when the grab
 * began; the wheel moves this plane.
 */
import { Plane, Ray, Vector3 } from "three";
import { build } from "../../shared/protocol/fromClient.ts";
import type { Point } from "../../shared/protocol/fromServer.ts";
import type { DrawnGrab } from "../view/cursorsView.ts";
import type { AcknowledgedGrabs } from "../state/acknowledgedGrabs.ts";
import { BEND_RADIUS, LocalBend, type ShownMoment } from "../view/localBend.ts";
import type { SurfacePoint } from "../../shared/protocol/fromClient.ts";
import { surfacePoint } from "../../shared/surface.ts";
import type { Picked, RoomView } from "../view/roomView.ts";

/** Moves of all grabs together stay below the server's 60 inputs a second, which grabs and releases share. */
const MOVES_PER_SECOND = 48;
/** Least time between two moves of one grab, ms: the server's send interval. */
const MOVE_INTERVAL_MS = 33;

interface OwnGrab {
  id: number;
  picked: Picked;
  plane: Plane;
  target: Vector3;
  sent: Vector3;
  sentMs: number;
  /** One bend for each body that this grab holds. */
  bends: readonly LocalBend[];
  together: boolean;
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
  private nextId = 1;

  constructor(options: GrabControllerOptions) {
    this.options = options;
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
    const { view, send } = this.options;
    const facing = view.stage.camera.getWorldDirection(new Vector3());
    // A grab id is unique within a member; 16 bits wrap long before two live grabs could share one.
    const id = this.nextId;
    this.nextId = (this.nextId % 60_000) + 1;
    const target = picked.point.clone();
    const others = this.options.others(picked);
    const together = others.length > 0;
    const bends = [picked, ...others].map((at) => this.bendAt(at, id, target.toArray() as Point));
    this.bends.push(...bends);
    this.grabs.set(pointer, {
      id,
      picked,
      target,
      bends,
      together,
      clientX,
      clientY,
      plane: new Plane().setFromNormalAndCoplanarPoint(facing, picked.point),
      sent: target.clone(),
      // The first movement is sent at once, because only it begins to pull.
      sentMs: -Infinity,
    });
    send(build.grab(id, picked, target.toArray() as Point, { together }));
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
    if (!grab) return;
    this.flush(grab, performance.now());
    this.options.send(build.release(grab.id));
    this.forget(pointer, grab, true);
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
    for (const [pointer, grab] of this.grabs) {
      if (tell) {
        this.flush(grab, performance.now());
        this.options.send(build.release(grab.id));
      }
      this.forget(pointer, grab, tell);
    }
  }

  holds(pointer: number): boolean {
    return this.grabs.has(pointer);
  }

  /**
   * Sends due targets and brings the local bends to the moment shown. Called once per animation frame.
   * @returns the bends to draw; live, read before the next call
   */
  update(moment: ShownMoment): readonly LocalBend[] {
    const { bends } = this;
    const { nowMs } = moment;
    const interval = this.interval();
    for (const grab of this.grabs.values()) if (nowMs - grab.sentMs >= interval) this.flush(grab, nowMs);
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
    return [...this.grabs.values()].map(({ id, picked, target, together }) => ({
      id: `own:${id}`,
      color,
      body: picked.body,
      triangle: picked.triangle,
      u: picked.u,
      v: picked.v,
      target: target.toArray() as Point,
      ...(together && { together }),
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
    grab.target.copy(to);
    for (const bend of grab.bends) bend.move(to.x, to.y, to.z);
    const nowMs = performance.now();
    if (nowMs - grab.sentMs >= this.interval()) this.flush(grab, nowMs);
  }

  /** Least time between two moves of one grab, ms. */
  private interval(): number {
    return Math.max(MOVE_INTERVAL_MS, (1000 * this.grabs.size) / MOVES_PER_SECOND);
  }

  private flush(grab: OwnGrab, nowMs: number): void {
    if (grab.sent.equals(grab.target)) return;
    grab.sent.copy(grab.target);
    grab.sentMs = nowMs;
    this.options.send(build.move(grab.id, grab.target.toArray() as Point));
  }

  private forget(pointer: number, grab: OwnGrab, told: boolean): void {
    this.grabs.delete(pointer);
    for (const bend of grab.bends) bend.release(performance.now(), told);
  }
}

const scratch = new Vector3();
