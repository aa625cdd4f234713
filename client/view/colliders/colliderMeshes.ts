/**
 * Meshes of a scene's colliders: the studio floor (a horizontal plane), other planes, spheres, boxes, capsules,
 * cylinders, funnels, triangle meshes.
 */
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  type Color,
  CylinderGeometry,
  DoubleSide,
  Group,
  LatheGeometry,
  Mesh,
  MeshStandardMaterial,
  PlaneGeometry,
  Quaternion,
  ShadowMaterial,
  SphereGeometry,
  Vector2,
  Vector3,
  type IUniform,
  type Vector4,
} from "three";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
import type { AnalyticCollider, Vec3 } from "../../../shared/scene/scene.ts";
import type { TopologyCollider } from "../../../shared/topology.ts";
import { float32Of, uint32Of } from "../../../shared/bytes.ts";
import { glassWall, isWall, panesOf } from "./glassWalls.ts";
import { MAX_BLOBS } from "./contactBlobs.ts";
import { shadeFloor, stays } from "./fixedShade.ts";

export interface FloorUniforms {
  pliantBlobs: IUniform<Vector4[]>;
  /** Light that each ball adds to its shade. */
  pliantTints: IUniform<Vector3[]>;
  /** Pool of light on the floor: linear color, and its share in the middle. */
  pliantPool: IUniform<Vector4>;
  /** Color of full shade. */
  shade: Color;
}

/** Plaster: light and rough, so that the soft bodies provide the color. */
const STATUE_COLOR = "#e9e2d8";

export interface ColliderLook {
  /** Radius of the scene, m; it determines the size of the floor. */
  radius: number;
  /** Middle of the scene, m, and the heights of its lowest and highest point. */
  center: Vector3;
  bottom: number;
  top: number;
  /** Uniforms that the caller updates. */
  floor: FloorUniforms;
  /** Typical edge of the scene's cloth, m; 0 without cloth. */
  clothEdge: number;
}

export function colliderMeshes(colliders: readonly TopologyCollider[], look: ColliderLook): Group {
  const group = new Group();
  const walls = colliders.filter((collider) => collider.type === "plane" && isWall(collider)) as Plane[];
  const { center, radius, top, bottom } = look;
  const panes = panesOf(walls, [center.x, center.z], WALL_REACH * radius);
  for (const collider of colliders) {
    const wall = walls.indexOf(collider as Plane);
    group.add(wall < 0 ? colliderMesh(collider, look) : glassWall(panes[wall], bottom, top, radius));
  }
  group.updateMatrixWorld(true);
  const meshes = group.children as Mesh[];
  const casters = meshes.filter(({ castShadow }, i) => castShadow && stays(colliders[i]!));
  for (const mesh of meshes) if (mesh.name === "floor") shadeFloor(mesh, casters);
  return group;
}

/** Half the length of a wall without an end, in scene radii. */
const WALL_REACH = 1.2;

/** Gap between cloth and the collider under it, m, for the thickness of cloth, which is not simulated. */
const CLOTH_AIR = 0.001;

/**
 * Radius of a round collider as drawn: smaller if there is cloth. Cloth touches it with its corners, so flat triangles
 * would cut into it. A chord of length e is e^2 / (8 R) inside a ball; a triangle's middle up to twice as deep.
 */
function shrunk(radius: number, clothEdge: number): number {
  if (clothEdge === 0) return radius;
  return radius - Math.min(0.1 * radius, CLOTH_AIR + (clothEdge * clothEdge) / (4 * radius));
}

