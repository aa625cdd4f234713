/** A room of one square of cloth, and messages about it with the real codec. */
import type { ServerEvent, Welcome } from "../../shared/protocol/fromServer.ts";
import { createSnapshotModel, encodeDelta, encodeKeyframe } from "../../shared/snapshot/index.ts";
import type { Topology } from "../../shared/topology.ts";

const triangles = Uint32Array.of(0, 1, 2, 0, 2, 3);
const bytesOf = (array: Uint32Array | Float32Array) => new Uint8Array(array.buffer);
export const topology: Topology = {
  version: 1,
  title: "Quad",
  description: "",
  particles: 4,
  tickHz: 60,
  origin: [0, 0, 0],
  camera: { position: [0, 0, 1], target: [0, 0, 0] },
  colliders: [],
  bodies: [
    {
      name: "quad",
      kind: "cloth",
      look: {},
      first: 0,
      count: 4,
      quantum: 0.001,
      triangles: bytesOf(triangles),
      rest: bytesOf(new Float32Array(12)),
    },
  ],
  interaction: { grabCompliance: 0, grabMaxForce: 1, grabSpeed: 3, grabMaxStretch: 2, maxImpulse: 1 },
};
export const model = createSnapshotModel([{ count: 4, triangles }]);
export const shape = (value: number) => new Int32Array(12).fill(value);
export const keyframe = (tick: number, value: number): ServerEvent => ({
  type: "keyframe",
  tick,
  data: encodeKeyframe(model, shape(value)),
});
export const delta = (tick: number, from: number, to: number): ServerEvent => ({
  type: "delta",
  tick,
  baseTick: tick - 2,
  data: encodeDelta(model, shape(from), shape(to)),
});
export const welcome = (session = "one", hash = "hash"): ServerEvent => ({
  type: "welcome",
  welcome: {
    version: 1,
    room: "r",
    scene: "s",
    session,
    token: "t",
    member: 1,
    tickHz: 60,
    sendHz: 30,
    topology: hash,
    role: "player",
    limits: {},
  } satisfies Welcome,
});
