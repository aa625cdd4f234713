/**
 * The picture of one room: bodies, hands, light and camera, updated once per animation frame from the displayed
 * positions. It draws only when something has changed, so a resting room costs a phone's battery nothing.
 */
import { Box3, Raycaster, Sphere, Triangle, Vector2, Vector3 } from "three";
import type { Topology } from "../../shared/topology.ts";
import type { SurfacePoint } from "../../shared/protocol/fromClient.ts";
import { BodyMesh } from "./bodyMesh.ts";
import { ContactBlobs } from "./contactBlobs.ts";
import { DebugDraw } from "./debugDraw.ts";
import { dressAll } from "./dress.ts";
import { WHOLE, type FreeArea } from "../../shared/framing.ts";
import { HandsView, type DrawnCursor, type DrawnGrab, type ShownCursor, type ViewSize } from "./handsView.ts";
import type { LocalBend } from "./localBend.ts";
import { closestSurfacePoint, surfacePoint } from "../../shared/surface.ts";
import { pickNearest, pickSurfaces } from "./picking.ts";
import type { GraphicsProbe } from "./graphicsProbe.ts";
import { RubberBand } from "./rubberBand.ts";
import { Stage } from "./stage.ts";

export interface Picked extends SurfacePoint {
  /** m */
  point: Vector3;
  /** Unit direction of the ray that found it. */
  direction: Vector3;
}

export interface FrameInput {
  nowMs: number;
  elapsedMs: number;
  /** `displayed` has changed since the last frame. */
  moved: boolean;
  /** The room's time that is shown, s. */
  seconds: number;
  /** A frame has been received at all. */
  hasFrame: boolean;
  /** By body, 1: it is not there. */
  hidden: Uint8Array;
  grabs: readonly DrawnGrab[];
  cursors: readonly DrawnCursor[];
  bends: readonly LocalBend[];
}

/** Middle of a body's lower edge in the picture, CSS pixels. */
export interface Foot {
  x: number;
  y: number;
}

/** What people wait for an answer to. */
const PRESSES = ["pointerdown", "pointerup", "click", "keydown", "keyup"];

/** Looks around the middle, at most 200 px away. */
const SPIRAL = { turns: 80, stepPx: 2.5 };

export class RoomView {
  readonly stage: Stage;
  readonly bodies: BodyMesh[];
  readonly debug: DebugDraw;
  /** Height of the floor, m; -Infinity without one. */
  readonly floorY: number;
  /** Frames drawn so far. */
  drawn = 0;
  /** Where no tools lie. */
  freeArea: () => FreeArea = () => WHOLE;
  /** Draws the others' pointers over the picture; called with each picture. */
  showCursors: (cursors: readonly ShownCursor[], width: number, height: number) => void = () => {};
  /** Draws what stands under bodies over the picture; called with each picture. @param foot of a body in it */
  showFeet: (foot: (body: number) => Foot | undefined) => void = () => {};
  private readonly canvas: HTMLCanvasElement;
  /** Since hands were moved last, ms. */
  private elapsedMs = 0;
  /** The next animation frame is the page's alone: what a press changes on it comes before another picture. */
  private pressed = false;
  private readonly hands = new HandsView();
  private readonly blobs: ContactBlobs;
  /** Without extent. It stays: programs that nobody has are deleted, and every grab would compile its own. */
  private readonly warmth = new RubberBand("#ffffff");
  private readonly raycaster = new Raycaster();
  private readonly bounds = new Sphere();
  private readonly box = new Box3();
  private readonly foot = new Vector3();
  private readonly ended = new AbortController();
  private dirty = true;
  private visible = false;
  /** What a picture of the bodies costs is known. */
  private measured = false;
  /** Bodies that were hidden last, as a text of 0 and 1. */
  private hidden: string | undefined;

