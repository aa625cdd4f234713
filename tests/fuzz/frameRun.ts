/**
 * Hostile frames against a server over real sockets. Each connection says hello, sends frames that have to be borne,
 * and ends with one that has to end it: the code and reason that come back are the protocol's for that very frame,
 * which also shows that none before it ended the connection.
 */
import WebSocket from "ws";
import { decode, encode } from "@msgpack/msgpack";
import { Notices } from "../../shared/errors.ts";
import { ClientMessage, PROTOCOL_VERSION, ServerMessage } from "../../shared/protocol/protocol.ts";
import { anyFrame, expectedEnd, type End, type Frame, type Target } from "./frames.ts";
import { Random } from "./random.ts";

/** Below the input burst: what is dropped for its rate proves nothing. */
const MOST_BORNE = 100;
/** Connections whose very first frame is fuzzed, too. */
const FUZZED_FIRST = 0.2;

export interface FuzzRoom {
  name: string;
  /** Of the owner: then kick and access messages do something. */
  token?: string;
  target: Target;
}

export interface FrameRunOptions {
  url: string;
  rooms: readonly FuzzRoom[];
  frames: number;
  seed: number;
  /** Side by side. */
  connections: number;
  /** Told now and then. */
  onProgress?: (frames: number) => void;
}

export interface FrameRunResult {
  frames: number;
  connections: number;
  /** How many by close code. */
  ends: Record<string, number>;
  /** How many by notice. */
  notices: Record<string, number>;
  /** What was not as documented; the seed makes each again. */
  findings: Finding[];
}

interface Finding {
  seed: number;
  what: string;
  /** The frames that were sent, base64. */
  sent: string[];
}

/** A connection's frames, from its seed alone. */
function planConnection(seed: number, target: Target, token?: string): { frames: Frame[]; end: End } {
  const random = new Random(seed);
  const frames: Frame[] = [];
  // Where only owners are let in, the owner's hello is needed.
  if (token !== undefined || !random.chance(FUZZED_FIRST))
    frames.push({ bytes: encode([ClientMessage.hello, PROTOCOL_VERSION, token === undefined ? {} : { token }]) });
  const borne = random.below(MOST_BORNE);
  for (;;) {
    const frame = anyFrame(random, target);
    const end = expectedEnd(frame, frames.length === 0);
    if (end === null) {
      if (frames.length <= borne) frames.push(frame);
    } else if (frames.length > borne || random.chance(0.02) || frames.length === 0) {
      frames.push(frame);
      return { frames, end };
    }
  }
}

export async function runFrames({
  url,
  rooms,
  frames,
  seed,
  connections,
  onProgress,
}: FrameRunOptions): Promise<FrameRunResult> {
  const result: FrameRunResult = { frames: 0, connections: 0, ends: {}, notices: {}, findings: [] };
  let next = seed;
  const worker = async (): Promise<void> => {
    while (result.frames < frames && result.findings.length < 10) {
      const own = next++;
      const room = rooms[own % rooms.length]!;
      const { frames: sent, end } = planConnection(own, room.target, room.token);
      const said = await converse(url, room.name, sent, result.notices);
      result.frames += sent.length;
      result.connections += 1;
      result.ends[said.code] = (result.ends[said.code] ?? 0) + 1;
      const problem =
        said.problem ??
        (said.code !== end.code || (end.reason !== undefined && said.reason !== end.reason)
          ? `ended with ${said.code} "${said.reason}", not ${end.code} "${end.reason ?? ""}"`
          : undefined);
      if (problem !== undefined)
        result.findings.push({
          seed: own,
          what: problem,
          sent: sent.map(({ bytes }) => Buffer.from(bytes).toString("base64")),
        });
      if (result.connections % 1000 === 0) onProgress?.(result.frames);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return result;
}

const GIVE_UP_MS = 20_000;

function converse(
  url: string,
  room: string,
  frames: readonly Frame[],
  notices: Record<string, number>,
): Promise<{ code: number; reason: string; problem?: string }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/rooms/${room}/socket`, { perMessageDeflate: false });
    let problem: string | undefined;
    const overdue = setTimeout(() => {
      problem ??= `the server did not end the connection within ${GIVE_UP_MS / 1000} s`;
      socket.terminate();
    }, GIVE_UP_MS);
    socket.on("open", () => {
      for (const { bytes, text } of frames) socket.send(text ? Buffer.from(bytes).toString("utf8") : bytes);
    });
    socket.on("message", (data: Buffer) => {
      const message = decode(data) as unknown[];
      if (message[0] !== ServerMessage.notice) return;
      const code = String(message[1]);
      notices[code] = (notices[code] ?? 0) + 1;
      if (!(code in Notices)) problem ??= `a notice that is not documented: ${code}`;
    });
    // What the server wrote before it closed may meet a line that is gone already.
    socket.on("error", () => {});
    socket.on("close", (code, reason) => {
      clearTimeout(overdue);
      resolve({ code, reason: reason.toString(), ...(problem !== undefined && { problem }) });
    });
  });
}
