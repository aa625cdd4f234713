/**
 * A ball: the vertices of an icosphere on its surface (drawn, grabbed, streamed) and one particle in its center, rigid
 * by shape matching. A solid ball has I = 2/5 M R^2. Shell vertices of equal mass have 2/3 of their mass times R^2,
 * about any axis, because an icosphere has the icosahedron's symmetry. So the shell gets 3/5 of the mass and the center
 * 2/5.
 */
import type { BallBody } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import type { Shape } from "./template.ts";
import { loadSource } from "./meshes.ts";
import { placed, placementOf, scaled } from "./transform.ts";

export async function ballShape(body: BallBody, path: string, baseDir: string): Promise<Shape> {
  if (body.mesh.type !== "ball")
    throw new SceneError(`${path}/mesh/type`, body.mesh.type, "ball for a body of kind ball");
  const source = await loadSource(body, { baseDir }, path);
  if (source.kind === "tets") throw new Error("a ball is a surface");
  const { positions: sphere, triangles } = source.surface;
  const placement = placementOf(body.transform, sphere);
  const N = sphere.length / 3;
  const own = new Float64Array(3 * (N + 1));
  own.set(scaled(sphere, placement));
  // fitHeight moves a mesh to stand on y = 0: the center moves with it
  own.set(
    [0, 1, 2].map((r) => own.subarray(0, 3 * N).reduce((sum, x, k) => (k % 3 === r ? sum + x : sum), 0) / N),
    3 * N,
  );
  const radius = Math.sqrt([0, 1, 2].reduce((sum, r) => sum + (own[r]! - own[3 * N + r]!) ** 2, 0));
  const total = body.material.density * (4 / 3) * Math.PI * radius ** 3;
  return {
    own,
    placement,
    positions: placed(own, placement),
    triangles,
    tets: new Uint32Array(0),
    origin: Uint32Array.from({ length: N + 1 }, (_, i) => i),
    streamedCount: N,
    mass: Float64Array.from({ length: N + 1 }, (_, i) => (i < N ? (0.6 * total) / N : 0.4 * total)),
    elements: [],
    shape: { mode: "rigid", rate: Infinity, linearity: 0, radius },
  };
}
