/** Renderer, camera, scene and light: all parts of the picture except bodies and grabs. */
import {
  Box3,
  NeutralToneMapping,
  type BufferGeometry,
  Color,
  Group,
  type Mesh,
  type ShadowMaterial,
  BasicShadowMap,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  Sphere,
  Spherical,
  SRGBColorSpace,
  Vector3,
  Vector4,
  WebGLRenderer,
} from "three";
import type { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Topology } from "../../../shared/topology.ts";
import { float32Of, uint32Of } from "../../../shared/bytes.ts";
import { colliderMeshes, type FloorUniforms } from "../colliders/colliderMeshes.ts";
import type { ContactBlobs } from "../colliders/contactBlobs.ts";
import { MovingColliders } from "../colliders/movingColliders.ts";
import type { BodyMesh } from "../bodies/bodyMesh.ts";
import { KEY_DIRECTION, LIGHT, Studio } from "./studioLight.ts";
import { BACKDROP } from "../bodies/backdrop.ts";
import { FETCH_GLSL } from "../bodies/skinShader.ts";
import type { FluidLayer } from "../fluids/fluidLayer.ts";
import type { GraphicsProbe } from "./graphicsProbe.ts";
import { oneKindOfPointer, ViewControls } from "../grabs/pointerKinds.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { clearOfTools, frame, inside, WHOLE, withSpace, type FreeArea } from "../../../shared/geometry/framing.ts";
import { LEVELS, QualityGovernor, SOFTWARE_LEVEL } from "./pictureQuality.ts";

/** Colors of the floor's shade; not black, because a room has ambient light. */
const SHADE_LIGHT = "#3d2d25";
const SHADE_DARK = "#06080b";
/**
 * Pool of light on the floor: color, and its share in the middle. Without one, the dark page is too dark for shadows.
 */
const POOL_LIGHT = { color: "#fff8ee", share: 0.25 };
const POOL_DARK = { color: "#a3b0c0", share: 0.32 };
/** Light that shines through jelly from behind and from the floor. */
const BACKDROP_LIGHT = { behind: "#fff8ee", below: "#b3a08d", page: "#ede2d4" };
const BACKDROP_DARK = { behind: "#93a0ae", below: "#1f242a", page: "#3d454e" };
/**
 * Below this height of the free part (the whole picture has 2), as on a phone in landscape, the scene's own view would
 * be partly under tools.
 */
const LOW = 1;
/** Largest radius of all colliders shown with their whole shadows, in scene radii: a larger one leaves few texels. */
const MOST_FIXED = 1.7;
/** Farthest step back to see all bodies, relative to the scene's own view. */
const MOST_BACK = { tall: 3, wide: 1.8 };
/** Least elevation of the camera on tall screens, in degrees. */
const RAISED = 16;
/** Height of glass walls above the highest body at rest, in scene radii. */
const WALL_ABOVE = 0.04;
/** Pixel ratio of a still picture of software rendering, relative to moving ones, and its upper limit. */
const STILL = 2;
const MOST_STILL = 2;

export class Stage {
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  /** Bands and lines, which are drawn over fluids, too. */
  readonly over = new Group();
  readonly camera = new PerspectiveCamera(38, 1, 0.01, 100);
  readonly controls: OrbitControls;
  /** Current camera: the page's, or the eyes of a visitor with a headset. */
  eye = this.camera;
  /** Quality of the current picture: a headset has its own, and afterwards the page's is used again. */
  quality: QualityGovernor;
  private readonly pageQuality: QualityGovernor;
  /** Rest bounds of everything that can move. */
  readonly restBounds: Sphere;
  readonly floor: FloorUniforms;
  readonly colliders: Group;
  readonly movers: MovingColliders;
  /** Bodies that are drawn over the solid scene. */
  private fluids: FluidLayer | undefined;
  /** All code that draws the bodies is here. */
  ready = false;
  private bodies: readonly BodyMesh[] = [];
  /** All planes: normal and offset. */
  private readonly walls: readonly Vector4[];
  private readonly studio: Studio;
  private readonly homePosition: Vector3;
  private readonly homeTarget: Vector3;
  /** The filter of soft shadows is here. */
  private penumbras = false;
  private lastFrameMs = 0;
  private sized = false;
  private readonly fit: boolean;
  /** Space that the bodies need at first. */
  private readonly space: Topology["camera"]["space"];
  /** Box around colliders that end; undefined without any, or if they are far larger than the bodies. */
  private fixed: Topology["camera"]["space"];
  /** Software rendering. */
  readonly software: boolean;
  /** The canvas shows a picture of `drawStill`. */
  private still = false;
  /** Signaled when the last picture is finished; only with software rendering. */
  private drawing: WebGLSync | null = null;
  /** The view continues to turn for a moment, unless the user prefers reduced motion. */
  private readonly swings = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  /** The user has turned or moved the view; it is not reframed until *Home*. */
  private moved = false;

