/**
 * Jolt's soft bodies, in its single-threaded build with SIMD (npm `jolt-physics`). Its world contains nothing else, so
 * a step is the body's own. An iteration of Jolt is a substep: it predicts, solves all edges and volumes once, and
 * updates velocities.
 */
import createJolt from "jolt-physics/wasm-compat";
import { hashOf, type Peer, type Problem, STEP_SECONDS, timed } from "./peer.ts";

const LAYER = 0;
const EDGE_COMPLIANCE = 1e-7;
const VOLUME_COMPLIANCE = 1e-10;

/** The whole library; its types are those of a namespace. */
const jolt = createJolt();

export async function joltPeer({ positions, edges, triangles, tets, pinned, mass }: Problem): Promise<Peer> {
  const J = await jolt;
  const count = positions.length / 3;
  const settings = new J.JoltSettings();
  const pairs = new J.ObjectLayerPairFilterTable(1);
  const layers = new J.BroadPhaseLayerInterfaceTable(1, 1);
  layers.MapObjectToBroadPhaseLayer(LAYER, new J.BroadPhaseLayer(0));
  settings.mObjectLayerPairFilter = pairs;
  settings.mBroadPhaseLayerInterface = layers;
  settings.mObjectVsBroadPhaseLayerFilter = new J.ObjectVsBroadPhaseLayerFilterTable(layers, 1, pairs, 1);
  const world = new J.JoltInterface(settings);
  const shape = new J.SoftBodySharedSettings();
  const held = new Set(pinned);
  const vertex = new J.SoftBodySharedSettingsVertex();
  for (let i = 0; i < count; i++) {
    vertex.mPosition = new J.Float3(positions[3 * i]!, positions[3 * i + 1]!, positions[3 * i + 2]!);
    vertex.mInvMass = held.has(i) ? 0 : count / mass;
    shape.mVertices.push_back(vertex);
  }
  for (let t = 0; t < triangles.length; t += 3)
    shape.AddFace(new J.SoftBodySharedSettingsFace(triangles[t]!, triangles[t + 1]!, triangles[t + 2]!, 0));
  for (let e = 0; e < edges.length; e += 2)
    shape.mEdgeConstraints.push_back(new J.SoftBodySharedSettingsEdge(edges[e]!, edges[e + 1]!, EDGE_COMPLIANCE));
  for (let t = 0; t < (tets?.length ?? 0); t += 4)
    shape.mVolumeConstraints.push_back(
      new J.SoftBodySharedSettingsVolume(tets![t]!, tets![t + 1]!, tets![t + 2]!, tets![t + 3]!, VOLUME_COMPLIANCE),
    );
  shape.CalculateEdgeLengths();
  shape.CalculateVolumeConstraintVolumes();
  shape.Optimize(); // Builds its parallel groups, and orders constraints that are solved together side by side in memory.
  const creation = new J.SoftBodyCreationSettings(shape, new J.RVec3(0, 0, 0), new J.Quat(0, 0, 0, 1), LAYER);
  creation.mUpdatePosition = false;
  creation.mAllowSleeping = false;
  creation.mLinearDamping = 0;
  const bodies = world.GetPhysicsSystem().GetBodyInterface();
  const body = bodies.CreateSoftBody(creation);
  bodies.AddBody(body.GetID(), J.EActivation_Activate);
  const motion = J.castObject(body.GetMotionProperties(), J.SoftBodyMotionProperties);
  return {
    name: "Jolt",
    step(iterations) {
      motion.SetNumIterations(iterations);
      return timed(() => world.Step(STEP_SECONDS, 1));
    },
    hash: () =>
      hashOf(
        (function* () {
          for (let i = 0; i < count; i++) {
            const at = motion.GetVertex(i).mPosition;
            yield* [at.GetX(), at.GetY(), at.GetZ()];
          }
        })(),
      ),
  };
}
