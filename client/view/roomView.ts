/**
 * The picture of one room: bodies, grabs, light and camera, updated once per animation frame from the displayed
 * positions. It draws only after a change, so a resting room does not use a phone's battery.
 */
import { type Object3D, Raycaster, Sphere, Triangle, Vector2, Vector3 } from "three";
import type { BodyLook } from "../../shared/scene/bodyLook.ts";
import type { MoverRow } from "../../shared/protocol/fromServer.ts";
import type { Topology } from "../../shared/topology.ts";
import type { SurfacePoint } from "../../shared/protocol/fromClient.ts";
import { BodyMesh } from "./bodies/bodyMesh.ts";
import { ContactBlobs } from "./colliders/contactBlobs.ts";
import { DebugDraw } from "./debugDraw.ts";
import { dressAll, mergeClouds, shineThrough } from "./bodies/dress.ts";
import { WHOLE, type FreeArea } from "../../shared/geometry/framing.ts";
import { CursorsView, type DrawnCursor, type DrawnGrab, type ShownCursor, type ViewSize } from "./grabs/cursorsView.ts";
import type { LocalBend } from "./grabs/localBend.ts";
import { closestSurfacePoint, surfacePoint } from "../../shared/geometry/surfacePoints.ts";
import { pickNearest, pickSurfaces } from "./grabs/picking.ts";
import type { GraphicsProbe } from "./stage/graphicsProbe.ts";
import { RubberBand } from "./grabs/rubberBand.ts";
import { Stage } from "./stage/stage.ts";
import { scaleFor, STRAIN_COLORS, type StrainKind } from "./bodies/strainView.ts";

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
  /** Simulated time of the room at the moment shown, s. */
  seconds: number;
  /** Displacements of moving colliders from their paths. */
  yields: readonly MoverRow[];
  /** True after the first frame has been received. */
  hasFrame: boolean;
  /** 1 for each spawnable body that is not in the room. */
  hidden: Uint8Array;
  grabs: readonly DrawnGrab[];
  cursors: readonly DrawnCursor[];
  bends: readonly LocalBend[];
}

/** Edges of a thing in the picture, CSS pixels. */
export interface Edges {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A body's edges, and the middle of the lower one. */
export interface Foot extends Edges {
  x: number;
  /** Color of the body, #rrggbb. */
  color: string;
}

/** Particles of a body among which the lowest in the picture is looked for: enough for a label. */
const FOOT_PARTICLES = 400;

/** Events after which the page itself should respond quickly. */
const PRESSES = ["pointerdown", "pointerup", "click", "keydown", "keyup"];

/** After this time without a change the picture stands still, ms. */
const STILL_MS = 600;
/** Search around the middle, at most 200 px away. */
const SPIRAL = { turns: 80, stepPx: 2.5 };

export class RoomView {
  readonly stage: Stage;
  readonly bodies: BodyMesh[];
  readonly debug: DebugDraw;
  /** Height of the floor, m; -Infinity without one. */
  readonly floorY: number;
  /** Pictures drawn so far. */
  drawn = 0;
  /** Area of the picture without tools. */
  freeArea: () => FreeArea = () => WHOLE;
  /** Draws the cursors of other members over the picture; called with each picture. */
  showCursors: (cursors: readonly ShownCursor[], width: number, height: number) => void = () => {};
  /**
   * Draws labels under bodies over the picture; called with each picture.
   * @param foot returns the point below a body. @param balls returns the colliders that are balls
   */
  showFeet: (foot: (body: number) => Foot | undefined, balls: () => Edges[]) => void = () => {};
  /** Shows the legend of the strain view. @param end strain at the end of the scale; undefined: the view is off */
  showStrainScale: (end: number | undefined, colors: readonly string[], kind: StrainKind) => void = () => {};
  /** End of the strain view's scale; undefined: it is off. */
  private strainEnd: number | undefined;
  private readonly strainKind: StrainKind;
  private readonly canvas: HTMLCanvasElement;
  /** Time since grabs were last updated, ms. */
  private elapsedMs = 0;
  /** Skip one animation frame after a press, so that the page's own change is shown before another picture. */
  private pressed = false;
  private readonly cursors = new CursorsView();
  private readonly blobs: ContactBlobs;
  /**
   * An invisible band that stays in the scene: otherwise its programs would be deleted and compiled again at every
   * grab.
   */
  private readonly warmth = new RubberBand("#ffffff");
  private readonly raycaster = new Raycaster();
  private readonly bounds = new Sphere();
  private readonly foot = new Vector3();
  /** Colliders that are balls. */
  private readonly balls: { object: Object3D; radius: number }[];
  private readonly ended = new AbortController();
  private dirty = true;
  /** Time of the last picture. */
  private drawnMs = 0;
  private visible = false;
  /** The cost of a picture with bodies has been measured. */
  private measured = false;
  /** `hidden` of the last frame, as a text of 0 and 1. */
  private hidden: string | undefined;