  /** `?quality=0` (best) to `?quality=6` in the page's address pins the level: for screenshots and comparisons. */
  constructor(
    canvas: HTMLCanvasElement,
    topology: Topology,
    probe: GraphicsProbe,
    blobs: Pick<ContactBlobs, "spheres" | "tints">,
  ) {
    const wanted = new URLSearchParams(location.search).get("quality");
    this.quality =
      wanted === null
        ? new QualityGovernor(probe.software ? SOFTWARE_LEVEL : 0)
        : new QualityGovernor(Number(wanted) || 0, true);
    this.pageQuality = this.quality;
    this.software = probe.software;
    // Software multisampling misses samples along shared edges, where the background would show as specks and dashes.
    const renderer = new WebGLRenderer({
      canvas,
      antialias: !probe.software,
      alpha: true,
      powerPreference: "high-performance",
    });
    this.renderer = renderer;
    renderer.outputColorSpace = SRGBColorSpace;
    renderer.toneMapping = NeutralToneMapping;
    renderer.toneMappingExposure = 1;
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
    const box = boxOfRest(topology);
    this.restBounds = new Sphere(box.getCenter(new Vector3()), 0.5 * box.min.distanceTo(box.max));
    const radius = Math.max(0.05, this.restBounds.radius);
    const [pliantBlobs, pliantTints] = [{ value: blobs.spheres }, { value: blobs.tints }];
    this.floor = { pliantBlobs, pliantTints, pliantPool: { value: new Vector4() }, shade: new Color() };
    const { shadowMap, environment } = LEVELS[this.quality.level]!;
    this.studio = new Studio(this.scene, shadowMap);
    this.studio.useEnvironment(environment, renderer);
    this.scene.add(this.over);
    this.colliders = colliderMeshes(topology.colliders ?? [], {
      radius,
      center: this.restBounds.center,
      bottom: box.min.y,
      top: box.max.y + WALL_ABOVE * radius,
      floor: this.floor,
      clothEdge: clothEdgeOf(topology),
    });
    this.scene.add(this.colliders);
    this.keepWhole(radius);
    this.walls = (topology.colliders ?? []).flatMap((collider) =>
      collider.type === "plane"
        ? [new Vector4(...collider.normal, collider.offset).divideScalar(Math.hypot(...collider.normal))]
        : [],
    );
    this.movers = new MovingColliders(topology.colliders ?? [], this.colliders.children);

    this.homePosition = new Vector3(...topology.camera.position);
    this.homeTarget = new Vector3(...topology.camera.target);
    this.fit = topology.camera.fit === true;
    this.space = topology.camera.space;
    const reach = Math.max(radius, this.homePosition.distanceTo(this.homeTarget));
    this.camera.near = reach / 200;
    this.camera.far = reach * 40;
    oneKindOfPointer(canvas);
    this.controls = new ViewControls(this.camera, canvas);
    // three's controls write one here, which would hide the cursors of the page's styles.
    canvas.style.cursor = "";
    this.controls.enableDamping = this.swings;
    this.controls.dampingFactor = 0.09;
    this.controls.minDistance = 0.15 * reach;
    this.controls.maxDistance = 6 * reach;
    // Keep the eye above the floor, because nothing is drawn below it.
    this.controls.maxPolarAngle = 0.53 * Math.PI;
    this.controls.addEventListener("start", () => (this.moved = true));
    this.home();
    this.followColorScheme();
  }

