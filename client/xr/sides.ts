/**
 * Input of a visitor's two hands. A controller's trigger grabs the body that its ray meets, a pinch of a tracked hand
 * grabs a body near it, and fingertips push bodies. three tracks the hands and detects pinches.
 */
import {
  BufferGeometry,
  Group,
  InstancedMesh,
  Line,
  LineBasicMaterial,
  type Material,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  SphereGeometry,
  Vector3,
  type WebXRManager,
  type XRHandSpace,
  type XRTargetRaySpace,
} from "three";
import { XRHandPrimitiveModel } from "three/addons/webxr/XRHandPrimitiveModel.js";
import type { GrabController } from "../input/grabController.ts";
import type { Picked, RoomView } from "../view/roomView.ts";

export interface SideOptions {
  view: RoomView;
  grabs: GrabController;
  /** @param part share of the scene's largest impulse */
  push: (picked: Picked, part: number) => void;
  /** True if the player can act: the connection is open. */
  enabled: () => boolean;
  color: string;
}

/** Pointer id of the first hand: below the keyboard's, which is -1. */
const FIRST_POINTER = -2;
/** Largest distance of a grab by ray. All lengths here are in the visitor's space, m. */
const RAY_REACH = 5;
/** Radius of the ball that is drawn for a controller. */
const GRIP_RADIUS = 0.018;
/** Tangent of the angle by which a ray may miss. */
const RAY_TOLERANCE = 0.03;
/** Largest distance of a grab by pinch. */
const PINCH_REACH = 0.06;
/** Radius of a fingertip, for hands that do not report one. */
const TIP_RADIUS = 0.008;
/** Least movement of a finger that counts. */
const LEAST_MOTION = 0.003;
/** Speed of a finger whose push is the scene's largest impulse, m/s. */
const FULL_SPEED = 1;
/**
 * Time between two pushes of a finger, ms: with two hands most of the server's 60 inputs a second are left for pulls.
 */
const PUSH_INTERVAL_MS = 100;
/** Dead zone of a thumbstick. */
const STICK_REST = 0.15;

/** One side of the visitor: a controller or a tracked hand. */
export class Side {
  readonly group = new Group();
  private readonly options: SideOptions;
  private readonly pointer: number;
  private readonly ray: XRTargetRaySpace;
  private readonly hand: XRHandSpace;
  private readonly model: XRHandPrimitiveModel;
  private readonly joints: InstancedMesh;
  private readonly line: Line<BufferGeometry, LineBasicMaterial>;
  private readonly grip = new Mesh(new SphereGeometry(GRIP_RADIUS), new MeshStandardMaterial());
  private source: XRInputSource | undefined;
  /** The grabbed point: in the ray's space, or relative to the pinch in the room, m. */
  private readonly anchor = new Vector3();
  private holds: "ray" | "pinch" | undefined;
  /** Position of the fingertip at the last look, in the room, m. */
  private readonly tip = new Vector3();
  /** Time of the last look, ms; NaN: none. */
  private tipMs = Number.NaN;

  constructor(index: number, xr: WebXRManager, options: SideOptions) {
    this.options = options;
    this.pointer = FIRST_POINTER - index;
    this.ray = xr.getController(index);
    this.hand = xr.getHand(index);
    this.model = new XRHandPrimitiveModel(this.hand as never, this.hand as never, "", "left", { primitive: "sphere" });
    this.joints = this.hand.children.find((child) => child instanceof InstancedMesh)!;
    this.line = new Line(
      new BufferGeometry().setFromPoints([new Vector3(), new Vector3(0, 0, -1)]),
      new LineBasicMaterial({ color: options.color }),
    );
    this.ray.add(this.line, this.grip);
    this.group.add(this.ray, this.hand);
    this.ray.addEventListener("connected", this.connected);
    this.ray.addEventListener("disconnected", this.disconnected);
    this.ray.addEventListener("selectstart", this.selectStart);
    this.ray.addEventListener("selectend", this.selectEnd);
    this.hand.addEventListener("pinchstart", this.pinchStart);
    this.hand.addEventListener("pinchend", this.release);
  }

  /** Called once per picture, after the hands were tracked. */
  update(nowMs: number, scale: number): void {
    const { grabs } = this.options;
    // The server has released the grab: after a reset, or because the body was taken out.
    if (this.holds && !grabs.holds(this.pointer)) this.holds = undefined;
    this.line.visible = this.grip.visible = this.source !== undefined && !this.source.hand;
    if (this.line.visible) this.aim(scale);
    if (this.source?.hand && this.hand.joints["index-finger-tip"]) this.model.updateMesh();
    if (this.holds === "ray") grabs.pull(this.pointer, this.ray.localToWorld(scratch.copy(this.anchor)));
    else if (this.holds === "pinch") grabs.pull(this.pointer, this.pinch(scratch)!.add(this.anchor));
    this.touch(nowMs, scale);
  }

  /** Thumbstick, right and up, each -1 to 1; 0 without one. */
  stick(): { x: number; y: number } {
    const axes = this.source?.gamepad?.axes ?? [];
    const pick = (value = 0): number => (Math.abs(value) > STICK_REST ? value : 0);
    return { x: pick(axes[2]), y: -pick(axes[3]) };
  }