  /** @param displayed float32[3*particles] m: read at every frame; local bends write into it */
  constructor(canvas: HTMLCanvasElement, topology: Topology, displayed: Float32Array, probe: GraphicsProbe) {
    this.canvas = canvas;
    this.strainKind = topology.showStrain ?? "principal";
    this.bodies = topology.bodies.map((body, index) => new BodyMesh(body, index, displayed));
    this.cursors.together = topology.interaction.together ?? [];
    // Gas does not darken the floor.
    this.blobs = new ContactBlobs(this.bodies.filter(({ fluid }) => fluid?.type !== "gas"));
    this.stage = new Stage(canvas, topology, probe, this.blobs);
    this.balls = (topology.colliders ?? []).flatMap((collider, i) =>
      collider.type === "sphere" ? [{ object: this.stage.colliders.children[i]!, radius: collider.radius }] : [],
    );
    // Without their code, fluids and clouds are drawn as spheres, jelly as rubber, and cloth by its mesh.
    void Promise.allSettled([
      this.stage.useFluids(this.bodies),
      this.stage.refine(this.bodies),
      shineThrough(this.bodies),
      mergeClouds(this.bodies),
    ]).then(() => {
      this.stage.ready = true;
      this.invalidate();
    });
    this.floorY = floorOf(topology.colliders ?? []);
    this.debug = new DebugDraw(this.bodies);
    // Hide bodies before the first frame: otherwise the rest shape would be visible, and jump.
    for (const { mesh } of this.bodies) mesh.visible = false;
    this.stage.scene.add(...this.bodies.map(({ mesh }) => mesh));
    this.stage.over.add(this.cursors.group, this.debug.group);
    dressAll(
      { topology, bodies: this.bodies, colliders: this.stage.colliders, base: "", ended: this.ended.signal },
      () => this.invalidate(),
    );
    const { signal } = this.ended;
    const press = (): void => void (this.pressed = this.stage.software);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.invalidate(), { signal });
    for (const kind of PRESSES) addEventListener(kind, press, { signal, capture: true });
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  /** Frees the memory on the graphics card. */
  dispose(): void {
    this.ended.abort();
    for (const body of this.bodies) body.dispose();
    this.warmth.dispose();
    this.stage.dispose();
  }

  /** Compiles the programs of a grab with the next picture, so that the first grab does not stutter. */
  warmUp(): void {
    this.cursors.group.add(this.warmth.group);
    this.dirty = true;
  }

  /** Changes the look of a body. @param look absent fields are as in the scene */
  dress(index: number, look: BodyLook): void {
    const body = this.bodies[index];
    body?.dress(look);
    // Without its code, jelly is drawn as rubber.
    if (body) void shineThrough([body]).then(() => this.invalidate(), console.warn);
    this.invalidate();
  }

  /** Draws at the next frame even if nothing moved. */
  invalidate(): void {
    this.dirty = true;
  }

  resize(): void {
    this.stage.resize(this.canvas.clientWidth, this.canvas.clientHeight);
    this.reframe();
    // A resized drawing buffer is empty: fill it before the browser shows it.
    if (this.drawn > 0) this.stage.draw();
    this.dirty = true;
  }

  /** After a change of the free area: frames the bodies anew, unless the user has turned the view. */
  reframe(): void {
    if (this.visible) this.stage.reframe(this.shownPoints(), this.freeArea());
    this.dirty = true;
  }

  /** Returns to the scene's own view. */
  home(): void {
    this.stage.home(this.shownPoints(), this.freeArea());
    this.dirty = true;
  }