  /** @param displayed float32[3*particles] m: read at every frame; local bends write into it */
  constructor(canvas: HTMLCanvasElement, topology: Topology, displayed: Float32Array, probe: GraphicsProbe) {
    this.canvas = canvas;
    this.bodies = topology.bodies.map((body, index) => new BodyMesh(body, index, displayed));
    this.hands.together = topology.interaction.together ?? [];
    this.blobs = new ContactBlobs(this.bodies);
    this.stage = new Stage(canvas, topology, probe, this.blobs.spheres);
    this.floorY = floorOf(topology.colliders ?? []);
    this.debug = new DebugDraw(this.bodies);
    // Nothing is shown before the first frame: the rest shape would jump.
    for (const { mesh } of this.bodies) mesh.visible = false;
    this.stage.scene.add(...this.bodies.map(({ mesh }) => mesh), this.hands.group, this.debug.group);
    dressAll(
      { topology, bodies: this.bodies, colliders: this.stage.colliders, base: "", ended: this.ended.signal },
      () => this.invalidate(),
    );
    const { signal } = this.ended;
    const press = (): void => void (this.pressed = this.stage.software);
    for (const kind of PRESSES) addEventListener(kind, press, { signal, capture: true });
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  /** Frees what it has on the graphics card. */
  dispose(): void {
    this.ended.abort();
    for (const body of this.bodies) body.dispose();
    this.warmth.dispose();
    this.stage.renderer.dispose();
  }

  /** The next picture compiles what the first grab will need, so that it does not stutter just then. */
  warmUp(): void {
    this.hands.group.add(this.warmth.group);
    this.dirty = true;
  }

  /** Draw at the next frame even if nothing moved. */
  invalidate(): void {
    this.dirty = true;
  }

  resize(): void {
    this.stage.resize(this.canvas.clientWidth, this.canvas.clientHeight);
    if (this.visible) this.stage.reframe(this.shownPoints(), this.freeArea());
    // A resized drawing buffer is empty: fill it before the browser shows it.
    if (this.drawn > 0) this.stage.draw();
    this.dirty = true;
  }

  /** The scene's own view. */
  home(): void {
    this.stage.home(this.shownPoints(), this.freeArea());
    this.dirty = true;
  }

  /** float32[3n] m */
  shownPoints(): Float32Array {
    const shown = this.bodies.filter(({ hidden }) => !hidden).map(({ positions }) => positions);
    const points = new Float32Array(shown.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const positions of shown) {
      points.set(positions, at);
      at += positions.length;
    }
    return points;
  }

  toggleWireframe(on = !this.debug.group.visible): void {
    this.debug.group.visible = on;
    this.dirty = true;
  }

  /** @returns whether a picture was drawn */
  frame(input: FrameInput): boolean {
    const { stage } = this;
    // Eyes in a headset move all the time.
    const visited = stage.renderer.xr.isPresenting;
    this.elapsedMs += input.elapsedMs;
    if ((stage.busy || this.pressed) && !visited) {
      // what has moved meanwhile is drawn with the next picture
      this.dirty ||= input.moved;
      this.pressed = false;
      return false;
    }
    this.follow(input);
    if (stage.keepPace(input.nowMs)) this.dirty = true;
    const cameraMoved = stage.controls.update();
    const collidersMoved = stage.movers.update(input.seconds);
    const bent = input.bends.length > 0;
    if (this.visible && (input.moved || bent || this.dirty)) {
      for (const bend of input.bends) bend.apply(this.floorY);
      this.updateBodies();
    }
    const size = { camera: stage.eye, width: this.canvas.clientWidth, height: this.canvas.clientHeight };
    const handsMoved = this.hands.update(input.grabs, input.cursors, this.bodies, size, this.elapsedMs);
    this.elapsedMs = 0;
    if (!(visited || cameraMoved || collidersMoved || input.moved || bent || handsMoved || this.dirty)) return false;
    this.dirty = false;
    if (this.visible && !this.measured && !visited) stage.useWhatIsThere();
    this.measured ||= this.visible && !visited;
    stage.draw();
    this.drawn++;
    this.warmth.group.removeFromParent();
    this.showCursors(this.hands.onScreen(input.cursors, size), size.width, size.height);
    this.showFeet((body) => this.footOf(body, size));
    return true;
  }

  /** @returns undefined where it is not to be seen */
  private footOf(index: number, { camera, width, height }: ViewSize): Foot | undefined {
    const body = this.bodies[index];
    if (!body || body.hidden) return undefined;
    const { min, max } = this.box.setFromArray(body.positions as never);
    // the edge of its lower side that is in front
    const corners = [min.x, max.x].flatMap((x) =>
      [min.z, max.z].map((z) => this.foot.set(x, min.y, z).project(camera).y),
    );
    const at = this.foot.set((min.x + max.x) / 2, min.y, (min.z + max.z) / 2).project(camera);
    const lowest = Math.min(...corners);
    if (Math.abs(at.x) > 1 || Math.abs(lowest) > 1 || Math.abs(at.z) > 1) return undefined;
    return { x: ((1 + at.x) / 2) * width, y: ((1 - lowest) / 2) * height };
  }

  /** Shows the bodies that are there; the first ones, and those that are put in, are framed. */
  private follow({ hasFrame, hidden }: FrameInput): void {
    if (!hasFrame && !this.visible) return;
    this.visible = true;
    const now = hidden.join("");
    if (now === this.hidden) return;
    this.hidden = now;
    for (const [index, body] of this.bodies.entries()) {
      body.hidden = hidden[index] === 1;
      body.mesh.visible = !body.hidden;
    }
    this.stage.reframe(this.shownPoints(), this.freeArea());
    this.dirty = true;
  }

  private updateBodies(): void {
    this.bounds.makeEmpty();
    for (const body of this.bodies) {
      if (body.hidden) continue;
      body.update();
      if (body.bounds.radius >= 0) this.bounds.union(body.bounds);
    }
    this.blobs.update();
    this.stage.coverShadows(this.bounds);
    this.debug.update();
  }

  /** A ray through a point of the window, CSS pixels. */
  ray(clientX: number, clientY: number): { origin: Vector3; direction: Vector3 } {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2);
    this.stage.camera.updateMatrixWorld();
    this.raycaster.setFromCamera(at, this.stage.camera);
    return this.raycaster.ray;
  }

