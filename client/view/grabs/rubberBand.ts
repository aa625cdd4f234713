/**
 * The band between a grabbed point and its target: a tube that thins when stretched, with a bead at each end. The beads
 * have a rim of the member's second color from every side. Hidden parts show faintly through other objects.
 */
import { lookOf } from "../../../shared/members/memberColors.ts";
import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  Color,
  Group,
  LessEqualDepth,
  GreaterDepth,
  Mesh,
  NormalBlending,
  OrthographicCamera,
  ShaderMaterial,
  SphereGeometry,
  Vector3,
  type Camera,
} from "three";

const RINGS = 20;
const SIDES = 10;

/** Tube radius at rest as a share of the distance from the eye: about 3 CSS pixels. */
const RADIUS = 0.0032;

/** Distance at which a perspective camera of 40 degrees sees as much as an orthographic one, in heights of the view. */
const VIEW_DISTANCE = 1.37;

/** Share of a bead's radius from which on it has the second color; half of the visible area is outside of it. */
const RIM = 0.7;

let tube: BufferGeometry | undefined;
let bead: BufferGeometry | undefined;

/** A unit tube: attribute `position` holds (cos, t, sin), with t in 0..1 along the band. */
function tubeGeometry(): BufferGeometry {
  const points = new Float32Array(3 * (RINGS + 1) * SIDES);
  const index: number[] = [];
  for (let ring = 0; ring <= RINGS; ring++) {
    for (let side = 0; side < SIDES; side++) {
      const angle = (side / SIDES) * 2 * Math.PI;
      points.set([Math.cos(angle), ring / RINGS, Math.sin(angle)], 3 * (ring * SIDES + side));
      if (ring === RINGS) continue;
      const a = ring * SIDES + side;
      const b = ring * SIDES + ((side + 1) % SIDES);
      index.push(a, a + SIDES, b, b, a + SIDES, b + SIDES);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(points, 3));
  geometry.setIndex(index);
  return geometry;
}

const VERTEX = /* glsl */ `
uniform vec3 from;
uniform vec3 to;
uniform float radius;
uniform float thin;
uniform bool isBead;
varying vec3 vNormalView;
void main() {
  vec3 p;
  vec3 n;
  if (isBead) {
    n = position;
    p = from + radius * position;
  } else {
    vec3 axis = to - from;
    float size = max(length(axis), 1e-9);
    axis /= size;
    vec3 side = normalize(abs(axis.y) < 0.9 ? cross(axis, vec3(0.0, 1.0, 0.0)) : cross(axis, vec3(1.0, 0.0, 0.0)));
    n = side * position.x + cross(axis, side) * position.z;
    float middle = 1.0 - pow(abs(2.0 * position.y - 1.0), 2.5);
    p = mix(from, to, position.y) + n * radius * mix(1.0, thin, middle);
  }
  vNormalView = normalize(mat3(modelViewMatrix) * n);
  gl_Position = projectionMatrix * modelViewMatrix * vec4(p, 1.0);
}`;

const FRAGMENT = /* glsl */ `
uniform vec3 color;
uniform vec3 rim;
uniform bool isBead;
uniform float opacity;
varying vec3 vNormalView;
void main() {
  vec3 n = normalize(vNormalView);
  float light = 0.72 + 0.28 * n.y + 0.35 * pow(max(0.0, dot(n, normalize(vec3(0.3, 0.8, 0.6)))), 18.0);
  // at RIM of a sphere's radius in the picture, the normal is turned away by asin(RIM)
  bool isRim = isBead && length(n.xy) > ${RIM.toFixed(2)};
  gl_FragColor = vec4((isRim ? rim : color) * light, opacity);
  #include <colorspace_fragment>
}`;

interface Part {
  mesh: Mesh<BufferGeometry, ShaderMaterial>;
  ghost: Mesh<BufferGeometry, ShaderMaterial>;
}

function part(geometry: BufferGeometry, [color, rim]: readonly [Color, Color], isBead: boolean): Part {
  const make = (opacity: number, depthFunc: typeof LessEqualDepth | typeof GreaterDepth) => {
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        from: { value: new Vector3() },
        to: { value: new Vector3() },
        radius: { value: 0 },
        thin: { value: 1 },
        isBead: { value: isBead },
        color: { value: color },
        rim: { value: rim },
        opacity: { value: opacity },
      },
      transparent: opacity < 1,
      blending: NormalBlending,
      depthWrite: opacity === 1,
      depthFunc,
    });
    const mesh = new Mesh(geometry, material);
    mesh.frustumCulled = false;
    mesh.renderOrder = opacity < 1 ? 11 : 10;
    return mesh;
  };
  return { mesh: make(1, LessEqualDepth), ghost: make(0.28, GreaterDepth) };
}

export class RubberBand {
  readonly group = new Group();
  private readonly colors = [new Color(), new Color()] as const;
  private worn = "";
  private readonly band: Part;
  private readonly held: Part;
  private readonly end: Part;

  constructor(color: string) {
    tube ??= tubeGeometry();
    bead ??= new SphereGeometry(1, 20, 14);
    this.wear(color);
    this.band = part(tube, this.colors, false);
    this.held = part(bead, this.colors, true);
    this.end = part(bead, this.colors, true);
    // The shader places the unit shapes, so they have no box of their own.
    for (const { mesh, ghost } of [this.band, this.held, this.end])
      for (const drawn of [mesh, ghost]) this.group.add(Object.assign(drawn, { boundingBox: new Box3() }));
  }

  /** @param color of a member, as in the protocol. @returns true if the color has changed */
  wear(color: string): boolean {
    if (color === this.worn) return false;
    this.worn = color;
    const { first, second } = lookOf(color);
    this.colors[0].set(first);
    this.colors[1].set(second);
    return true;
  }

  /**
   * @param from grabbed point, m
   * @param to target, m
   */
  update(from: Vector3, to: Vector3, camera: Camera): void {
    const [near, far] = this.radii(from, to, camera);
    // Stretched rubber keeps its volume: radius falls with the root of the length, measured in beads.
    const thin = Math.min(1, Math.max(0.3, Math.sqrt((12 * near) / Math.max(1e-9, from.distanceTo(to)))));
    set(this.band, from, to, near, thin);
    set(this.held, from, to, 1.7 * near, 1);
    set(this.end, to, to, 2.3 * far, 1);
  }

  /** Radii that look equally thick at both ends. */
  private radii(from: Vector3, to: Vector3, camera: Camera): [number, number] {
    if (camera instanceof OrthographicCamera) {
      const { top, bottom, zoom } = camera;
      const scale = this.group.getWorldScale(scratch).x;
      const radius = (RADIUS * VIEW_DISTANCE * (top - bottom)) / (zoom * Math.max(1e-9, scale));
      return [radius, radius];
    }
    const eye = this.group.worldToLocal(camera.getWorldPosition(scratch));
    return [RADIUS * eye.distanceTo(from), RADIUS * eye.distanceTo(to)];
  }

  dispose(): void {
    for (const { mesh, ghost } of [this.band, this.held, this.end]) {
      mesh.material.dispose();
      ghost.material.dispose();
    }
  }
}

const scratch = new Vector3();

function set({ mesh, ghost }: Part, from: Vector3, to: Vector3, radius: number, thin: number): void {
  for (const { uniforms } of [mesh.material, ghost.material]) {
    uniforms.from!.value.copy(from);
    uniforms.to!.value.copy(to);
    uniforms.radius!.value = radius;
    uniforms.thin!.value = thin;
  }
}
