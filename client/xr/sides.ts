/**
 * What a visitor's two hands do: a controller's trigger holds what its ray meets, a pinch of a tracked hand what is
 * near it, and fingertips push what they run into. three says where the hands are and when a hand pinches.
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
  /** @param part of the largest impulse that the scene allows */
  push: (picked: Picked, part: number) => void;
  /** The player can act: the line is up. */
  enabled: () => boolean;
  color: string;
}

/** Among this member's pointers: below the keyboard's, whose id is -1. */
const FIRST_POINTER = -2;
/** All lengths are the visitor's, m. A ray takes hold of what is nearer than this. */
const RAY_REACH = 5;
/** A controller is drawn as a ball. */
const GRIP_RADIUS = 0.018;
/** Tangent of the angle by which a ray may miss. */
const RAY_TOLERANCE = 0.03;
/** A pinch takes hold of what is nearer than this. */
const PINCH_REACH = 0.06;
/** Where a hand does not say how thick its fingertip is. */
const TIP_RADIUS = 0.008;
/** A finger that has moved less has not moved. */
const LEAST_MOTION = 0.003;
/** A finger this fast pushes as hard as the scene allows, m/s. */
const FULL_SPEED = 1;
/** Between two pushes of a finger, ms: two hands leave most of the server's 60 inputs a second to pulls. */
const PUSH_INTERVAL_MS = 100;
/** Of a thumbstick; below it rests. */
const STICK_REST = 0.15;

/** A controller or a tracked hand, whichever is there. */
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
  /** Where the held point is: in the ray's space, or from the pinch in the room, m. */
  private readonly anchor = new Vector3();
  private holds: "ray" | "pinch" | undefined;
  /** Where the fingertip was when it was looked at last, in the room, m. */
  private readonly tip = new Vector3();
  /** When that was, ms; NaN: there is none. */
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

  /** Once per picture, when the hands are where they are now. */
  update(nowMs: number, scale: number): void {
    const { grabs } = this.options;
    // The server has let go: a reset, or the body was taken out.
    if (this.holds && !grabs.holds(this.pointer)) this.holds = undefined;
    this.line.visible = this.grip.visible = this.source !== undefined && !this.source.hand;
    if (this.line.visible) this.aim(scale);
    if (this.source?.hand && this.hand.joints["index-finger-tip"]) this.model.updateMesh();
    if (this.holds === "ray") grabs.pull(this.pointer, this.ray.localToWorld(scratch.copy(this.anchor)));
    else if (this.holds === "pinch") grabs.pull(this.pointer, this.pinch(scratch)!.add(this.anchor));
    this.touch(nowMs, scale);
  }

  /** Thumbstick, right and up, each -1 to 1; none: 0. */
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

  /** Tracked hands select by a pinch too, which is told apart below. */
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

  /** Between the fingers, in the room; undefined: the fingers are not seen. */
  private pinch(out: Vector3): Vector3 | undefined {
    const { "index-finger-tip": index, "thumb-tip": thumb } = this.hand.joints;
    if (!index || !thumb) return undefined;
    return out.setFromMatrixPosition(index.matrixWorld).lerp(other.setFromMatrixPosition(thumb.matrixWorld), 0.5);
  }

  /** The ray ends at what it would take. */
  private aim(scale: number): void {
    const origin = other.setFromMatrixPosition(this.ray.matrixWorld).clone();
    const held = this.holds === "ray" ? this.anchor.length() : undefined;
    const met = held === undefined ? this.pickByRay(RAY_REACH * scale) : undefined;
    this.line.scale.z = held ?? (met ? met.point.distanceTo(origin) / scale : 0.5);
  }

  /** The fingertip's way since the last look meets a surface from outside: a push, as hard as the finger was fast. */
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

/** Along -z, as rays and cameras look. */
function directionOf(object: Object3D): Vector3 {
  return new Vector3(0, 0, -1).transformDirection(object.matrixWorld);
}

const scratch = new Vector3();
const other = new Vector3();