  /**
   * The surface point under a point of the window, by the displayed simulation surface; undefined when nothing or a
   * collider is there.
   * @param tolerancePx how far beside the surface still counts, CSS pixels
   */
  pick(clientX: number, clientY: number, tolerancePx: number): Picked | undefined {
    if (!this.visible) return undefined;
    const { origin, direction } = this.ray(clientX, clientY);
    const tangent =
      (tolerancePx * 2 * Math.tan((this.stage.camera.fov * Math.PI) / 360)) / Math.max(1, this.canvas.clientHeight);
    return this.pickAlong(origin, direction, tangent);
  }

  /**
   * The surface point that a ray meets; undefined when nothing or a collider is there.
   * @param origin m. @param direction unit vector
   * @param tangent of the angle by which the ray may miss
   */
  pickAlong(origin: Vector3, direction: Vector3, tangent: number): Picked | undefined {
    if (!this.visible) return undefined;
    const from = origin.toArray() as [number, number, number];
    const along = direction.toArray() as [number, number, number];
    const hit = pickSurfaces(this.bodies, from, along) ?? pickNearest(this.bodies, from, along, tangent);
    this.raycaster.set(origin, direction);
    if (!hit || hit.distance > this.colliderDistance()) return undefined;
    const { body, triangle, u, v } = hit;
    return {
      body,
      triangle,
      u,
      v,
      point: origin.clone().addScaledVector(direction, hit.distance),
      direction: direction.clone(),
    };
  }

