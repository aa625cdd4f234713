/**
 * Replays a room's last seconds: steps its recording again and sends the messages of the socket protocol, so that a
 * client that can show a room can show its past.
 *
 *     recording.from ......... from .................... until
 *     a state                  the replay begins           the room's last tick at the time of the request
 *        ticks without frames    K d d d d K d d d d ...   a keyframe every second, deltas in between
 *
 * A replay steps in its own memory on a thread that steps no rooms (workers/pool.ts), as fast as its reader takes it.
 * Its frames equal the room's own integers if the replay begins before a body fell asleep. A body that sleeps when the
 * replay begins may be off by one grid step (workers/stepping/frameEncoder.ts).
 */
import type { RoomRecording } from "../../persistence/recording.ts";
import { unpack } from "../../persistence/history.ts";
import type { StepResult } from "../../workers/messages.ts";
import type { RoomPool } from "../../workers/pool.ts";
import { ReplayGrabs } from "./replayGrabs.ts";
import type { Room } from "../room.ts";
import { RoomFacts } from "../roomFacts.ts";
import type { SceneTemplate } from "../scenes/sceneLibrary.ts";
import { encodeGrabs, encodeReplayHead } from "../../../shared/protocol/fromServer.ts";
import { RoomSimulation } from "../ticks/simulation.ts";

/** Interval of keyframes, s: a player decodes at most this long to show any moment. */
const KEYFRAME_SECONDS = 1;
const LENGTH_BYTES = 4;

/** Input of a replay. It is copied from the room at once, so the room may continue or go back meanwhile. */
export interface ReplayPlan {
  recording: RoomRecording;
  template: SceneTemplate;
  /** Ticks between two frames, as in the room. */
  sendTicks: number;
  /** First tick that is shown. */
  from: number;
}

export function planReplay(room: Room, seconds: number): ReplayPlan {
  const recording = room.record(seconds);
  const { template, sendTicks } = room;
  return {
    recording,
    template,
    sendTicks,
    from: Math.max(recording.from, recording.until - Math.round(seconds * recording.tickHz)),
  };
}

/**
 * Yields messages, each behind its length (u32, big-endian): first a map that describes the replay, then the messages
 * that a member would have received.
 * @param pool from `WorkerPools.forReplays`
 * @param signal ends the replay before the next tick
 * @throws Error if the thread is lost, or if the scene fails again as it did in the room
 */
export async function* replay(
  { recording, template, sendTicks, from }: ReplayPlan,
  pool: RoomPool,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, void> {
  const {
    room,
    scene,
    topology,
    tickHz,
    until,
    states: [start],
    records,
  } = recording;
  const { simulation, rebuilt } = await RoomSimulation.restore(template, pool, {
    state: unpack(start!),
    from: start!.tick,
    until: start!.tick,
    records: [],
    fresh: false,
  });
  const inputs = new Map(records.map((record) => [record.tick, record]));
  const grabs = new ReplayGrabs();
  const facts = new RoomFacts(template.shape.spawnable, rebuilt.facts.tuning);
  facts.replace(rebuilt.facts, recording.from);
  const keyframeTicks = Math.max(sendTicks, Math.round((KEYFRAME_SECONDS * tickHz) / sendTicks) * sendTicks);
  const lastSend = until - (until % sendTicks);
  let beside: Uint8Array[] = [];
  let shown = false;

  const sendHz = tickHz / sendTicks;
  yield framed([encodeReplayHead({ format: "pliant-replay-1", room, scene, topology, tickHz, sendHz, from, until })]);
  for (let tick = recording.from + 1; tick <= until && !signal.aborted; tick++) {
    const { inputs: given = [], fresh = false } = inputs.get(tick) ?? {};
    const showing = tick >= from;
    const send = showing && tick % sendTicks === 0;
    const keyframe = send && (!shown || tick % keyframeTicks === 0);
    const delta = !send ? "none" : tick === lastSend ? "always" : "moving";
    const result = await stepAgain(simulation, { tick, inputs: given, fresh, delta, keyframe });
    grabs.step(given, result.events);
    const told = facts.take(result.events, tick);
    if (!showing) continue;
    beside.push(...told);
    if (!send) continue;
    if (!shown) beside.push(...facts.all(tick));
    const changed = grabs.takeChanged();
    if (changed.length > 0) beside.push(encodeGrabs(tick, changed));
    const frame = frameOf(result, keyframe);
    if (frame) beside.push(frame);
    shown = true;
    if (beside.length > 0) yield framed(beside);
    beside = [];
  }
}

/** @throws Error when the thread is lost. It is not retried: the same tick would lose the thread again */
async function stepAgain(simulation: RoomSimulation, task: Parameters<RoomSimulation["step"]>[0]): Promise<StepResult> {
  const lost = (cause?: unknown): never => {
    throw new Error("the replay's thread was lost", { cause });
  };
  const outcome = await simulation.step(task, () => lost());
  if (outcome.kind === "stepped") return outcome.result;
  return lost(outcome.kind === "dropped" ? undefined : outcome.error);
}

function frameOf({ delta, keyframe }: StepResult, wanted: boolean): Uint8Array | undefined {
  return (wanted ? keyframe : delta)?.bytes;
}

function framed(messages: readonly Uint8Array[]): Buffer {
  const out = Buffer.allocUnsafe(messages.reduce((sum, { byteLength }) => sum + LENGTH_BYTES + byteLength, 0));
  let at = 0;
  for (const message of messages) {
    out.writeUInt32BE(message.byteLength, at);
    out.set(message, at + LENGTH_BYTES);
    at += LENGTH_BYTES + message.byteLength;
  }
  return out;
}
