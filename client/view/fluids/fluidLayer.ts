/**
 * Draws liquids and smoke over the finished picture of the solid scene. It draws the scene once more at a lower
 * resolution, for its depth and for refraction, then the particles, and composes the result into the canvas.
 */
import {
  AddEquation,
  type BlendingDstFactor,
  type BlendingSrcFactor,
  Box3,
  BufferAttribute,
  BufferGeometry,
  Camera,
  Color,
  CustomBlending,
  Data3DTexture,
  DepthTexture,
  FloatType,
  GLSL3,
  HalfFloatType,
  type IUniform,
  LinearFilter,
  Matrix3,
  Mesh,
  MinEquation,
  NearestFilter,
  NoBlending,
  type Object3D,
  OneFactor,
  OneMinusSrcAlphaFactor,
  type PerspectiveCamera,
  type PixelFormat,
  RawShaderMaterial,
  RedFormat,
  RepeatWrapping,
  RGFormat,
  SRGBColorSpace,
  Vector2,
  Vector3,
  Vector4,
  type WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import type { BodyMesh } from "../bodies/bodyMesh.ts";
import type { SmokeSource } from "../../../shared/topology.ts";
import type { LIGHT } from "../stage/studioLight.ts";
import { areaOf } from "./area.ts";
import { AREA_VERTEX, compose, EMPTY, LIQUID_SPLAT, MOST_WALLS, SMOOTH, splatVertex, surface } from "./liquidShader.ts";
import { Smoke } from "./smoke.ts";
import { NOISE, noiseTexels, REPEATS, RISE, SMOKE_COMPOSE, SMOKE_MARCH } from "./smokeShader.ts";
import { studioGlsl } from "./studioShader.ts";

/** Radius of a splat, in radii of the particle's sphere: spheres of neighbors overlap. */
const LIQUID_SIZE = 1.7;
/** Width of the filter, in radii of the particle's sphere. */
const SMOOTHING = 2.6;
/** Upper limit of the width, pixels. */
const MOST_SMOOTHED = 16;
/** Width of the second filter relative to the first. */
const NARROW = 0.33;
/** Depth of a step that the filter smooths, in radii of the particle's sphere. */
const SLACK = 5;
/** Length of water after which white light has the liquid's color, m. */
const CLEAR = 0.5;

/** Light in shaded smoke, relative to its color: it comes from the sky. */
const SMOKE_SHADE = new Color(0.15, 0.17, 0.22);
/** Optical depth of a cell of full smoke. */
const SMOKE_OPACITY = 1.03;

/** The passes over a part of the picture need no camera. */
const FLAT = new Camera();

interface Shared {
  [name: string]: IUniform;
  area: IUniform<Vector4>;
  clip: IUniform<Vector2>;
  tangent: IUniform<Vector2>;
  range: IUniform<Vector2>;
  toDepth: IUniform<Vector2>;
  toWorld: IUniform<Matrix3>;
  eye: IUniform<Vector3>;
  key: IUniform<Vector3>;
  sceneDepth: IUniform<DepthTexture | null>;
  behind: IUniform;
}

interface Liquid {
  body: BodyMesh;
  splats: Mesh;
  material: RawShaderMaterial;
}

interface Gas {
  body: BodyMesh;
  smoke: Smoke;
  texture: Data3DTexture;
  material: RawShaderMaterial;
}

export interface FluidSetting {
  /** Direction to the key light, unit vector. */
  key: Vector3;
  /** Planes: normal and offset. */
  walls: readonly Vector4[];
  /** FETCH_GLSL of skinShader.ts. */
  fetch: string;
  light: typeof LIGHT;
  /** Outlines run between pixels: for renderers that are fast enough. */
  finer: boolean;
  /** Color of the page behind the picture. */
  backdrop: IUniform<Color>;
}

export class FluidLayer {
  private readonly setting: FluidSetting;
  private readonly renderer: WebGLRenderer;
  private readonly shared: Shared;
  private readonly liquids: Liquid[];
  private readonly gases: Gas[];
  private readonly targets = new Map<string, WebGLRenderTarget>();
  private readonly quad = new Mesh(new BufferGeometry());
  private readonly size = new Vector2();
  private readonly box = new Box3();
  private readonly passes: Record<"first" | "next" | "surface" | "compose" | "smoke", RawShaderMaterial>;

  /** @returns undefined if no body is a fluid, or the browser cannot draw into float targets */
  static of(renderer: WebGLRenderer, bodies: readonly BodyMesh[], setting: FluidSetting): FluidLayer | undefined {
    const fluids = bodies.filter(({ fluid }) => fluid);
    if (fluids.length === 0 || !renderer.extensions.has("EXT_color_buffer_float")) return undefined;
    return new FluidLayer(renderer, fluids, setting);
  }

  private constructor(renderer: WebGLRenderer, fluids: readonly BodyMesh[], setting: FluidSetting) {
    this.renderer = renderer;
    this.setting = setting;
    this.shared = {
      area: { value: new Vector4() },
      clip: { value: new Vector2() },
      tangent: { value: new Vector2() },
      range: { value: new Vector2() },
      toDepth: { value: new Vector2() },
      toWorld: { value: new Matrix3() },
      eye: { value: new Vector3() },
      key: { value: setting.key },
      sceneDepth: { value: null },
      behind: { value: null },
    };
    this.liquids = fluids.filter(({ fluid }) => fluid!.type === "liquid").map((body) => this.liquidOf(body));
    this.gases = fluids.filter(({ fluid }) => fluid!.type === "gas").map((body) => this.gasOf(body));
    this.quad.geometry.setAttribute(
      "position",
      new BufferAttribute(Float32Array.of(-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0), 3),
    );
    this.quad.geometry.setIndex([0, 1, 2, 2, 1, 3]);
    this.quad.frustumCulled = false;
    this.passes = this.makePasses(setting.walls);
  }

  /**
   * Draws all fluids over the picture in the canvas.
   * @param scene without the parts over it
   * @param scale resolution relative to the canvas
   */
  draw(scene: Object3D, camera: PerspectiveCamera, scale: number): void {
    const { renderer } = this;
    const shown = [...this.liquids, ...this.gases].filter(({ body }) => !body.hidden);
    if (shown.length === 0) return;
    renderer.getDrawingBufferSize(this.size).multiplyScalar(scale).ceil();
    this.follow(camera);
    this.drawBehind(scene, camera);
    renderer.autoClear = false;
    for (const liquid of this.liquids) if (!liquid.body.hidden) this.drawLiquid(liquid, camera);
    for (const gas of this.gases) if (!gas.body.hidden) this.drawGas(gas, camera);
    renderer.autoClear = true;
  }

  dispose(): void {
    for (const target of this.targets.values()) target.dispose();
    for (const material of Object.values(this.passes)) material.dispose();
    for (const { material } of [...this.liquids, ...this.gases]) material.dispose();
    for (const { texture, material } of this.gases)
      for (const map of [texture, material.uniforms.noise!.value]) map.dispose();
    this.quad.geometry.dispose();
  }

  private follow(camera: PerspectiveCamera): void {
    const { clip, tangent, toDepth, toWorld, eye } = this.shared;
    const p = camera.projectionMatrix.elements;
    clip.value.set(camera.near, camera.far);
    tangent.value.set(1 / p[0]!, 1 / p[5]!);
    toDepth.value.set(p[10]!, p[14]!);
    toWorld.value.setFromMatrix4(camera.matrixWorld);
    eye.value.setFromMatrixPosition(camera.matrixWorld);
  }

  /** The scene again, with the shadows that the canvas's picture has just drawn. */
  private drawBehind(scene: Object3D, camera: PerspectiveCamera): void {
    const { renderer } = this;
    const target = this.target("behind", () => {
      const made = new WebGLRenderTarget(1, 1, { colorSpace: SRGBColorSpace, depthTexture: new DepthTexture(1, 1) });
      // Tone mapping and encoding as in the canvas, so that the same programs serve both.
      Object.assign(made, { isXRRenderTarget: true });
      made.texture.internalFormat = "RGBA8";
      return made;
    });
    renderer.shadowMap.autoUpdate = false;
    renderer.setRenderTarget(target);
    renderer.render(scene, camera);
    renderer.setRenderTarget(null);
    renderer.shadowMap.autoUpdate = true;
    this.shared.sceneDepth.value = target.depthTexture;
    this.shared.behind.value = target.texture;
  }

  private drawLiquid({ body, splats, material }: Liquid, camera: PerspectiveCamera): void {
    const { shared, passes } = this;
    const { center, radius } = body.bounds;
    shared.range.value.set(-center.clone().applyMatrix4(camera.matrixWorldInverse).z, Math.max(1e-3, radius));
    areaOf(shared.area.value, this.around(body), camera);
    const rough = this.target("rough", () => floatTarget(HalfFloatType, NearestFilter));
    this.fill(rough, [EMPTY, 0, 0, 0]);
    splats.material = material;
    this.renderer.render(splats, camera);
    const half = this.target("half", () => floatTarget(FloatType, NearestFilter));
    const smooth = this.target("smooth", () => floatTarget(FloatType, NearestFilter));
    const perRadius = (0.5 * this.size.y) / shared.tangent.value.y;
    const reach = SMOOTHING * body.radius! * perRadius;
    const slack = (SLACK * body.radius!) / shared.range.value.y;
    let from = rough;
    // The taps of the wide filter leave gaps; the narrow one fills them.
    for (const [pass, to, along, part] of [
      [passes.first, half, [1, 0], 1],
      [passes.next, smooth, [0, 1], 1],
      [passes.next, half, [1, 0], NARROW],
      [passes.next, smooth, [0, 1], NARROW],
    ] as const) {
      Object.assign(pass.uniforms, {
        reach: { value: part * reach },
        most: { value: part * MOST_SMOOTHED },
        slack: { value: slack },
      });
      pass.uniforms.along!.value = along;
      this.pass(pass, from, to, [EMPTY, 0, 0, 1]);
      from = to;
    }
    const surface = this.target("surface", () => floatTarget(HalfFloatType, LinearFilter));
    this.pass(passes.surface, smooth, surface, [0, 0, 1, 0]);
    passes.compose.uniforms.surface!.value = surface.texture;
    for (const name of ["absorb", "scatter", "drop", "heights"])
      passes.compose.uniforms[name]!.value = material.uniforms[name]!.value;
    passes.compose.uniforms.heights!.value.x = body.box.min.y;
    this.pass(passes.compose, surface, null);
  }

  private drawGas({ body, smoke, texture, material }: Gas, camera: PerspectiveCamera): void {
    if (smoke.update(body.positions, body.seconds)) texture.needsUpdate = true;
    material.uniforms.risen!.value = (RISE * body.seconds) % REPEATS;
    areaOf(this.shared.area.value, smoke.box, camera);
    const sum = this.target("sum", () => floatTarget(HalfFloatType, LinearFilter));
    this.pass(material, undefined, sum, [0, 0, 0, 0]);
    this.pass(this.passes.smoke, sum, null);
  }

  /** Box around the splats; `body.box` has the radius as its margin. */
  private around(body: BodyMesh): Box3 {
    return this.box.copy(body.box).expandByScalar((LIQUID_SIZE - 1) * body.radius!);
  }

  private fill(target: WebGLRenderTarget, values: readonly number[]): void {
    this.renderer.setRenderTarget(target);
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    this.renderer.state.buffers.color.setMask(true);
    gl.clearBufferfv(gl.COLOR, 0, values);
  }

  private pass(
    material: RawShaderMaterial,
    from: WebGLRenderTarget | undefined,
    to: WebGLRenderTarget | null,
    clear?: readonly number[],
  ): void {
    if (to && clear) this.fill(to, clear);
    if (from && material.uniforms.source) material.uniforms.source.value = from.texture;
    this.renderer.setRenderTarget(to);
    this.quad.material = material;
    this.renderer.render(this.quad, FLAT);
    this.renderer.setRenderTarget(null);
  }

  private target(name: string, make: () => WebGLRenderTarget): WebGLRenderTarget {
    const target = this.targets.get(name) ?? make();
    this.targets.set(name, target);
    target.setSize(this.size.x, this.size.y);
    return target;
  }

  private liquidOf(body: BodyMesh): Liquid {
    const size = LIQUID_SIZE * body.radius!;
    // A cube of liquid around each particle has this share of its splat's sphere.
    const share = (2 * body.radius!) ** 3 / ((4 / 3) * Math.PI * size ** 3);
    const color = body.color;
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      uniforms: {
        ...this.shared,
        ...body.uniforms,
        size: { value: size },
        share: { value: share },
        absorb: { value: absorption(color) },
        scatter: { value: color.clone().multiplyScalar(0.75) },
        drop: { value: body.radius },
        heights: { value: new Vector2(0, body.box.getSize(new Vector3()).y) },
      },
      vertexShader: splatVertex(this.setting.fetch),
      fragmentShader: LIQUID_SPLAT,
      depthTest: false,
      depthWrite: false,
      ...blend(OneFactor, OneFactor),
      blendEquation: MinEquation,
      blendEquationAlpha: AddEquation,
    });
    const splats = new Mesh(body.mesh.geometry, material);
    splats.frustumCulled = false;
    return { body, splats, material };
  }

  private gasOf(body: BodyMesh): Gas {
    const fluid = body.fluid as { source?: SmokeSource };
    const box = new Box3().setFromArray(body.rest).expandByScalar(body.radius!);
    const smoke = new Smoke(box, fluid.source, this.setting.key);
    const texture = volume(smoke.texels, smoke.cells, RGFormat);
    const noise = volume(noiseTexels(), [NOISE, NOISE, NOISE], RedFormat);
    noise.wrapS = noise.wrapT = noise.wrapR = RepeatWrapping;
    const white = new Color("#ffffff");
    const material = this.passOf(SMOKE_MARCH, {
      smoke: { value: texture },
      noise: { value: noise },
      low: { value: smoke.box.min },
      cells: { value: smoke.cells },
      cell: { value: smoke.cell },
      opacity: { value: SMOKE_OPACITY },
      risen: { value: 0 },
      lit: { value: body.color.clone().lerp(white, 0.5) },
      shaded: { value: body.color.clone().multiply(SMOKE_SHADE) },
    });
    return { body, smoke, texture, material };
  }

  private passOf(fragmentShader: string, own: Record<string, IUniform>, more = {}): RawShaderMaterial {
    return new RawShaderMaterial({
      glslVersion: GLSL3,
      uniforms: { ...this.shared, source: { value: null }, ...own },
      vertexShader: AREA_VERTEX,
      fragmentShader,
      depthTest: false,
      depthWrite: false,
      blending: NoBlending,
      ...more,
    });
  }

  private makePasses(walls: readonly Vector4[]): FluidLayer["passes"] {
    const make = this.passOf.bind(this);
    const defines = this.setting.finer ? { FINER: 1 } : {};
    // Without walls there is one far below everything.
    const all = walls.length > 0 ? walls.slice(0, MOST_WALLS) : [new Vector4(0, 1, 0, -1e6)];
    return {
      first: make(SMOOTH, { along: { value: [1, 0] } }, { defines: { SPLATTED: 1, ...defines } }),
      next: make(SMOOTH, { along: { value: [0, 1] } }, { defines }),
      surface: make(surface(all.length), { walls: { value: all } }, { defines }),
      compose: make(
        compose(studioGlsl(this.setting.light), all.length),
        {
          surface: { value: null },
          walls: { value: all },
          absorb: { value: null },
          scatter: { value: null },
          drop: { value: 0 },
          heights: { value: null },
          backdrop: this.setting.backdrop,
        },
        { depthTest: true, defines },
      ),
      smoke: make(SMOKE_COMPOSE, {}, blend(OneFactor, OneMinusSrcAlphaFactor)),
    };
  }
}

/** Absorption per meter, by color: white light has the liquid's color after CLEAR. */
function absorption(color: Color): Vector3 {
  return new Vector3(...color.toArray().map((part) => -Math.log(Math.max(0.02, part)) / CLEAR));
}

const blend = (blendSrc: BlendingSrcFactor, blendDst: BlendingDstFactor) =>
  ({ blending: CustomBlending, blendSrc, blendDst, transparent: true }) as const;

const floatTarget = (
  type: typeof FloatType | typeof HalfFloatType,
  filter: typeof NearestFilter | typeof LinearFilter,
) => new WebGLRenderTarget(1, 1, { type, minFilter: filter, magFilter: filter, depthBuffer: false });

function volume(
  texels: Uint8Array<ArrayBuffer>,
  [width, height, depth]: readonly [number, number, number],
  format: PixelFormat,
): Data3DTexture {
  const made = new Data3DTexture(texels, width, height, depth);
  made.format = format;
  made.minFilter = made.magFilter = LinearFilter;
  made.needsUpdate = true;
  return made;
}
