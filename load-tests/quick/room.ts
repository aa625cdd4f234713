/** A room from its scene file to its members' frames, with the server's and the browser client's own functions. */
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { decode } from "@msgpack/msgpack";
import { valueSymbol } from "piscina";
import { RoomFrames } from "../../client/sdk/mirror/roomFrames.ts";
import { parseServerMessage } from "../../shared/protocol/fromServer.ts";
import { decodeDelta, createSnapshotModel, encodeDelta } from "../../shared/snapshot/index.ts";
import type { Topology } from "../../shared/topology.ts";
import type { Input } from "../../server/sim/types.ts";
import { build } from "../../server/workers/builders/buildWorker.ts";
import { filledBytes, filledOf } from "../../server/workers/stepping/memoryCopy.ts";
import type { BuildResult, RoomHandle, StepResult, StepTask } from "../../server/workers/messages.ts";
import { forgetRooms } from "../../server/workers/stepping/roomCache.ts";
import { open, step } from "../../server/workers/stepping/simWorker.ts";
import { clothTrajectory } from "../codec/clothTrajectory.ts";
import { quantized } from "../codec/measure.ts";
import { targetOf } from "../load/player.ts";
import { readScenario } from "../load/scenario.ts";
import type { Figure } from "./figure.ts";
import { repeat, type Time, type Work } from "./repeat.ts";

const scenePath = (name: string): string => fileURLToPath(new URL(`../../scenes/${name}.json`, import.meta.url));

let opened = 0;

/** A room with its own memory, as a stepping thread gets it. */
function openRoom(built: BuildResult): RoomHandle {
  opened += 1;
  return { ...built, key: `quick-${opened}`, ...open(built) };
}

/** A tick as a stepping thread performs it: inputs, step, frames. */
function stepRoom(room: RoomHandle, tick: number, task: Partial<StepTask>): StepResult {
  const result = step({ room, tick, inputs: [], delta: "none", keyframe: false, ...task });
  // Values for another thread are wrapped.
  return ((result as { [valueSymbol]?: StepResult })[valueSymbol] ?? result) as StepResult;
}

/** Rooms that one thread steps in alternation, ticks before the measurement, and measured ticks. */
const ROOMS = 4;
const SETTLE = 8;
const TICKS = 10;

/** CPU time of a tick of a light room: that of the part `rooms`, with a grab, and a frame every other tick. */
export const lightRoom: Figure["measure"] = async (how) => {
  const plan = readScenario("rooms").rooms[0]!;
  const hand = plan.hands!;
  const built = await build({ scenePath: fileURLToPath(new URL(`../scenes/${plan.scene}.json`, import.meta.url)) });
  const input = (tick: number, room: number): Input => {
    const target = targetOf(hand, tick / 60 / hand.period + room / ROOMS);
    const { body, triangle } = hand;
    return tick === 0
      ? { type: "grab", member: 1, grab: 0, body, triangle, u: 0.3, v: 0.3, target }
      : { type: "move", member: 1, grab: 0, target };
  };
  let hash = "";
  const measured = await repeat(async (time) => {
    const rooms = Array.from({ length: ROOMS }, () => openRoom(built));
    const tickAll = (tick: number): void => {
      for (const [i, room] of rooms.entries()) {
        const last = tick === SETTLE + TICKS - 1;
        const { stateHash } = stepRoom(room, tick + 1, {
          inputs: [input(tick, i)],
          delta: tick % 2 === 0 ? "moving" : "none",
          hash: last,
        });
        hash = stateHash ?? hash;
      }
    };
    for (let tick = 0; tick < SETTLE; tick++) tickAll(tick);
    for (let tick = SETTLE; tick < SETTLE + TICKS; tick++) await time(() => tickAll(tick));
    forgetRooms(0);
  }, how);
  return { ...measured, ms: measured.ms / TICKS / ROOMS, hash };
};