  /** Positions of all particles that are shown, float32[3n] m. */
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

  /** Switches the strain view. @returns true if it is on */
  toggleStrain(): boolean {
    this.strainEnd = this.strainEnd === undefined ? 0 : undefined;
    for (const body of this.bodies) body.showStrain(this.strainEnd === undefined ? undefined : this.strainKind);
    // The legend appears with the first scale.
    if (this.strainEnd === undefined) this.showStrainScale(undefined, STRAIN_COLORS, this.strainKind);
    this.dirty = true;
    return this.strainEnd !== undefined;
  }

  /** @returns true if a picture was drawn */
  frame(input: FrameInput): boolean {
    const { stage } = this;
    // Always draw for a headset: its eyes move all the time.
    const visited = stage.renderer.xr.isPresenting;
    this.elapsedMs += input.elapsedMs;
    if ((stage.busy || this.pressed) && !visited) {
      // Draw this change with the next picture.
      this.dirty ||= input.moved;
      this.pressed = false;
      return false;
    }
    this.follow(input);
    if (stage.keepPace(input.nowMs)) this.dirty = true;
    const cameraMoved = stage.controls.update();
    const collidersMoved = stage.movers.update(input.seconds, input.yields);
    const bent = input.bends.length > 0;
    for (const [index, body] of this.bodies.entries())
      if (body.setHeld(input.grabs.some((grab) => grab.body === index))) this.dirty = true;
    if (this.visible && (input.moved || bent || this.dirty)) {
      for (const bend of input.bends) bend.apply(this.floorY);
      this.updateBodies(input.seconds);
    }
    const size = { camera: stage.eye, width: this.canvas.clientWidth, height: this.canvas.clientHeight };
    const cursorsMoved = this.cursors.update(input.grabs, input.cursors, this.bodies, size, this.elapsedMs);
    this.elapsedMs = 0;
    if (!(visited || cameraMoved || collidersMoved || input.moved || bent || cursorsMoved || this.dirty)) {
      if (this.measured && input.nowMs - this.drawnMs > STILL_MS) stage.drawStill();
      return false;
    }
    this.dirty = false;
    this.drawnMs = input.nowMs;
    if (this.visible && !this.measured && !visited && stage.ready) {
      stage.useWhatIsThere();
      this.measured = true;
    }
    stage.draw();
    this.drawn++;
    this.warmth.group.removeFromParent();
    this.showCursors(this.cursors.onScreen(input.cursors, size), size.width, size.height);
    this.showFeet(
      (body) => this.footOf(body, size),
      () => this.ballEdges(size),
    );
    return true;
  }

  /** @returns undefined if it is out of sight */
  private footOf(index: number, { camera, width, height }: ViewSize): Foot | undefined {
    const body = this.bodies[index];
    if (!this.visible || !body || body.hidden) return undefined;
    // Some particles are enough; the bounding box of a slanted sheet ends far below the sheet.
    const { positions } = body;
    const stride = 3 * Math.ceil(positions.length / 3 / FOOT_PARTICLES);
    let [left, right, lowest, highest, near] = [Infinity, -Infinity, Infinity, -Infinity, true];
    for (let i = 0; i < positions.length; i += stride) {
      const at = this.foot.fromArray(positions, i);
      at.y -= body.radius ?? 0;
      const { x, y, z } = at.project(camera);
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [lowest, highest] = [Math.min(lowest, y), Math.max(highest, y)];
      near &&= Math.abs(z) <= 1;
    }
    const middle = (left + right) / 2;
    if (!near || Math.abs(middle) > 1 || Math.abs(lowest) > 1) return undefined;
    const color = `#${body.color.getHexString()}`;
    const across = (x: number) => ((1 + x) / 2) * width;
    const down = (y: number) => ((1 - y) / 2) * height;
    const edges = { left: across(left), right: across(right), top: down(highest), bottom: down(lowest) };
    return { ...edges, x: across(middle), color };
  }