function colliderMesh(collider: TopologyCollider, { radius, floor, clothEdge }: ColliderLook): Mesh {
  if (collider.type === "plane") return planeMesh(collider, radius, floor);
  const material = new MeshStandardMaterial({
    color: collider.look?.color ?? STATUE_COLOR,
    roughness: collider.look?.roughness ?? 0.72,
    metalness: collider.look?.metalness ?? 0,
  });
  darkenNearBodies(material, floor);
  const mesh = new Mesh(undefined, material);
  mesh.castShadow = mesh.receiveShadow = true;
  switch (collider.type) {
    case "sphere":
      mesh.geometry = new SphereGeometry(shrunk(collider.radius, clothEdge), 64, 40);
      mesh.position.set(...collider.center);
      break;
    case "box": {
      const [x, y, z] = collider.halfExtents.map(
        (half) => half - (clothEdge > 0 ? Math.min(0.1 * half, 2 * CLOTH_AIR) : 0),
      ) as [number, number, number];
      mesh.geometry = new BoxGeometry(2 * x, 2 * y, 2 * z, ...cellsOf(x, y, z));
      roundEdges(material, new Vector3(x, y, z), radius);
      mesh.position.set(...collider.center);
      if (collider.rotate) {
        const axis = new Vector3(...collider.rotate);
        const degrees = axis.length();
        if (degrees > 0) mesh.quaternion.setFromAxisAngle(axis.divideScalar(degrees), (degrees * Math.PI) / 180);
      }
      break;
    }
    case "capsule":
      mesh.geometry = new CapsuleGeometry(shrunk(collider.radius, clothEdge), between(mesh, collider), 16, 40);
      break;
    case "cylinder": {
      const radius = shrunk(collider.radius, clothEdge);
      const length = between(mesh, collider);
      mesh.geometry = new CylinderGeometry(
        radius,
        radius,
        length - (clothEdge > 0 ? Math.min(0.1 * length, 2 * CLOTH_AIR) : 0),
        64,
      );
      break;
    }
    case "funnel":
      mesh.geometry = new LatheGeometry(wallProfile(collider, between(mesh, collider)), 64);
      // Visible from both sides: from above, and from below through the outlet.
      material.side = DoubleSide;
      break;
    case "mesh":
      mesh.geometry = meshGeometry(collider);
      // The mesh may be open.
      material.side = DoubleSide;
      break;
  }
  return mesh;
}

/** Moves the mesh, whose axis is y, to the middle between the collider's ends. @returns the distance of the ends, m */
function between(mesh: Mesh, ends: { a: Vec3; b: Vec3 }): number {
  const a = new Vector3(...ends.a);
  const b = new Vector3(...ends.b);
  const axis = b.clone().sub(a);
  const length = axis.length();
  mesh.position.copy(a).add(b).multiplyScalar(0.5);
  mesh.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), axis.normalize()));
  return length;
}

/** Edges with a larger angle are drawn sharp: those of a box, but not those of a ball of 80 triangles. */
const CREASE = (50 * Math.PI) / 180;
/** Finding sharp edges takes some microseconds per triangle. Larger meshes are scanned statues, without sharp edges. */
const MOST_CREASED = 20_000;

function meshGeometry({ positions, triangles }: Extract<TopologyCollider, { type: "mesh" }>): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(float32Of(positions), 3));
  geometry.setIndex(new BufferAttribute(uint32Of(triangles), 1));
  if (triangles.byteLength / 12 <= MOST_CREASED) return toCreasedNormals(geometry, CREASE);
  geometry.computeVertexNormals();
  return geometry;
}

/** Segments of the half circle at a rim. */
const RIM = 8;

/**
 * Cross-section of a funnel's wall, around the segment from (radiusA, -length/2) to (radiusB, length/2): radius and
 * height along the whole outline.
 */
function wallProfile(funnel: Extract<AnalyticCollider, { type: "funnel" }>, length: number): Vector2[] {
  const along = new Vector2(funnel.radiusB - funnel.radiusA, length).normalize();
  const half = 0.5 * funnel.thickness;
  const arc = (radius: number, height: number, from: number): Vector2[] =>
    Array.from({ length: RIM + 1 }, (_, i) => {
      const angle = from + (Math.PI * i) / RIM;
      return new Vector2(Math.max(0, radius + half * Math.cos(angle)), height + half * Math.sin(angle));
    });
  const outward = Math.atan2(-along.x, along.y);
  const outline = [
    ...arc(funnel.radiusB, 0.5 * length, outward),
    ...arc(funnel.radiusA, -0.5 * length, outward + Math.PI),
  ];
  return [...outline, outline[0]!];
}

