/** A headset session in a room, from its start to its end. The page's own picture is not drawn meanwhile. */
import { Box3, Color, Group, PerspectiveCamera, Vector3 } from "three";
import type { RoomView } from "../view/roomView.ts";
import { place, type Placement, toRoom } from "./placement.ts";
import { Side, type SideOptions } from "./sides.ts";

export interface VisitOptions extends SideOptions {
  /** Draws a picture; called at the headset's own rate. */
  frame: (nowMs: number) => void;
  /** Called at the end of the session, for any reason. */
  ended: () => void;
}

/** Near and far plane, m of the visitor's space. */
const NEAR = 0.05;
const FAR = 50;
/** Speed of thumbsticks: rotation, rad/s, and factor of the scale per second. */
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
   * Starts a session. Must be called within moments after a click, while the page has the user's permission.
   * @throws the browser's error if there is no headset or the visitor declines
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
    // The page's own animation frames come without an XRFrame: skip them.
    stage.renderer.setAnimationLoop((nowMs, frame) => frame && this.frame(nowMs, frame));
  }

  private show(): void {
    const { stage } = this.options.view;
    stage.scene.add(this.rig);
    stage.scene.background = new Color(getComputedStyle(document.documentElement).getPropertyValue("--paper").trim());
    stage.showTo(this.eyes);
  }

  end(): void {
    // Fails if the session has already ended: ignore it.
    void this.session.end().catch(() => {});
  }

  /** A point of the room in the visitor's space, m; undefined before the first picture. */
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

/** Bounds of the bodies and the floor below them, m. */
function boundsOf(view: RoomView): Box3 {
  const bounds = new Box3();
  const points = view.shownPoints();
  const point = new Vector3();
  for (let i = 0; i < points.length; i += 3) bounds.expandByPoint(point.fromArray(points, i));
  if (bounds.isEmpty()) view.stage.restBounds.getBoundingBox(bounds);
  if (Number.isFinite(view.floorY)) bounds.min.y = Math.min(bounds.min.y, view.floorY);
  return bounds;
}