  /** @param radius of the bodies, m */
  private keepWhole(radius: number): void {
    const meshes = this.colliders.children as Mesh[];
    const casters = boxOf(
      meshes.filter(({ castShadow }) => castShadow),
      MOST_FIXED * radius,
    );
    casters?.getBoundingSphere(this.studio.fixed);
    const box = boxOf(
      meshes.filter(({ castShadow, name }) => castShadow || name === "glass"),
      MOST_FIXED * radius,
    );
    if (box) this.fixed = { min: box.min.toArray(), max: box.max.toArray() };
    this.studio.cover(this.restBounds);
  }

  /**
   * Returns to the scene's own view. On a tall screen the camera steps back, so that the width still fits, and looks
   * down on the floor, which would be a line in a large picture. Without a camera in the scene, the shown points are
   * framed to nearly fill the free part of the picture. With one, they are framed only on low screens and where they
   * would not fit, and not from nearer than the scene's camera. On wide screens its view moves into the free part, and
   * only the width must fit: bodies may fall into the picture.
   * @param shown float32[3n] m; free: area without tools
   */
  home(shown: Float32Array = new Float32Array(0), free = WHOLE): void {
    this.moved = false;
    // An update without damping stops a turn that is still going on.
    this.controls.enableDamping = false;
    this.controls.update();
    this.controls.enableDamping = this.swings;
    const tall = this.camera.aspect < 1;
    const step = this.homePosition
      .clone()
      .sub(this.homeTarget)
      .multiplyScalar(tall ? 1 + 0.55 * (1 / this.camera.aspect - 1) : 1);
    if (tall && this.colliders.getObjectByName("floor")) step.copy(raised(step));
    const tanY = Math.tan((this.camera.fov * Math.PI) / 360);
    const lens = { tanX: tanY * this.camera.aspect, tanY };
    const low = free.top - free.bottom < LOW;
    // A tall screen is narrow: a tray or a funnel beside the bodies would be cut off.
    if (!this.fit && shown.length > 0 && tall) shown = withSpace(shown, this.fixed);
    const back = step.toArray();
    const own = clearOfTools(this.homeTarget.toArray(), back, tanY, tall ? WHOLE : free);
    const seen = tall ? free : { ...free, bottom: -Infinity, top: Infinity };
    let { position, target } = own;
    if (shown.length > 0 && (this.fit || low || !inside(shown, own.position, back, lens, seen))) {
      const along = ([x, y, z]: Vec3): number => new Vector3(x, y, z).sub(this.homeTarget).dot(step) / step.length();
      const nearest = this.fit ? -Infinity : new Vector3(...own.position).dot(step) / step.length();
      // A ball that has left a tray must not cut off the tray.
      const around = this.fit ? this.space : low ? undefined : this.fixed;
      const framed = frame(withSpace(shown, around), back, lens, free, nearest);
      // Bodies that have rolled away would make all others small.
      const most = (tall ? MOST_BACK.tall : MOST_BACK.wide) * along(own.position);
      if (this.fit || low || along(framed.position) <= most) ({ position, target } = framed);
    }
    this.camera.position.set(...position);
    this.controls.target.set(...target);
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.controls.maxDistance = Math.max(this.controls.maxDistance, 2 * distance);
    this.controls.update();
  }

  /** Moves the camera and its target, as a user would: it is not reframed until *Home*. @param step m */
  shift(step: Vector3): void {
    this.camera.position.add(step);
    this.controls.target.add(step);
    this.moved = true;
  }

  /** After a change of the window or of the shown bodies: reframes, unless the user has turned the view. */
  reframe(shown: Float32Array, free: FreeArea): void {
    if (!this.moved) this.home(shown, free);
  }

  /** Fits the drawing buffer to the element; cheap if nothing changed. */
  resize(width: number, height: number): void {
    // Without a layout, or hidden, there is no shape to fit: the camera would step back for good.
    if (width === 0 || height === 0) return;
    this.camera.aspect = Math.max(0.1, width / height);
    this.camera.updateProjectionMatrix();
    // A headset's picture has the headset's size.
    if (this.renderer.xr.isPresenting) return;
    this.renderer.setPixelRatio(this.pixelRatio(this.quality.level));
    this.still = false;
    this.renderer.setSize(width, height, false);
    if (!this.sized) this.home();
    this.sized = true;
  }

