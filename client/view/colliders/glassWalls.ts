/**
 * Walls of a tank: vertical planes, drawn as panes of glass with bright edges. A plane has no end, so its pane ends at
 * the other walls, and where no wall is, at the edge of the scene.
 */
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  ShaderMaterial,
  Vector3,
} from "three";
import type { AnalyticCollider } from "../../../shared/scene/scene.ts";

export type Wall = Extract<AnalyticCollider, { type: "plane" }>;

/** A horizontal segment of a wall: x, z, x, z, m; undefined: other walls leave nothing of it. */
export type Pane = [number, number, number, number] | undefined;

/** Part of the scene's radius, for the width of the bright edges, and its largest value, m. */
const EDGE_PART = 0.006;
const EDGE_MOST = 0.008;
/** Least width of the edges: part of half the picture's height, and pixels of the picture that liquids are seen in. */
const NARROWEST = { part: 0.005, pixels: 1.2 };
/** A plane is a wall if its normal leans less from the horizontal; sine of the angle. */
const UPRIGHT = 0.05;

export const isWall = ({ normal }: Pick<Wall, "normal">): boolean =>
  Math.abs(normal[1]) < UPRIGHT * Math.hypot(...normal);

/**
 * Cuts a square with the walls, seen from above.
 * @param walls normals point to the free side
 * @param middle x and z of the square, m. @param half half of its side, m
 * @returns the pane of each wall
 */
export function panesOf(walls: readonly Wall[], middle: readonly [number, number], half: number): Pane[] {
  const [x, z] = middle;
  let points: [number, number][] = [
    [x - half, z - half],
    [x + half, z - half],
    [x + half, z + half],
    [x - half, z + half],
  ];
  const depth = ({ normal, offset }: Wall, [px, pz]: [number, number]): number =>
    (normal[0] * px + normal[2] * pz - offset) / Math.hypot(...normal);
  for (const wall of walls) {
    const kept: [number, number][] = [];
    points.forEach((a, i) => {
      const b = points[(i + 1) % points.length]!;
      const [da, db] = [depth(wall, a), depth(wall, b)];
      if (da >= 0) kept.push(a);
      if (da >= 0 !== db >= 0)
        kept.push([a[0] + ((b[0] - a[0]) * da) / (da - db), a[1] + ((b[1] - a[1]) * da) / (da - db)]);
    });
    points = kept;
  }
  return walls.map((wall) => {
    const on = points.filter((point) => Math.abs(depth(wall, point)) < 1e-6 * half);
    return on.length < 2 ? undefined : [...on[0]!, ...on[1]!];
  });
}

/** Glass mirrors most at grazing angles. */
const PANE_VERTEX = /* glsl */ `
varying vec3 sight;
varying vec3 across;
void main() {
  vec4 at = modelViewMatrix * vec4(position, 1.0);
  sight = at.xyz;
  across = normalMatrix * normal;
  gl_Position = projectionMatrix * at;
}`;
const PANE_FRAGMENT = /* glsl */ `
varying vec3 sight;
varying vec3 across;
void main() {
  float grazing = 1.0 - abs(dot(normalize(sight), normalize(across)));
  float cover = 0.05 + 0.3 * grazing * grazing * grazing;
  gl_FragColor = vec4(0.88, 0.95, 0.95, cover);
}`;

/** @param low and high: of the pane, m. @param radius of the scene, m */
export function glassWall(pane: Pane, low: number, high: number, radius: number): Mesh {
  const material = new ShaderMaterial({
    vertexShader: PANE_VERTEX,
    fragmentShader: PANE_FRAGMENT,
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
  });
  const mesh = new Mesh(new BufferGeometry(), material);
  // Grabs reach through glass.
  mesh.raycast = () => {};
  mesh.renderOrder = 2;
  if (!pane) {
    mesh.visible = false;
    return mesh;
  }
  const [ax, az, bx, bz] = pane;
  mesh.name = "glass";
  mesh.geometry.setAttribute(
    "position",
    new BufferAttribute(Float32Array.of(ax, low, az, bx, low, bz, ax, high, az, bx, high, bz), 3),
  );
  mesh.geometry.setIndex([0, 1, 2, 2, 1, 3]);
  mesh.geometry.computeVertexNormals();
  const corners = [low, high].map((y) => [new Vector3(ax, y, az), new Vector3(bx, y, bz)] as const);
  const [[a, b], [c, d]] = corners as [readonly [Vector3, Vector3], readonly [Vector3, Vector3]];
  mesh.add(
    edges(
      [
        [a, b],
        [c, d],
        [a, c],
        [b, d],
      ],
      Math.min(EDGE_MOST, EDGE_PART * radius),
    ),
  );
  return mesh;
}

function edges(lines: readonly (readonly [Vector3, Vector3])[], width: number): InstancedMesh {
  const material = new MeshStandardMaterial({ color: "#cfe6e4", roughness: 0.12, transparent: true, opacity: 0.75 });
  // Narrower than a pixel, they would be dashed.
  const least = { value: 0 };
  material.onBeforeCompile = (shader) => {
    shader.uniforms.pliantNarrowest = least;
    shader.vertexShader = `uniform float pliantNarrowest;\n${shader.vertexShader}`.replace(
      "#include <project_vertex>",
      /* glsl */ `
  vec4 pliantMiddle = modelViewMatrix * instanceMatrix * vec4(transformed.x, 0.0, 0.0, 1.0);
  float pliantLeast = pliantNarrowest * -pliantMiddle.z / projectionMatrix[1][1];
  transformed.yz *= max(1.0, pliantLeast / length(instanceMatrix[1].xyz));
  #include <project_vertex>`,
    );
  };
  const bars = new InstancedMesh(new BoxGeometry(1, 1, 1), material, lines.length);
  bars.raycast = () => {};
  bars.onBeforeRender = (renderer) => {
    const { height } = renderer.getRenderTarget() ?? renderer.domElement;
    least.value = Math.max(NARROWEST.part, (2 * NARROWEST.pixels) / height);
  };
  const turn = new Quaternion();
  lines.forEach(([from, to], i) => {
    const way = to.clone().sub(from);
    const length = way.length();
    turn.setFromUnitVectors(new Vector3(1, 0, 0), way.divideScalar(length));
    const middle = from.clone().add(to).multiplyScalar(0.5);
    bars.setMatrixAt(i, new Matrix4().compose(middle, turn, new Vector3(length + width, width, width)));
  });
  return bars;
}
