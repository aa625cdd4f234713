/** The still things of a scene, drawn: the studio floor (a horizontal plane), other planes, balls, boxes, capsules. */
import {
  BoxGeometry, CapsuleGeometry, CircleGeometry, Color, DoubleSide, Group, Mesh, MeshStandardMaterial, PlaneGeometry, Quaternion,
  SphereGeometry, Vector3, type IUniform, type Vector4,
} from "three";
import type { Collider } from "../../shared/scene.ts";
import { MAX_BLOBS } from "./contactBlobs.ts";

export interface FloorUniforms {
  pliantBlobs: IUniform<Vector4[]>;
  pliantFloorColor: IUniform<Color>;
}

/** Plaster: light, rough, so that the soft things have the colour. */
const STATUE_COLOR = "#e9e2d8";

/**
 * @param radius of the scene, m: how far the floor reaches before it has faded
 * @param floor uniforms that the caller updates
 */
export function colliderMeshes(colliders: readonly Collider[], radius: number, floor: FloorUniforms): Group {
  const group = new Group();
  for (const collider of colliders) group.add(colliderMesh(collider, radius, floor));
  return group;
}

function colliderMesh(collider: Collider, radius: number, floor: FloorUniforms): Mesh {
  if (collider.type === "plane") return planeMesh(collider, radius, floor);
  const material = new MeshStandardMaterial({
    color: collider.look?.color ?? STATUE_COLOR,
    roughness: collider.look?.roughness ?? 0.72,
    metalness: collider.look?.metalness ?? 0,
  });
  const mesh = new Mesh(undefined, material);
  mesh.castShadow = mesh.receiveShadow = true;
  switch (collider.type) {
    case "sphere":
      mesh.geometry = new SphereGeometry(collider.radius, 64, 40);
      mesh.position.set(...collider.center);
      break;
    case "box": {
      const [x, y, z] = collider.halfExtents;
      mesh.geometry = new BoxGeometry(2 * x, 2 * y, 2 * z);
      mesh.position.set(...collider.center);
      if (collider.rotate) {
        const axis = new Vector3(...collider.rotate);
        const degrees = axis.length();
        if (degrees > 0) mesh.quaternion.setFromAxisAngle(axis.divideScalar(degrees), (degrees * Math.PI) / 180);
      }
      break;
    }
    case "capsule": {
      const a = new Vector3(...collider.a);
      const b = new Vector3(...collider.b);
      const axis = b.clone().sub(a);
      mesh.geometry = new CapsuleGeometry(collider.radius, axis.length(), 16, 40);
      mesh.position.copy(a).add(b).multiplyScalar(0.5);
      mesh.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), axis.normalize()));
      break;
    }
  }
  return mesh;
}

type Plane = Extract<Collider, { type: "plane" }>;

function planeMesh(plane: Plane, radius: number, floor: FloorUniforms): Mesh {
  const normal = new Vector3(...plane.normal).normalize();
  if (normal.y > 0.999) return floorMesh(plane.offset, radius, floor);
  const material = new MeshStandardMaterial({
    color: plane.look?.color ?? STATUE_COLOR, roughness: 0.9, side: DoubleSide, transparent: true, opacity: 0.55, depthWrite: false,
  });
  const mesh = new Mesh(new PlaneGeometry(4 * radius, 4 * radius), material);
  mesh.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
  mesh.position.copy(normal).multiplyScalar(plane.offset);
  mesh.receiveShadow = true;
  return mesh;
}

const FLOOR_GLSL = /* glsl */ `#include <color_fragment>
  diffuseColor.rgb = pliantFloorColor;
  float pliantOpen = 1.0;
  for (int i = 0; i < ${MAX_BLOBS}; i++) {
    vec4 blob = pliantBlobs[i];
    vec3 toBlob = blob.xyz - pliantFloorPoint;
    float square = max(dot(toBlob, toBlob), 1e-8);
    float hidden = max(toBlob.y, 0.0) * blob.w * blob.w / (square * sqrt(square));
    pliantOpen *= 1.0 - clamp(hidden, 0.0, 0.8);
  }
  diffuseColor.rgb *= mix(vec3(0.30, 0.22, 0.19), vec3(1.0), pliantOpen);
  float pliantEdge = length(pliantFloorPoint.xz - pliantFloorCenter) / pliantFloorRadius;
  diffuseColor.a *= 1.0 - smoothstep(0.25, 1.0, pliantEdge);
`;

/** A disc that fades into the page's own background, so that there is no horizon to see. */
function floorMesh(height: number, radius: number, floor: FloorUniforms): Mesh {
  const reach = 5 * radius;
  const material = new MeshStandardMaterial({ roughness: 0.94, transparent: true, envMapIntensity: 0.85 });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, floor, {
      pliantFloorRadius: { value: reach },
      pliantFloorCenter: { value: [0, 0] },
    });
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec3 pliantFloorPoint;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\n  pliantFloorPoint = (modelMatrix * vec4(position, 1.0)).xyz;");
    shader.fragmentShader = shader.fragmentShader
      .replace(
        "#include <common>",
        `#include <common>\nvarying vec3 pliantFloorPoint;\nuniform vec4 pliantBlobs[${MAX_BLOBS}];\nuniform vec3 pliantFloorColor;\nuniform float pliantFloorRadius;\nuniform vec2 pliantFloorCenter;`,
      )
      .replace("#include <color_fragment>", FLOOR_GLSL);
  };
  const mesh = new Mesh(new CircleGeometry(reach, 96), material);
  mesh.rotation.x = -Math.PI / 2;
  mesh.position.y = height;
  mesh.receiveShadow = true;
  // Drawn after the solid things but before bands and labels.
  mesh.renderOrder = 1;
  mesh.name = "floor";
  return mesh;
}