  private ballEdges({ camera, width, height }: ViewSize): Edges[] {
    return this.balls.flatMap(({ object, radius }) => {
      const { x, y, z } = this.foot.copy(object.position).applyMatrix4(camera.matrixWorldInverse);
      if (z >= -radius) return [];
      const scale = height / (-2 * z * Math.tan((camera.fov * Math.PI) / 360));
      const [across, down, r] = [width / 2 + x * scale, height / 2 - y * scale, radius * scale];
      return [{ left: across - r, right: across + r, top: down - r, bottom: down + r }];
    });
  }

  /** Shows and hides bodies. After a change, reframes the view. */
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
    this.reframe();
  }

  private updateBodies(seconds: number): void {
    this.bounds.makeEmpty();
    for (const body of this.bodies) {
      if (body.hidden) continue;
      body.update(seconds);
      if (body.bounds.radius >= 0) this.bounds.union(body.bounds);
    }
    if (this.strainEnd !== undefined) this.scaleStrain(this.strainEnd);
    this.blobs.update();
    this.stage.coverShadows(this.bounds);
    this.debug.update();
  }

  private scaleStrain(current: number): void {
    const shown = this.bodies.filter(({ hidden }) => !hidden);
    const end = scaleFor(
      shown.map(({ strains }) => strains),
      current,
      this.strainKind === "area" ? 1 : Infinity,
    );
    for (const body of this.bodies) body.setStrainScale(end);
    if (end === current) return;
    this.strainEnd = end;
    this.showStrainScale(end, STRAIN_COLORS, this.strainKind);
  }

  /** Ray through a point of the window, CSS pixels. */
  ray(clientX: number, clientY: number): { origin: Vector3; direction: Vector3 } {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2);
    this.stage.camera.updateMatrixWorld();
    this.raycaster.setFromCamera(at, this.stage.camera);
    return this.raycaster.ray;
  }

  /**
   * Returns the surface point under a point of the window, on the displayed simulation surface; undefined if nothing or
   * a collider is there.
   * @param tolerancePx accepted distance beside the surface, CSS pixels
   */
  pick(clientX: number, clientY: number, tolerancePx: number): Picked | undefined {
    if (!this.visible) return undefined;
    const { origin, direction } = this.ray(clientX, clientY);
    const tangent =
      (tolerancePx * 2 * Math.tan((this.stage.camera.fov * Math.PI) / 360)) / Math.max(1, this.canvas.clientHeight);
    return this.pickAlong(origin, direction, tangent);
  }

  /**
   * Returns the surface point that a ray meets; undefined if nothing or a collider is there.
   * @param origin m
   * @param direction unit vector
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
   * Returns the surface point nearest to a point of the room; undefined if none is within reach.
   * @param at m. @param reach m. @param direction of the push, unit vector
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

  /** True if the pick saw the outside of its body; both sides of a cloth are outside. */
  facesOutside({ body, triangle, direction }: Picked): boolean {
    const { mode, thin, positions, triangles } = this.bodies[body]!;
    if (thin || mode === "points") return true;
    const corner = (k: number): Vector3 => new Vector3().fromArray(positions, 3 * triangles[3 * triangle + k]!);
    return new Triangle(corner(0), corner(1), corner(2)).getNormal(scratch).dot(direction) < 0;
  }

  /** Returns a surface point near the middle of the shown bodies; undefined if none is in sight. */
  pickMiddle(): Picked | undefined {
    const points = this.shownPoints();
    const middle = new Vector3();
    for (let i = 0; i < points.length; i += 3) middle.add(scratch.fromArray(points, i));
    const at = points.length > 0 ? this.project(middle.multiplyScalar(3 / points.length)) : undefined;
    if (!at) return undefined;
    // Concave bodies may have air in their middle: search around it in a spiral.
    for (let k = 0; k < SPIRAL.turns; k++) {
      const radius = SPIRAL.stepPx * k;
      const picked = this.pick(at.x + radius * Math.cos(k), at.y + radius * Math.sin(k), 0);
      if (picked) return picked;
    }
    return undefined;
  }

  /** Current position of a surface point, m. */
  surfacePoint({ body, triangle, u, v }: SurfacePoint): Vector3 {
    const out: [number, number, number] = [0, 0, 0];
    surfacePoint(out, this.bodies[body]!, triangle, u, v);
    return new Vector3(...out);
  }

  /** Point under a pointer: on a body, on a collider, or else on the plane through the camera's target. */
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

  /** Distance along the current ray to the nearest collider, m. */
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