  dispose(): void {
    this.release();
    this.ray.removeEventListener("connected", this.connected);
    this.ray.removeEventListener("disconnected", this.disconnected);
    this.ray.removeEventListener("selectstart", this.selectStart);
    this.ray.removeEventListener("selectend", this.selectEnd);
    this.hand.removeEventListener("pinchstart", this.pinchStart);
    this.hand.removeEventListener("pinchend", this.release);
    this.ray.remove(this.line, this.grip);
    this.hand.remove(this.joints);
    this.line.geometry.dispose();
    this.line.material.dispose();
    this.grip.geometry.dispose();
    this.grip.material.dispose();
    this.joints.dispose();
    this.joints.geometry.dispose();
    (this.joints.material as Material).dispose();
  }

  private readonly connected = ({ data }: { data: XRInputSource }): void => {
    this.source = data;
  };

  private readonly disconnected = (): void => {
    this.release();
    this.source = undefined;
    this.tipMs = Number.NaN;
  };

  /** Tracked hands also fire select events for a pinch; `pinchStart` handles those. */
  private readonly selectStart = (): void => {
    if (this.source && !this.source.hand) this.take("ray");
  };

  private readonly selectEnd = (): void => {
    if (this.holds === "ray") this.release();
  };

  private readonly pinchStart = (): void => this.take("pinch");

  private readonly release = (): void => {
    if (this.holds) this.options.grabs.end(this.pointer);
    this.holds = undefined;
  };

  private take(by: "ray" | "pinch"): void {
    const { view, grabs, enabled } = this.options;
    if (!enabled() || this.holds) return;
    this.group.updateWorldMatrix(true, true);
    const scale = this.group.matrixWorld.getMaxScaleOnAxis();
    const at = this.pinch(new Vector3());
    const picked =
      by === "ray"
        ? this.pickByRay(RAY_REACH * scale)
        : at && view.pickNear(at, PINCH_REACH * scale, directionOf(this.ray));
    if (!picked || !grabs.begin(this.pointer, picked)) return;
    this.holds = by;
    this.anchor.copy(picked.point);
    if (by === "ray") this.ray.worldToLocal(this.anchor);
    else this.anchor.sub(at!);
  }

  private pickByRay(reach: number): Picked | undefined {
    const origin = new Vector3().setFromMatrixPosition(this.ray.matrixWorld);
    const picked = this.options.view.pickAlong(origin, directionOf(this.ray), RAY_TOLERANCE);
    return picked && picked.point.distanceTo(origin) <= reach ? picked : undefined;
  }

  /** Point between the fingertips, in the room; undefined if the fingers are not tracked. */
  private pinch(out: Vector3): Vector3 | undefined {
    const { "index-finger-tip": index, "thumb-tip": thumb } = this.hand.joints;
    if (!index || !thumb) return undefined;
    return out.setFromMatrixPosition(index.matrixWorld).lerp(other.setFromMatrixPosition(thumb.matrixWorld), 0.5);
  }

  /** Ends the drawn ray at the point that it would grab. */
  private aim(scale: number): void {
    const origin = other.setFromMatrixPosition(this.ray.matrixWorld).clone();
    const held = this.holds === "ray" ? this.anchor.length() : undefined;
    const met = held === undefined ? this.pickByRay(RAY_REACH * scale) : undefined;
    this.line.scale.z = held ?? (met ? met.point.distanceTo(origin) / scale : 0.5);
  }

  /** Pushes if the fingertip's path since the last look meets a surface from outside. The impulse follows its speed. */
  private touch(nowMs: number, scale: number): void {
    const joint = this.source?.hand ? this.hand.joints["index-finger-tip"] : undefined;
    if (!joint?.visible || this.hand.inputState.pinching || !this.options.enabled()) {
      this.tipMs = Number.NaN;
      return;
    }
    const now = other.setFromMatrixPosition(joint.matrixWorld);
    if (Number.isNaN(this.tipMs)) {
      this.tipMs = nowMs;
      this.tip.copy(now);
    }
    if (nowMs - this.tipMs < PUSH_INTERVAL_MS) return;
    const way = now.clone().sub(this.tip);
    const length = way.length();
    const seconds = (nowMs - this.tipMs) / 1000;
    this.tipMs = nowMs;
    if (length < LEAST_MOTION * scale) return;
    const picked = this.options.view.pickAlong(this.tip, way.divideScalar(length), 0);
    const reach = length + (joint.jointRadius || TIP_RADIUS) * scale;
    if (picked && picked.point.distanceTo(this.tip) <= reach && this.options.view.facesOutside(picked))
      this.options.push(picked, Math.min(1, length / scale / seconds / FULL_SPEED));
    this.tip.copy(now);
  }
}

/** Direction along -z, as of rays and cameras. */
function directionOf(object: Object3D): Vector3 {
  return new Vector3(0, 0, -1).transformDirection(object.matrixWorld);
}

const scratch = new Vector3();
const other = new Vector3();