  /**
   * Draws a picture that will stand for a while. Software rendering has no multisampling: here more pixels take its
   * place, which are too slow for a moving picture. The next ordinary picture has the level's own resolution.
   */
  drawStill(): void {
    if (!this.software || this.quality.pinned || this.still || this.renderer.xr.isPresenting) return;
    this.still = true;
    const ratio = Math.min(MOST_STILL, STILL * this.pixelRatio(this.quality.level));
    if (ratio === this.renderer.getPixelRatio()) return;
    this.renderer.setPixelRatio(ratio);
    this.present();
  }

  /** Without multisampling, more pixels than the screen has take its place. */
  private pixelRatio(level: number): number {
    const { pixelRatio } = LEVELS[level]!;
    return this.software ? pixelRatio : Math.min(devicePixelRatio, pixelRatio);
  }

  /**
   * Measures and climbs to a better quality level, for software rendering on many cores. Called once, with the bodies.
   */
  useWhatIsThere(): void {
    if (!this.software) return;
    const { gl } = this;
    const pixel = new Uint8Array(4);
    const draw = (): void => {
      this.render();
      // Reading a pixel waits until the picture is finished.
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    };
    this.quality.climb((level) => {
      this.applyQuality(level);
      // The first one compiles.
      draw();
      const startMs = performance.now();
      draw();
      return performance.now() - startMs;
    });
    this.applyQuality(this.quality.level);
  }

  coverShadows(bounds: Sphere): void {
    this.studio.cover(bounds);
  }

  /** @param eyes of a visitor with a headset, in the scene; undefined: back to the page */
  showTo(eyes: PerspectiveCamera | undefined): void {
    this.eye = eyes ?? this.camera;
    this.quality = eyes ? new QualityGovernor(this.pageQuality.level, this.pageQuality.pinned) : this.pageQuality;
    this.applyQuality(this.quality.level);
    this.leaveFluids();
    // Time without pictures is a pause, not slowness.
    this.lastFrameMs = 0;
  }

  /**
   * Draws fluids among the bodies as such, if the browser can. Their code is a separate file; until it is here they are
   * not drawn.
   */
  async useFluids(bodies: readonly BodyMesh[]): Promise<void> {
    this.bodies = bodies.filter(({ fluid }) => fluid);
    if (this.bodies.length === 0) return;
    for (const body of this.bodies) body.leaveToFluidLayer(true);
    try {
      const { FluidLayer } = await import("../fluids/fluidLayer.ts");
      this.fluids = FluidLayer.of(this.renderer, bodies, {
        key: KEY_DIRECTION,
        walls: this.walls,
        fetch: FETCH_GLSL,
        light: LIGHT,
        finer: this.quality.level < SOFTWARE_LEVEL,
        backdrop: BACKDROP.pliantPage,
      });
    } finally {
      this.leaveFluids();
    }
  }

  /** Loads the code of smooth sheets and of soft shadows, if the renderer is fast enough. */
  async refine(bodies: readonly BodyMesh[]): Promise<void> {
    if (this.quality.level >= SOFTWARE_LEVEL) return;
    const { refineSheet } = await import("./finer.ts");
    for (const body of bodies) if (body.mode === "sheet") refineSheet(body);
    this.penumbras = true;
    this.applyQuality(this.quality.level);
  }

  private leaveFluids(): void {
    // A headset draws two eyes in one go: there fluids are spheres.
    for (const body of this.bodies) body.leaveToFluidLayer(this.fluids !== undefined && !this.renderer.xr.isPresenting);
  }

  draw(): void {
    if (this.still) this.applyQuality(this.quality.level);
    this.present();
  }

  private present(): void {
    this.render();
    if (!this.software) return;
    const gl = this.gl;
    gl.deleteSync(this.drawing);
    this.drawing = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
  }

  private render(): void {
    const { renderer, scene, fluids, over } = this;
    const flat = fluids !== undefined && !renderer.xr.isPresenting;
    over.visible = !flat;
    renderer.render(scene, this.eye);
    if (flat) fluids.draw(scene, this.camera, LEVELS[this.quality.level]!.fluids);
    over.visible = true;
    if (!flat) return;
    renderer.autoClear = false;
    renderer.render(over, this.camera);
    renderer.autoClear = true;
  }

