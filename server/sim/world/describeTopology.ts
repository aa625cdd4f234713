/** Makes the topology, which clients fetch once (shared/topology.ts), from the templates. */
import { centerOf } from "../../../shared/geometry/colliderMotion.ts";
import type { Collider, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { attachDetail } from "../../../shared/skinning/index.ts";
import type { Topology, TopologyBody, TopologyCollider, TopologyPicture } from "../../../shared/topology.ts";
import type { Drawing } from "../body/objectMeshes.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { Placement } from "../body/transform.ts";
import type { CoreMesh } from "../colliders/coreMesh.ts";
import { framedSpace, type Space } from "./framedSpace.ts";
import type { SimLayout } from "./worldLayout.ts";

/** @param cores core meshes, by collider: those of mesh colliders are drawn */
export function buildTopology(
  scene: Scene,
  bodies: readonly BodyTemplate[],
  cores: readonly (CoreMesh | undefined)[],
  layout: SimLayout,
): Topology {
  return {
    version: 1,
    title: scene.title,
    description: scene.description ?? "",
    particles: layout.streamedParticles,
    tickHz: layout.tickHz,
    origin: layout.origin,
    camera: scene.camera ?? defaultCamera(framedSpace(scene, bodies, cores)),
    ...(scene.showStrain && { showStrain: scene.showStrain }),
    colliders: (scene.colliders ?? []).map((c, i) => topologyCollider(c, cores[i])),
    bodies: bodies.map((body, i) => topologyBody(body, layout.bodies[i]!.streamedFirst, layout)),
    interaction: {
      grabCompliance: layout.interaction.grabCompliance,
      grabMaxForce: layout.interaction.grabMaxForce,
      grabSpeed: layout.interaction.grabSpeed,
      grabMaxStretch: layout.interaction.grabMaxStretch,
      maxImpulse: layout.interaction.maxImpulse,
      ...(layout.interaction.together.length > 0 && { together: layout.interaction.together }),
    },
  };
}

function topologyCollider(c: Collider, core: CoreMesh | undefined): TopologyCollider {
  if (c.type !== "mesh") return c;
  const { mesh: _, transform: __, ...rest } = c;
  return {
    ...rest,
    center: centerOf(c),
    positions: bytesOf(Float32Array.from(core!.positions)),
    triangles: bytesOf(core!.triangles),
    ...(core!.picture && { picture: pictureOf(core!.picture, core!.picture.placement, [0, 0, 0]) }),
  };
}

/** @param origin of the room; the placement is still in world coordinates */
function pictureOf(
  { object, scale, offset }: Pick<Drawing, "object" | "scale" | "offset">,
  { scale: more, rotation: R, offset: also, translate }: Placement,
  origin: Vec3,
): TopologyPicture {
  const own = offset.map((o, r) => more * o + also[r]!);
  const column = (c: number): number[] => [0, 1, 2].map((r) => more * scale * R[3 * r + c]!);
  const moved = [0, 1, 2].map(
    (r) => R[3 * r]! * own[0]! + R[3 * r + 1]! * own[1]! + R[3 * r + 2]! * own[2]! + translate[r]! - origin[r]!,
  );
  return { object, matrix: [...column(0), 0, ...column(1), 0, ...column(2), 0, ...moved, 1] };
}

function topologyBody(body: BodyTemplate, first: number, { quantum, origin }: SimLayout): TopologyBody {
  const rest = Float32Array.from(body.positions.subarray(0, 3 * body.streamedCount));
  const topology: TopologyBody = {
    name: body.name,
    kind: body.kind,
    look: body.look,
    ...(body.spawnable && { spawnable: true as const }),
    first,
    count: body.streamedCount,
    quantum,
    triangles: bytesOf(body.triangles),
    rest: bytesOf(rest),
    ...(body.kind === "points" && { radius: 0.5 * body.meanEdge }),
    ...fluidOf(body, rest),
  };
  if (!body.detail) return topology;
  const { triangle, coords } = attachDetail({ positions: rest, triangles: body.triangles }, body.detail.positions);
  return {
    ...topology,
    detail: {
      triangles: bytesOf(body.detail.triangles),
      attachTriangle: bytesOf(triangle),
      attachCoords: bytesOf(coords),
      ...(body.picture && {
        picture: { ...pictureOf(body.picture, body.placement!, origin), vertices: bytesOf(body.picture.vertices) },
      }),
    },
  };
}

/**
 * A plume carries smoke: its source is the middle of the bottom of the fluid's box (methods/fluids/eulerianFluid.ts).
 */
function fluidOf({ method }: BodyTemplate, rest: Float32Array): Pick<TopologyBody, "fluid"> {
  if (method?.type === "smoothed-particles" || method?.type === "position-based-fluid")
    return { fluid: { type: "liquid" } };
  if (method?.type !== "eulerian-fluid") return {};
  const { plume, cells, edge } = method;
  if (!plume) return { fluid: { type: "gas" } };
  const { min, max } = boundsOf(rest);
  const center = min.map((low, r) => 0.5 * (low + max[r]!)) as Vec3;
  center[1] -= 0.5 * cells[1] * edge;
  return { fluid: { type: "gas", source: { center, radius: plume.radius } } };
}

function boundsOf(points: Float32Array): Space {
  const space: Space = { min: [Infinity, Infinity, Infinity], max: [-Infinity, -Infinity, -Infinity] };
  points.forEach((value, i) => {
    space.min[i % 3] = Math.min(space.min[i % 3]!, value);
    space.max[i % 3] = Math.max(space.max[i % 3]!, value);
  });
  return space;
}

function bytesOf(array: Uint32Array | Float32Array | Int8Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Places the camera in front of the space and a little above, far enough for a 45 degree field of view. */
function defaultCamera(space: Space): Topology["camera"] {
  const { min, max } = space;
  const target = min.map((low, r) => 0.5 * (low + max[r]!)) as Vec3;
  const size = Math.max(...min.map((low, r) => max[r]! - low));
  return { position: [target[0], target[1] + 0.6 * size, target[2] + 2 * size], target, fit: true, space };
}
