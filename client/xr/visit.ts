/** A visit to a room with a headset: from its session's begin to its end. The page's own picture rests meanwhile. */
import { Box3, Color, Group, PerspectiveCamera, Vector3 } from "three";
import type { RoomView } from "../view/roomView.ts";
import { place, type Placement, toRoom } from "./placement.ts";
import { Side, type SideOptions } from "./sides.ts";

export interface VisitOptions extends SideOptions {
  /** Draws; called at the headset's own rate. */
  frame: (nowMs: number) => void;
  /** The session is over, whoever ended it. */
  ended: () => void;
}

/** What the eyes see at all, m of the visitor's space. */
const NEAR = 0.05;
const FAR = 50;
/** Thumbsticks: rad/s, and by what the size grows in a second. */
const TURN_SPEED = 1.5;
const GROWTH = 2;

export class Visit {
  private readonly options: VisitOptions;
  private readonly session: XRSession;
  /** The visitor's space in the room. */
  private readonly rig = new Group();
  private readonly eyes = new PerspectiveCamera(50, 1, NEAR, FAR);
  private readonly sides: readonly Side[];
  private placement: Placement | undefined;
  private lastMs = Number.NaN;

  /**
   * To be called while the page has the visitor's leave, within moments after a click.
   * @throws what the browser says when there is no headset, or when the visitor declines
   */
  static async begin(options: VisitOptions): Promise<Visit> {
    const session = await navigator.xr!.requestSession("immersive-vr", {
      requiredFeatures: ["local-floor"],
      optionalFeatures: ["hand-tracking"],
    });
    const visit = new Visit(options, session);
    try {
      await options.view.stage.renderer.xr.setSession(session);
      visit.show();
    } catch (error) {
      visit.over();
      await session.end().catch(() => {});
      throw error;
    }
    return visit;
  }

  private constructor(options: VisitOptions, session: XRSession) {
    this.options = options;
    this.session = session;
    const { stage } = options.view;
    const { xr } = stage.renderer;
    this.sides = [0, 1].map((index) => new Side(index, xr, options));
    this.rig.matrixAutoUpdate = false;
    this.rig.add(this.eyes, ...this.sides.map(({ group }) => group));
    xr.enabled = true;
    xr.addEventListener("sessionend", this.over);
    // Frames of the page, before the session has begun, are none of a headset.
    stage.renderer.setAnimationLoop((nowMs, frame) => frame && this.frame(nowMs, frame));
  }

  private show(): void {
    const { stage } = this.options.view;
    stage.scene.add(this.rig);
    stage.scene.background = new Color(getComputedStyle(document.documentElement).getPropertyValue("--paper").trim());
    stage.showTo(this.eyes);
  }

  end(): void {
    // Ended already: there is nothing to end.
    void this.session.end().catch(() => {});
  }

  /** Where the visitor sees a point of the room, m of the visitor's space; undefined before the first picture. */
  seen(point: Vector3): Vector3 | undefined {
    return this.placement && point.clone().applyMatrix4(this.rig.matrix.clone().invert());
  }

  private readonly over = (): void => {
    const { stage } = this.options.view;
    const { renderer } = stage;
    renderer.xr.removeEventListener("sessionend", this.over);
    renderer.setAnimationLoop(null);
    renderer.xr.enabled = false;
    for (const side of this.sides) side.dispose();
    stage.scene.remove(this.rig);
    stage.scene.background = null;
    stage.showTo(undefined);
    this.options.view.resize();
    this.options.ended();
  };

  private frame(nowMs: number, frame: XRFrame): void {
    const { view } = this.options;
    const space = view.stage.renderer.xr.getReferenceSpace();
    const pose = space && frame.getViewerPose(space);
    if (pose && !this.placement) this.place(pose);
    const seconds = Math.min(0.1, (nowMs - this.lastMs) / 1000) || 0;
    this.lastMs = nowMs;
    if (this.placement) {
      for (const side of this.sides) {
        const { x, y } = side.stick();
        this.placement.turn += TURN_SPEED * seconds * x;
        this.placement.scale *= GROWTH ** (-seconds * y);
      }
      toRoom(this.rig.matrix, this.placement);
      this.rig.updateMatrixWorld(true);
      for (const side of this.sides) side.update(nowMs, this.placement.scale);
    }
    this.options.frame(nowMs);
  }

  private place({ transform }: XRViewerPose): void {
    const { view } = this.options;
    const { x, y, z } = transform.position;
    const [, , , , , , , , backX, , backZ] = transform.matrix;
    this.placement = place(boundsOf(view), view.stage.camera.getWorldDirection(new Vector3()), {
      position: new Vector3(x, y, z),
      heading: new Vector3(-backX!, 0, -backZ!),
    });
  }
}

/** Of the bodies and the floor below them, m. */
function boundsOf(view: RoomView): Box3 {
  const bounds = new Box3();
  const points = view.shownPoints();
  const point = new Vector3();
  for (let i = 0; i < points.length; i += 3) bounds.expandByPoint(point.fromArray(points, i));
  if (bounds.isEmpty()) view.stage.restBounds.getBoundingBox(bounds);
  if (Number.isFinite(view.floorY)) bounds.min.y = Math.min(bounds.min.y, view.floorY);
  return bounds;
}
