/** Thread entry of the builder (builder.ts): builds templates from scene files. */
import { dirname } from "node:path";
import { workerData } from "node:worker_threads";
import { encode } from "@msgpack/msgpack";
import { createWorld } from "../../sim/world/createWorld.ts";
import { SCENE_DEFAULTS } from "../../sim/scene/defaults.ts";
import type { FoundInMesh } from "../../sim/body/meshes.ts";
import { noteOf } from "../../sim/scene/standIns.ts";
import { ObjectMeshes } from "../../sim/body/objectMeshes.ts";
import { readScene } from "../../sim/scene/readScene.ts";
import { BuildProgress } from "./buildProgress.ts";
import { checkSceneFiles } from "../../sim/scene/sceneFiles.ts";
import { filledOf } from "../stepping/memoryCopy.ts";
import { identityOf, topologyHashOf } from "../stateIdentity.ts";
import type { BuildResult, BuildTask, BuildThreadData } from "../messages.ts";
import { lettingStepsGoFirst, StepsRunning } from "../stepping/stepsRunning.ts";
import { sceneOf } from "../../../shared/scene/sceneValidator.ts";
import { atYieldPoints } from "../../../shared/yieldPoint.ts";

export { readObject } from "../../sim/scene/readObject.ts";

/** Absent in tests that run tasks without the pool. */
const { steps } = (workerData ?? {}) as Partial<BuildThreadData>;
if (steps) atYieldPoints(lettingStepsGoFirst(new StepsRunning(steps)));

/** Builds a scene's template. @throws SceneError, MeshError: path in the scene, value and limit */
export async function build({
  scenePath,
  text,
  shapes,
  progress: told,
  roomMemoryMb,
}: BuildTask): Promise<BuildResult> {
  const startMs = performance.now();
  const progress = new BuildProgress(told);
  progress.tell("reading");
  const baseDir = dirname(scenePath);
  const scene = text === undefined ? await readScene(scenePath) : sceneOf(text);
  await checkSceneFiles(scene, baseDir);
  progress.tell("meshing");
  const objects = new ObjectMeshes(shapes);
  const found: FoundInMesh[] = [];
  const { memory, layout, ...built } = await createWorld(scene, {
    baseDir,
    bounded: true,
    objects,
    found,
    ...(roomMemoryMb !== undefined && { memoryMb: roomMemoryMb }),
    onProgress: (done) => progress.tell("meshing", done),
  });
  progress.tell("assembling");
  const { topology } = built;
  const bytes = encode(topology);
  const shared = new SharedArrayBuffer(bytes.byteLength);
  new Uint8Array(shared).set(bytes);
  const topologyHash = topologyHashOf(bytes);
  return {
    template: memory,
    filled: filledOf(memory),
    layout,
    topology: shared,
    topologyHash,
    identity: identityOf(layout, topologyHash),
    shape: {
      triangles: topology.bodies.map(({ kind, count, triangles }) =>
        kind === "points" ? count : triangles.byteLength / 12,
      ),
      spawnable: topology.bodies.flatMap((body, b) => (body.spawnable ? [b] : [])),
      together: topology.interaction.together ?? [],
      tunable: layout.tuned.bodies,
      tuning: layout.limits,
      reach: scene.worldRadius ?? SCENE_DEFAULTS.worldRadius,
      origin: layout.origin,
      maxImpulse: topology.interaction.maxImpulse,
    },
    found: [...objects.found, ...found, ...built.standIns.map(noteOf)],
    seconds: (performance.now() - startMs) / 1000,
  };
}
