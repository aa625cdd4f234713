/**
 * This member's hands: which points it holds, where it pulls them, and when that is said to the server. One grab per
 * pointer (mouse or finger). The hand moves in the plane that faced the camera when it took hold; the wheel moves that
 * plane.
 */
import { Plane, Ray, Vector3 } from "three";
import { build } from "../../shared/protocol/fromClient.ts";
import type { Point } from "../../shared/protocol/fromServer.ts";
import type { DrawnGrab } from "../view/handsView.ts";
import type { AcknowledgedGrabs } from "../state/acknowledgedGrabs.ts";
import { BEND_RADIUS, LocalBend, type ShownMoment } from "../view/localBend.ts";
import type { SurfacePoint } from "../../shared/protocol/fromClient.ts";
import { surfacePoint } from "../../shared/surface.ts";
import type { Picked, RoomView } from "../view/roomView.ts";

/** Moves of all hands together stay well under the server's 60 inputs a second, which grabs and releases share. */
const MOVES_PER_SECOND = 48;
/** No hand is told more often than the server sends frames. */
const MOVE_INTERVAL_MS = 33;

interface OwnGrab {
  id: number;
  picked: Picked;
  plane: Plane;
  target: Vector3;
  sent: Vector3;
  sentMs: number;
  /** One on each body that it holds. */
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
  /** Targets lie within this distance of the world's origin, m. */
  reach: () => number;
  /** The world's origin, seen from the room's, m. */
  worldOrigin: Vector3;
  maxGrabs: number;
  /** What else a hand that takes hold here holds of other bodies. */
  others: (picked: SurfacePoint) => readonly SurfacePoint[];
}

export class GrabController {
  private readonly options: GrabControllerOptions;
  private readonly grabs = new Map<number, OwnGrab>();
  /** Bends of hands that hold or have let go, until the picture has their end. */
  private readonly bends: LocalBend[] = [];
  private nextId = 1;

  constructor(options: GrabControllerOptions) {
    this.options = options;
  }

  get count(): number {
    return this.grabs.size;
  }

  /**
   * @param clientX, clientY where the pointer is, for one that moves over the window
   * @returns false when all hands are taken
   */
  begin(pointer: number, picked: Picked, clientX = 0, clientY = 0): boolean {
    if (this.grabs.size >= this.options.maxGrabs) return false;
    const { view, send } = this.options;
    const facing = view.stage.camera.getWorldDirection(new Vector3());
    // Ids are a room member's own; 16 bits go round long before two live grabs could meet.
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
      // The first movement goes out at once: only then does anything pull.
      sentMs: -Infinity,
    });
    send(build.grab(id, picked, target.toArray() as Point, { together }));
    return true;
  }

  /** On each body the bend follows the same hand: how far that has gone is all that counts. */
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

  /** A hand that is in the room itself pulls to here, m. */
  pull(pointer: number, to: Vector3): void {
    const grab = this.grabs.get(pointer);
    if (grab) this.aim(grab, scratch.copy(to));
  }

  /** Moves every hand away from (positive) or towards the eye. @param steps wheel notches */
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

  /** The body was taken out: the server has let go already. */
  endOn(body: number): void {
    for (const [pointer, grab] of this.grabs) if (grab.picked.body === body) this.forget(pointer, grab, false);
  }

  /**
   * Lets go of everything.
   * @param tell the server too; not after a reset or a lost line, when it has let go by itself
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
   * Once per animation frame: says where the hands are, and brings the local bends to the moment shown.
   * @returns the bends to draw; live, read before the next call
   */
  update(moment: ShownMoment): readonly LocalBend[] {
    const { bends } = this;
    const { nowMs } = moment;
    const interval = this.interval();
    for (const grab of this.grabs.values()) if (nowMs - grab.sentMs >= interval) this.flush(grab, nowMs);
    // those of one hand share what is acknowledged: all of them see it before any of them has it forgotten
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
    // Looking along the plane the hand stays where it was.
    if (new Ray(origin, direction).intersectPlane(grab.plane, scratch)) this.aim(grab, scratch);
  }

  /** @param to inout: becomes a place that the server takes */
  private aim(grab: OwnGrab, to: Vector3): void {
    const { view, reach, worldOrigin } = this.options;
    to.y = Math.max(to.y, view.floorY);
    // the world ends that far from its own origin, not from the room's
    to.sub(worldOrigin)
      .clampLength(0, 0.98 * reach())
      .add(worldOrigin);
    grab.target.copy(to);
    for (const bend of grab.bends) bend.move(to.x, to.y, to.z);
    const nowMs = performance.now();
    if (nowMs - grab.sentMs >= this.interval()) this.flush(grab, nowMs);
  }

  /** Least time between two moves of one hand, ms. */
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
