/** Thread entry of the builder (builder.ts): scene files in, templates out. */
import { dirname } from "node:path";
import { encode } from "@msgpack/msgpack";
import { createWorld } from "../sim/createWorld.ts";
import { SCENE_DEFAULTS } from "../sim/defaults.ts";
import { readScene } from "../sim/readScene.ts";
import { checkSceneFiles } from "../sim/sceneFiles.ts";
import { identityOf, topologyHashOf } from "./identity.ts";
import type { BuildResult, BuildTask } from "./messages.ts";

/** Scene file -> template. @throws SceneError, MeshError: path in the scene, value and limit */
export async function build({ scenePath }: BuildTask): Promise<BuildResult> {
  const startMs = performance.now();
  const scene = await readScene(scenePath);
  await checkSceneFiles(scene, dirname(scenePath));
  const { memory, layout, topology } = await createWorld(scene, { baseDir: dirname(scenePath) });
  const bytes = encode(topology);
  const shared = new SharedArrayBuffer(bytes.byteLength);
  new Uint8Array(shared).set(bytes);
  const topologyHash = topologyHashOf(bytes);
  return {
    template: memory,
    layout,
    topology: shared,
    topologyHash,
    identity: identityOf(layout, topologyHash),
    shape: {
      triangles: topology.bodies.map(({ kind, count, triangles }) =>
        kind === "points" ? count : triangles.byteLength / 12,
      ),
      waiting: topology.bodies.flatMap((body, b) => (body.waits ? [b] : [])),
      ownStep: layout.bodies.flatMap(({ implicit }, body) => (implicit ? [body] : [])),
      reach: scene.worldRadius ?? SCENE_DEFAULTS.worldRadius,
      origin: layout.origin,
      maxImpulse: topology.interaction.maxImpulse,
    },
    seconds: (performance.now() - startMs) / 1000,
  };
}