  /**
   * The surface point that is nearest to a point of the room; undefined: none is within reach.
   * @param at m. @param reach m. @param direction of what takes it, unit vector
   */
  pickNear(at: Vector3, reach: number, direction: Vector3): Picked | undefined {
    let best: Picked | undefined;
    let least = reach;
    for (const [body, { hidden, positions, triangles }] of this.bodies.entries()) {
      if (hidden || !this.visible) continue;
      const found = closestSurfacePoint(body, positions, triangles, at.toArray() as [number, number, number]);
      const point = this.surfacePoint(found);
      const distance = point.distanceTo(at);
      if (distance > least) continue;
      least = distance;
      best = { ...found, point, direction: direction.clone() };
    }
    return best;
  }

  /** What was picked is seen from outside of its body; a cloth has two sides, both outside. */
  facesOutside({ body, triangle, direction }: Picked): boolean {
    const { mode, thin, positions, triangles } = this.bodies[body]!;
    if (thin || mode === "points") return true;
    const corner = (k: number): Vector3 => new Vector3().fromArray(positions, 3 * triangles[3 * triangle + k]!);
    return new Triangle(corner(0), corner(1), corner(2)).getNormal(scratch).dot(direction) < 0;
  }

  /** A surface point near the middle of what is shown; undefined: none is in sight. */
  pickMiddle(): Picked | undefined {
    const points = this.shownPoints();
    const middle = new Vector3();
    for (let i = 0; i < points.length; i += 3) middle.add(scratch.fromArray(points, i));
    const at = points.length > 0 ? this.project(middle.multiplyScalar(3 / points.length)) : undefined;
    if (!at) return undefined;
    // Concave bodies have air in their middle: look around it in a spiral.
    for (let k = 0; k < SPIRAL.turns; k++) {
      const radius = SPIRAL.stepPx * k;
      const picked = this.pick(at.x + radius * Math.cos(k), at.y + radius * Math.sin(k), 0);
      if (picked) return picked;
    }
    return undefined;
  }

  /** Where a surface point is now, m. */
  surfacePoint({ body, triangle, u, v }: SurfacePoint): Vector3 {
    const out: [number, number, number] = [0, 0, 0];
    surfacePoint(out, this.bodies[body]!, triangle, u, v);
    return new Vector3(...out);
  }

  /** Where a pointer points: on a body, on a collider, or else on the plane through the camera's target. */
  pointAt(clientX: number, clientY: number): Vector3 {
    const { origin, direction } = this.ray(clientX, clientY);
    const hit = this.visible
      ? pickSurfaces(
          this.bodies,
          origin.toArray() as [number, number, number],
          direction.toArray() as [number, number, number],
        )
      : undefined;
    const reach = Math.min(hit?.distance ?? Infinity, this.colliderDistance());
    const fallback = this.stage.controls.target.distanceTo(this.stage.camera.position);
    return origin.clone().addScaledVector(direction, Math.min(reach, 1.6 * fallback));
  }

  /** Screen position of a world point, CSS pixels of the window; undefined behind the camera. */
  project(point: Vector3): { x: number; y: number } | undefined {
    this.stage.camera.updateMatrixWorld();
    const p = point.clone().project(this.stage.camera);
    if (p.z > 1) return undefined;
    const box = this.canvas.getBoundingClientRect();
    return { x: box.left + ((p.x + 1) / 2) * box.width, y: box.top + ((1 - p.y) / 2) * box.height };
  }

  /** Of the current ray to the nearest collider, m. */
  private colliderDistance(): number {
    return this.raycaster.intersectObject(this.stage.colliders, true)[0]?.distance ?? Infinity;
  }
}

function floorOf(colliders: Topology["colliders"]): number {
  let height = -Infinity;
  for (const collider of colliders) {
    if (collider.type === "plane" && collider.normal[1] > 0.999) height = Math.max(height, collider.offset);
  }
  return height;
}

const scratch = new Vector3();
