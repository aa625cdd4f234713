/**
 * This member's hands: which points it holds, where it pulls them, and when that is said to the server. One grab per pointer (mouse
 * or finger). The hand moves in the plane that faced the camera when it took hold; the wheel moves that plane.
 */
import { Plane, Ray, Vector3 } from "three";
import { build, type Point } from "../net/messages.ts";
import type { DrawnGrab } from "../view/handsView.ts";
import { LocalBend } from "../view/localBend.ts";
import { surfacePoint } from "../view/picking.ts";
import type { Picked, RoomView } from "../view/roomView.ts";

/** Moves of all hands together stay well under the server's 60 inputs a second, which grabs and releases share. */
const MOVES_PER_SECOND = 48;
/** No hand is told more often than the server sends frames. */
const MOVE_INTERVAL_MS = 33;
/** Radius of the neighbourhood that answers at once, as a part of the body's own radius. */
const BEND_RADIUS = 0.42;

interface OwnGrab {
  id: number;
  picked: Picked;
  plane: Plane;
  target: Vector3;
  sent: Vector3;
  sentMs: number;
  bend: LocalBend;
  clientX: number;
  clientY: number;
}

export interface GrabControllerOptions {
  view: RoomView;
  send: (bytes: Uint8Array) => void;
  color: () => string;
  /** Targets lie within this distance of the world's origin, m. */
  reach: () => number;
  /** The world's origin, seen from the room's, m. */
  worldOrigin: Vector3;
  maxGrabs: number;
}

export class GrabController {
  private readonly options: GrabControllerOptions;
  private readonly grabs = new Map<number, OwnGrab>();
  private fading: LocalBend[] = [];
  private nextId = 1;

  constructor(options: GrabControllerOptions) {
    this.options = options;
  }

  get count(): number {
    return this.grabs.size;
  }

  /** @returns false when all hands are taken */
  begin(pointer: number, picked: Picked, clientX: number, clientY: number): boolean {
    if (this.grabs.size >= this.options.maxGrabs) return false;
    const { view, send } = this.options;
    const facing = view.stage.camera.getWorldDirection(new Vector3());
    const body = view.bodies[picked.body]!;
    const restPoint: Point = [0, 0, 0];
    surfacePoint(restPoint, { positions: body.rest, triangles: body.triangles }, picked.triangle, picked.u, picked.v);
    const bend = new LocalBend(body, restPoint, BEND_RADIUS * body.restRadius);
    // Ids are a room member's own; 16 bits go round long before two live grabs could meet.
    const id = this.nextId;
    this.nextId = (this.nextId % 60_000) + 1;
    const target = picked.point.clone();
    this.grabs.set(pointer, {
      id, picked, target, bend, clientX, clientY,
      plane: new Plane().setFromNormalAndCoplanarPoint(facing, picked.point),
      sent: target.clone(),
      sentMs: performance.now(),
    });
    bend.hand(target.x, target.y, target.z, performance.now());
    send(build.grab(id, picked, target.toArray() as Point));
    return true;
  }

  move(pointer: number, clientX: number, clientY: number): void {
    const grab = this.grabs.get(pointer);
    if (!grab) return;
    grab.clientX = clientX;
    grab.clientY = clientY;
    this.retarget(grab);
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
    this.forget(pointer, grab);
  }

  /** The body was taken out: the server has let go already. */
  endOn(body: number): void {
    for (const [pointer, grab] of this.grabs) if (grab.picked.body === body) this.forget(pointer, grab);
  }

  /** Lets go of everything. @param tell the server too; not after a reset or a lost line, when it has let go by itself */
  endAll(tell: boolean): void {
    for (const [pointer, grab] of this.grabs) {
      if (tell) this.options.send(build.release(grab.id));
      this.forget(pointer, grab);
    }
  }

  holds(pointer: number): boolean {
    return this.grabs.has(pointer);
  }

  /** Once per animation frame: says where the hands are, and hands out the local bends. */
  update(nowMs: number): readonly LocalBend[] {
    const interval = Math.max(MOVE_INTERVAL_MS, (1000 * this.grabs.size) / MOVES_PER_SECOND);
    for (const grab of this.grabs.values()) {
      grab.bend.hand(grab.target.x, grab.target.y, grab.target.z, nowMs);
      if (nowMs - grab.sentMs >= interval) this.flush(grab, nowMs);
    }
    const before = this.fading.length;
    this.fading = this.fading.filter((bend) => !bend.finished(nowMs));
    if (this.fading.length < before) this.options.view.invalidate();
    return [...[...this.grabs.values()].map((grab) => grab.bend), ...this.fading];
  }

  drawn(): DrawnGrab[] {
    const color = this.options.color();
    return [...this.grabs.values()].map(({ id, picked, target }) => ({
      id: "own:" + id, color, body: picked.body, triangle: picked.triangle, u: picked.u, v: picked.v, target: target.toArray() as Point,
    }));
  }

  private retarget(grab: OwnGrab): void {
    const { view, reach, worldOrigin } = this.options;
    const { origin, direction } = view.ray(grab.clientX, grab.clientY);
    // Looking along the plane the hand stays where it was.
    if (!new Ray(origin, direction).intersectPlane(grab.plane, scratch)) return;
    scratch.y = Math.max(scratch.y, view.floorY);
    // the world ends that far from its own origin, not from the room's
    scratch.sub(worldOrigin).clampLength(0, 0.98 * reach()).add(worldOrigin);
    grab.target.copy(scratch);
  }

  private flush(grab: OwnGrab, nowMs: number): void {
    if (grab.sent.equals(grab.target)) return;
    grab.sent.copy(grab.target);
    grab.sentMs = nowMs;
    this.options.send(build.move(grab.id, grab.target.toArray() as Point));
  }

  private forget(pointer: number, grab: OwnGrab): void {
    this.grabs.delete(pointer);
    grab.bend.release(performance.now());
    this.fading.push(grab.bend);
  }
}

const scratch = new Vector3();
