/** What clients fetch once (shared/topology.ts), made from the templates. */
import { centerOf } from "../../shared/motion.ts";
import type { Collider, Scene, Vec3 } from "../../shared/scene.ts";
import { attachDetail } from "../../shared/skinning/index.ts";
import type { Topology, TopologyBody, TopologyCollider } from "../../shared/topology.ts";
import type { SurfaceMesh } from "../meshing/mesh.ts";
import type { BodyTemplate } from "./body/template.ts";
import type { SimLayout } from "./layout.ts";

/** @param cores core meshes, by collider: those of mesh colliders are drawn */
export function buildTopology(
  scene: Scene,
  bodies: readonly BodyTemplate[],
  cores: readonly (SurfaceMesh | undefined)[],
  layout: SimLayout,
): Topology {
  return {
    version: 1,
    title: scene.title,
    description: scene.description ?? "",
    particles: layout.streamedParticles,
    tickHz: layout.tickHz,
    origin: layout.origin,
    camera: scene.camera ?? defaultCamera(bodies),
    colliders: (scene.colliders ?? []).map((c, i) => topologyCollider(c, cores[i])),
    bodies: bodies.map((body, i) => topologyBody(body, layout.bodies[i]!.streamedFirst, layout.quantum)),
    interaction: {
      grabCompliance: layout.interaction.grabCompliance,
      grabMaxForce: layout.interaction.grabMaxForce,
      handSpeed: layout.interaction.handSpeed,
      grabMaxStretch: layout.interaction.grabMaxStretch,
      maxImpulse: layout.interaction.maxImpulse,
    },
  };
}

function topologyCollider(c: Collider, core: SurfaceMesh | undefined): TopologyCollider {
  if (c.type !== "mesh") return c;
  const { mesh: _, transform: __, ...rest } = c;
  return {
    ...rest,
    center: centerOf(c),
    positions: bytesOf(Float32Array.from(core!.positions)),
    triangles: bytesOf(core!.triangles),
  };
}

function topologyBody(body: BodyTemplate, first: number, quantum: number): TopologyBody {
  const rest = Float32Array.from(body.positions.subarray(0, 3 * body.streamedCount));
  const topology: TopologyBody = {
    name: body.name,
    kind: body.kind,
    look: body.look,
    ...(body.waits && { waits: true as const }),
    first,
    count: body.streamedCount,
    quantum,
    triangles: bytesOf(body.triangles),
    rest: bytesOf(rest),
    ...(body.kind === "points" && { radius: 0.5 * body.meanEdge }),
  };
  if (!body.detail) return topology;
  const { triangle, coords } = attachDetail({ positions: rest, triangles: body.triangles }, body.detail.positions);
  return {
    ...topology,
    detail: {
      triangles: bytesOf(body.detail.triangles),
      attachTriangle: bytesOf(triangle),
      attachCoords: bytesOf(coords),
    },
  };
}

function bytesOf(array: Uint32Array | Float32Array | Int8Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** In front of and a little above everything, far enough to see it all at a 45 degree field of view. */
function defaultCamera(bodies: readonly BodyTemplate[]): Topology["camera"] {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const body of bodies) {
    for (let i = 0; i < body.positions.length; i++) {
      low[i % 3] = Math.min(low[i % 3]!, body.positions[i]!);
      high[i % 3] = Math.max(high[i % 3]!, body.positions[i]!);
    }
  }
  const target = low.map((l, r) => 0.5 * (l + high[r]!)) as Vec3;
  const size = Math.max(...low.map((l, r) => high[r]! - l));
  return { position: [target[0], target[1] + 0.6 * size, target[2] + 2 * size], target, fit: true };
}