type Plane = Extract<AnalyticCollider, { type: "plane" }>;

function planeMesh(plane: Plane, radius: number, floor: FloorUniforms): Mesh {
  const normal = new Vector3(...plane.normal).normalize();
  if (normal.y > 0.999) return floorMesh(plane.offset, radius, floor);
  const material = new MeshStandardMaterial({
    color: plane.look?.color ?? STATUE_COLOR,
    roughness: 0.9,
    side: DoubleSide,
    transparent: true,
    opacity: 0.55,
    depthWrite: false,
  });
  const mesh = new Mesh(new PlaneGeometry(4 * radius, 4 * radius), material);
  mesh.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
  mesh.position.copy(normal).multiplyScalar(plane.offset);
  mesh.receiveShadow = true;
  return mesh;
}

const SKY_VARYINGS = "varying float pliantOpen;\nvarying vec3 pliantTint;\n";
/**
 * Share of the sky that a point sees past the balls of ContactBlobs, and light from these. It is smooth, so a vertex
 * every few centimeters is enough.
 */
const OPEN_SKY_GLSL = /* glsl */ `
${SKY_VARYINGS}uniform vec4 pliantBlobs[${MAX_BLOBS}];
uniform vec3 pliantTints[${MAX_BLOBS}];
float pliantSky(vec3 at, vec3 up) {
  float open = 1.0;
  pliantTint = vec3(0.0);
  for (int i = 0; i < ${MAX_BLOBS}; i++) {
    vec4 blob = pliantBlobs[i];
    vec3 toBlob = blob.xyz - at;
    float square = max(dot(toBlob, toBlob), 1e-8);
    float hidden = clamp(max(dot(toBlob, up), 0.0) * blob.w * blob.w / (square * sqrt(square)), 0.0, 0.75);
    open *= 1.0 - hidden;
    pliantTint += hidden * pliantTints[i];
  }
  return open;
}
`;

/** Cells along the longest side of a box: light is known at its vertices. */
const BOX_CELLS = 10;
const cellsOf = (...sides: [number, number, number]): [number, number, number] =>
  sides.map((side) => Math.ceil((BOX_CELLS * side) / Math.max(...sides))) as [number, number, number];

/** Darkens a collider where bodies hide the sky. */
function darkenNearBodies(material: MeshStandardMaterial, { pliantBlobs, pliantTints }: FloorUniforms): void {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, { pliantBlobs, pliantTints });
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${OPEN_SKY_GLSL}`)
      .replace(
        "#include <project_vertex>",
        `pliantOpen = pliantSky((modelMatrix * vec4(position, 1.0)).xyz, normalize(mat3(modelMatrix) * objectNormal));
  #include <project_vertex>`,
      );
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${SKY_VARYINGS}`)
      .replace("#include <color_fragment>", "diffuseColor.rgb *= mix(0.2, 1.0, pliantOpen) + pliantTint;");
  };
}

/** Width of a box's rounded edges: share of its smallest half side, and of the scene's radius at most. */
const BEVEL = { ofSide: 0.16, ofScene: 0.02 };
/** Normal of a box with rounded edges, at a point of the box's own surface. */
const ROUND_EDGES_GLSL = /* glsl */ `#include <normal_fragment_begin>
  normal = nonPerturbedNormal = normalize(
    normalMatrix * (sign(pliantOnBox) * max(abs(pliantOnBox) - pliantFlat, 0.0))
  );
