/**
 * Light of a warm photo studio: image-based fill light from three painted soft boxes (nothing is downloaded), a key
 * light that casts the shadows, and a cool rim light from behind.
 */
import {
  Color,
  DataTexture,
  DirectionalLight,
  EquirectangularReflectionMapping,
  FloatType,
  HemisphereLight,
  LinearFilter,
  PMREMGenerator,
  RGBAFormat,
  type Scene,
  Sphere,
  Vector3,
  type WebGLRenderer,
} from "three";

/**
 * Size of the painted panorama: three derives cube faces of a quarter of the width, and diffuse light needs no more.
 */
const PANORAMA_WIDTH = 128;
const PANORAMA_HEIGHT = 64;

interface SoftBox {
  direction: Vector3;
  /** Cosine of the half angle of the box; its edge is soft. */
  size: number;
  color: Color;
  power: number;
}

const BOXES: readonly SoftBox[] = [
  { direction: new Vector3(0.55, 0.75, 0.4).normalize(), size: 0.86, color: new Color("#fff1dc"), power: 7 },
  { direction: new Vector3(-0.9, 0.35, 0.25).normalize(), size: 0.9, color: new Color("#ffd9c2"), power: 3.4 },
  { direction: new Vector3(-0.2, 0.4, -0.9).normalize(), size: 0.88, color: new Color("#d5e6ff"), power: 0.5 },
];

/** Colors of the panorama. */
const SKY = new Color("#f4ece2");
const WALL = new Color("#cfc6bd");
const GROUND = new Color("#a08f80");

/** The light of the panorama, for a mirror (fluids/studioShader.ts). */
export const LIGHT = { boxes: BOXES, sky: SKY, wall: WALL, ground: GROUND };

/** Half the width of a shadow's edge, as a share of the map. */
const SOFTNESS = 1 / 300;

/** Direction to the key light, unit vector. */
export const KEY_DIRECTION: Readonly<Vector3> = BOXES[0]!.direction;

/** Paints the panorama: a warm sky, a lit floor, and the soft boxes. */
function paintPanorama(): DataTexture {
  const data = new Float32Array(4 * PANORAMA_WIDTH * PANORAMA_HEIGHT);
  const direction = new Vector3();
  const color = new Color();
  for (let row = 0; row < PANORAMA_HEIGHT; row++) {
    const latitude = ((row + 0.5) / PANORAMA_HEIGHT - 0.5) * Math.PI;
    for (let column = 0; column < PANORAMA_WIDTH; column++) {
      const longitude = ((column + 0.5) / PANORAMA_WIDTH) * 2 * Math.PI;
      direction.set(
        Math.cos(latitude) * Math.cos(longitude),
        Math.sin(latitude),
        Math.cos(latitude) * Math.sin(longitude),
      );
      const up = direction.y;
      color
        .copy(WALL)
        .lerp(up > 0 ? SKY : GROUND, Math.min(1, Math.abs(up) * 1.6))
        .multiplyScalar(up > 0 ? 0.62 : 0.42);
      for (const box of BOXES) {
        const inside = (direction.dot(box.direction) - box.size) / (1 - box.size);
        if (inside > 0) color.add(box.color.clone().multiplyScalar(box.power * Math.min(1, inside * 2.5)));
      }
      const at = 4 * (row * PANORAMA_WIDTH + column);
      data[at] = color.r;
      data[at + 1] = color.g;
      data[at + 2] = color.b;
      data[at + 3] = 1;
    }
  }
  const texture = new DataTexture(data, PANORAMA_WIDTH, PANORAMA_HEIGHT, RGBAFormat, FloatType);
  texture.mapping = EquirectangularReflectionMapping;
  texture.minFilter = texture.magFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

/** Intensity of the sky-and-ground light: little beside the image-based light, more without it. */
const FILL_BESIDE_ENVIRONMENT = 0.2;
const FILL_ALONE = 1.95;

export class Studio {
  readonly key = new DirectionalLight("#fff0dd", 2.1);
  private readonly rim = new DirectionalLight("#cfe2ff", 0.3);
  private readonly fill = new HemisphereLight("#fff4e6", "#b59a84", FILL_ALONE);
  private readonly scene: Scene;
  private readonly covered = new Sphere(new Vector3(), 0);
  /** Around all that casts a shadow and stays; empty: nothing. */
  readonly fixed = new Sphere(new Vector3(), -1);

  constructor(scene: Scene, shadowMapSize: number) {
    this.scene = scene;
    const { key, rim } = this;
    this.useShadows(shadowMapSize);
    key.shadow.intensity = 0.82;
    rim.position.set(-2.5, 2.2, -3.5);
    scene.add(key, key.target, rim, this.fill);
  }

  /** @param size texels along one side of the map; 0: no shadows */
  useShadows(size: number): void {
    const { shadow } = this.key;
    // A shadow map without texels would be an invalid framebuffer.
    this.key.castShadow = size > 0;
    if (size === 0 || size === shadow.mapSize.x) return;
    shadow.mapSize.set(size, size);
    shadow.radius = SOFTNESS * size;
    shadow.map?.dispose();
    shadow.map = null;
  }

  /**
   * Switches the image-based light. The first time costs one small prefilter pass; each change compiles the shaders
   * anew.
   */
  useEnvironment(on: boolean, renderer: WebGLRenderer): void {
    this.fill.intensity = on ? FILL_BESIDE_ENVIRONMENT : FILL_ALONE;
    // A second light with highlights costs a slow renderer more than it shows.
    this.rim.visible = on;
    if (on && !this.scene.environment) {
      const panorama = paintPanorama();
      const generator = new PMREMGenerator(renderer);
      this.scene.environment = generator.fromEquirectangular(panorama).texture;
      this.scene.environmentIntensity = 0.8;
      generator.dispose();
      panorama.dispose();
    } else if (!on) {
      this.scene.environment?.dispose();
      this.scene.environment = null;
    }
  }

  /**
   * Keeps the shadow camera around everything that moves and all that is fixed. It changes in steps, so that shadow
   * edges do not crawl.
   */
  cover(bounds: Sphere): void {
    const { covered, key } = this;
    const inside = covered.radius > 0 && bounds.center.distanceTo(covered.center) + bounds.radius <= covered.radius;
    if (inside || !Number.isFinite(bounds.radius)) return;
    covered.center.copy(bounds.center);
    covered.radius = bounds.radius * 1.35;
    // Otherwise the shadow of a funnel is cut off once all bodies have fallen through it.
    covered.union(this.fixed);
    const r = covered.radius;
    key.target.position.copy(covered.center);
    key.position.copy(covered.center).addScaledVector(KEY_DIRECTION, 3 * r);
    const { camera } = key.shadow;
    camera.left = camera.bottom = -r;
    camera.right = camera.top = r;
    camera.near = 1.2 * r;
    camera.far = 6 * r;
    camera.updateProjectionMatrix();
    // A soft edge reaches farther along a sloped surface.
    key.shadow.normalBias = 1.4 * r * SOFTNESS;
    key.shadow.bias = -0.0006;
  }
}