/** Time to encode and decode a frame of 1,681 particles that fall, settle and are pulled. */
export const codec: Figure["measure"] = async (how) => {
  const trajectory = clothTrajectory({ side: 41, seconds: 1 });
  const model = createSnapshotModel(trajectory.bodies);
  const frames = quantized(trajectory);
  const deltas: Uint8Array[] = [];
  const out = new Int32Array(3 * model.total);
  const count = frames.length - 1;
  const measured = await repeat(async (time) => {
    await time(() => {
      for (let f = 0; f < count; f++) deltas[f] = encodeDelta(model, frames[f]!, frames[f + 1]!);
    });
    await time(() => {
      for (let f = 0; f < count; f++) decodeDelta(model, frames[f]!, deltas[f]!, out);
    });
    if (out.some((value, i) => value !== frames[count]![i])) throw new Error("codec: the last frame differs");
  }, how);
  return { ...measured, ms: measured.ms / count };
};

/** Visitors per build. With four, their first frames take half as much time as the build. */
const VISITORS = 4;
/** Builds in a row. */
const BUILDS = 3;

/**
 * CPU time from the scene file to frames that visitors can draw. Server: build, open, two ticks with keyframe and
 * delta.
 * Visitor: topology, keyframe, delta, positions. The process is fresh, and all of its builds count: most of the work is
 * code that is not compiled yet, as in a server's thread. A repetition would not be the same work.
 */
export const firstFrame: Figure["measure"] = async (how) => {
  const work: Work = async (time) => {
    for (let i = 0; i < (how.once ? 1 : BUILDS); i++) {
      const built = await time(() => build({ scenePath: scenePath("bunny") }));
      for (let visitor = 0; visitor < VISITORS; visitor++) await visit(built, time);
    }
    forgetRooms(0);
  };
  const measured = await repeat(work, how, { least: 1, most: 1 });
  return { ...measured, ms: measured.ms / BUILDS };
};

async function visit(built: BuildResult, time: Time): Promise<void> {
  const messages = await time(() => {
    const room = openRoom(built);
    const first = stepRoom(room, 1, { delta: "always", keyframe: true });
    const second = stepRoom(room, 2, { delta: "always" });
    return [first.keyframe!, second.delta!];
  });
  await time(() => {
    const frames = new RoomFrames(decode(new Uint8Array(built.topology)) as Topology, () => {});
    for (const { bytes } of messages) {
      const event = parseServerMessage(bytes.buffer);
      if (event?.type !== "keyframe" && event?.type !== "delta") throw new Error(`no frame: ${event?.type}`);
      if (!frames.receive(event)) throw new Error(`first frame: ${event.type} could not be decoded`);
    }
  });
}

const WEIGHED = ["bunny", "drape", "jelly-stack"];
const WEIGHED_TICKS = 10;

/**
 * Geometric mean, over some scenes, of bytes per particle: planned memory of a room, the part in use after
 * WEIGHED_TICKS ticks, and the sent topology (gzip). The product shows a loss of 15 % in any of them equally.
 */
export const bytes: Figure["measure"] = async () => {
  const kinds = { planned: 0, used: 0, topology: 0 };
  for (const name of WEIGHED) {
    const built = await build({ scenePath: scenePath(name) });
    const room = openRoom(built);
    for (let tick = 1; tick <= WEIGHED_TICKS; tick++) stepRoom(room, tick, {});
    const perParticle = (count: number): number =>
      Math.log(count / (decode(new Uint8Array(built.topology)) as Topology).particles);
    kinds.planned += perParticle(room.memory.buffer.byteLength);
    kinds.used += perParticle(filledBytes(filledOf(room.memory)));
    kinds.topology += perParticle(gzipSync(new Uint8Array(built.topology)).byteLength);
  }
  const mean = (sum: number, count: number): number => Math.exp(sum / count);
  const all = Object.values(kinds).reduce((sum, log) => sum + log, 0);
  return {
    bytes: mean(all, 3 * WEIGHED.length),
    note: Object.entries(kinds)
      .map(([kind, log]) => `${kind} ${mean(log, WEIGHED.length).toPrecision(3)}`)
      .join(", "),
  };
};