  /**
   * True while software rendering still draws the last picture. Queued pictures would show nothing sooner, and the
   * page's response to a press would come after all of them.
   */
  get busy(): boolean {
    return this.drawing !== null && this.gl.getSyncParameter(this.drawing, this.gl.SYNC_STATUS) === this.gl.UNSIGNALED;
  }

  /** Frees the memory on the graphics card. */
  dispose(): void {
    this.fluids?.dispose();
    this.renderer.dispose();
  }

  private get gl(): WebGL2RenderingContext {
    return this.renderer.getContext() as WebGL2RenderingContext;
  }

  /**
   * Called once for every animation frame, before it draws.
   * @returns true if the quality has changed, which empties the drawing buffer
   */
  keepPace(nowMs: number): boolean {
    const lowered = this.quality.frame(nowMs, nowMs - this.lastFrameMs);
    this.lastFrameMs = nowMs;
    if (lowered) this.applyQuality(this.quality.level);
    return lowered;
  }

  private applyQuality(level: number): void {
    const settings = LEVELS[level]!;
    this.studio.useEnvironment(settings.environment, this.renderer);
    this.studio.useShadows(settings.shadowMap);
    this.renderer.shadowMap.type = settings.softShadows && this.penumbras ? BasicShadowMap : PCFShadowMap;
    if (!this.renderer.xr.isPresenting) this.renderer.setPixelRatio(this.pixelRatio(level));
    this.still = false;
  }

  private followColorScheme(): void {
    const floorMaterial = (this.colliders.getObjectByName("floor") as Mesh<BufferGeometry, ShadowMaterial> | undefined)
      ?.material;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      this.floor.shade.set(dark.matches ? SHADE_DARK : SHADE_LIGHT);
      floorMaterial?.color.copy(this.floor.shade);
      const { color, share } = dark.matches ? POOL_DARK : POOL_LIGHT;
      const { r, g, b } = new Color(color);
      this.floor.pliantPool.value.set(r, g, b, share);
      const { behind, below, page } = dark.matches ? BACKDROP_DARK : BACKDROP_LIGHT;
      BACKDROP.pliantBehind.value.set(behind);
      BACKDROP.pliantBelow.value.set(below);
      BACKDROP.pliantPage.value.set(page);
    };
    dark.addEventListener("change", apply);
    apply();
  }
}

/** Mean rest edge of all cloths, m; 0 without cloth. */
function clothEdgeOf(topology: Topology): number {
  let sum = 0;
  let count = 0;
  for (const body of topology.bodies) {
    if (body.kind !== "cloth") continue;
    const rest = float32Of(body.rest);
    const triangles = uint32Of(body.triangles);
    for (let t = 0; t < triangles.length; t += 3) {
      const a = 3 * triangles[t]!;
      const b = 3 * triangles[t + 1]!;
      sum += Math.hypot(rest[a]! - rest[b]!, rest[a + 1]! - rest[b + 1]!, rest[a + 2]! - rest[b + 2]!);
      count++;
    }
  }
  return count > 0 ? sum / count : 0;
}

/** @returns the same length, at least RAISED above the horizon */
function raised(step: Vector3): Vector3 {
  const polar = new Spherical().setFromVector3(step);
  polar.phi = Math.min(polar.phi, ((90 - RAISED) * Math.PI) / 180);
  return new Vector3().setFromSpherical(polar);
}

/** @returns undefined if it is empty or reaches farther than `most` from its middle, m */
function boxOf(meshes: readonly Mesh[], most: number): Box3 | undefined {
  const box = new Box3();
  for (const mesh of meshes) box.expandByObject(mesh);
  return box.isEmpty() || box.getSize(new Vector3()).length() > 2 * most ? undefined : box;
}

function boxOfRest(topology: Topology): Box3 {
  const box = new Box3();
  const point = new Vector3();
  for (const body of topology.bodies) {
    const rest = float32Of(body.rest);
    for (let i = 0; i < rest.length; i += 3) box.expandByPoint(point.fromArray(rest, i));
  }
  // Include the floor, because falling bodies end there.
  for (const collider of topology.colliders ?? []) {
    if (collider.type === "plane" && collider.normal[1] > 0.9) box.min.y = Math.min(box.min.y, collider.offset);
  }
  if (!Number.isFinite(box.min.x)) box.setFromCenterAndSize(new Vector3(), new Vector3(1, 1, 1));
  return box;
}