`;

/** Shades a box as if its edges were rounded: a razor edge looks like cardboard. @param half sides, m */
function roundEdges(material: MeshStandardMaterial, half: Vector3, radius: number): void {
  const width = Math.min(BEVEL.ofSide * Math.min(...half), BEVEL.ofScene * radius);
  const flat = half.clone().subScalar(width);
  const darken = material.onBeforeCompile;
  material.onBeforeCompile = (shader, renderer) => {
    darken.call(material, shader, renderer);
    shader.uniforms.pliantFlat = { value: flat };
    shader.vertexShader = `varying vec3 pliantOnBox;\n${shader.vertexShader}`.replace(
      "#include <project_vertex>",
      "pliantOnBox = position;\n#include <project_vertex>",
    );
    shader.fragmentShader =
      `varying vec3 pliantOnBox;\nuniform vec3 pliantFlat;\nuniform mat3 normalMatrix;\n${shader.fragmentShader}`.replace(
        "#include <normal_fragment_begin>",
        ROUND_EDGES_GLSL,
      );
  };
  // Without a key of its own it would share the program of the other colliders, whose function has the same text.
  material.customProgramCacheKey = () => "pliant-box";
}

const FLOOR_VARYINGS = "varying float pliantFade;\nvarying float pliantKey;\n";
const FLOOR_SKY_GLSL = /* glsl */ `#include <begin_vertex>
  pliantOpen = pliantSky((modelMatrix * vec4(position, 1.0)).xyz, vec3(0.0, 1.0, 0.0));
  // Fade out, so that the disc has no visible edge.
  pliantFade = 1.0 - smoothstep(0.0, 0.95, 2.0 * length(uv - 0.5));
  pliantFade *= pliantFade;
  pliantOpen = mix(pliantOpen * pliantFixed.x, 1.0, smoothstep(0.5, 0.95, 2.0 * length(uv - 0.5)));
  #ifdef USE_SHADOWMAP
    pliantKey = 1.0;
  #else
    pliantKey = pliantFixed.y;
  #endif
`;

/** Shade over the pool of light. A step of an 8-bit color is wider than the floor's gradients: noise hides it. */
const SHADE_GLSL = /* glsl */ `
  float pliantShade = 1.0 - mix(1.0, pliantKey * getShadowMask(), opacity) * mix(1.0, pliantOpen, 0.75);
  float pliantLit = pliantPool.a * pliantFade * (1.0 - pliantShade);
  float pliantCover = pliantLit + pliantShade;
  float pliantGrain = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
  gl_FragColor = vec4(mix(color + pliantTint, pliantPool.rgb, pliantLit / max(pliantCover, 1e-4)), pliantCover + pliantGrain / 128.0);
`;

/** Size of the floor in scene radii, and cells along one side. */
const FLOOR_REACH = 3.2;
const FLOOR_CELLS = 96;

/**
 * Only the shade of the floor is drawn, over the page's own gradient, so that there is no horizon in either color
 * scheme. A lit floor took most of the frame time of a software renderer, and so did a contact term per pixel (50 of 75
 * ms).
 */
function floorMesh(height: number, radius: number, floor: FloorUniforms): Mesh {
  const material = new ShadowMaterial({ color: floor.shade, opacity: 0.56, toneMapped: false, depthWrite: false });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, {
      pliantBlobs: floor.pliantBlobs,
      pliantTints: floor.pliantTints,
      pliantPool: floor.pliantPool,
    });
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${FLOOR_VARYINGS}attribute vec2 pliantFixed;\n${OPEN_SKY_GLSL}`)
      .replace("#include <begin_vertex>", FLOOR_SKY_GLSL);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${SKY_VARYINGS}${FLOOR_VARYINGS}uniform vec4 pliantPool;`)
      .replace(/gl_FragColor = [^;]*;/, SHADE_GLSL);
  };
  const mesh = new Mesh(
    new PlaneGeometry(2 * FLOOR_REACH * radius, 2 * FLOOR_REACH * radius, FLOOR_CELLS, FLOOR_CELLS),
    material,
  );
  mesh.rotation.x = -Math.PI / 2;
  mesh.position.y = height;
  mesh.receiveShadow = true;
  // Drawn after solid objects and before bands and labels.
  mesh.renderOrder = 1;
  mesh.name = "floor";
  return mesh;
}
