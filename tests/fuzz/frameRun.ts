/**
 * Hostile frames against a server over real sockets. Each connection says hello, sends frames that the server must
 * accept, and ends with a frame that must close it. The close code and reason must be the protocol's for that last
 * frame, which also shows that no earlier frame closed the connection.
 */
import WebSocket from "ws";
import { decode, encode } from "@msgpack/msgpack";
import { Notices } from "../../shared/errorCodes.ts";
import { ClientMessage } from "../../shared/protocol/fromClient.ts";
import { PROTOCOL_VERSION } from "../../shared/protocol/protocol.ts";
import { ServerMessage } from "../../shared/protocol/fromServer.ts";
import { anyFrame, expectedEnd, type End, type Frame, type Target } from "./frames.ts";
import { Random } from "./random.ts";

/** Below the input burst: a frame that is dropped for its rate proves nothing. */
const MOST_BORNE = 100;
/** Share of connections whose first frame is fuzzed, too. */
const FUZZED_FIRST = 0.2;

export interface FuzzRoom {
  name: string;
  /** The owner's token, so that kick and access messages take effect. */
  token?: string;
  target: Target;
}

export interface FrameRunOptions {
  url: string;
  rooms: readonly FuzzRoom[];
  frames: number;
  seed: number;
  /** Number of parallel connections. */
  connections: number;
  /** Called from time to time. */
  onProgress?: (frames: number) => void;
}

export interface FrameRunResult {
  frames: number;
  connections: number;
  /** Number of connections by close code. */
  ends: Record<string, number>;
  /** Number of notices by code. */
  notices: Record<string, number>;
  /** Deviations from the documentation; the seed reproduces each. */
  findings: Finding[];
}

interface Finding {
  seed: number;
  what: string;
  /** The frames that were sent, base64. */
  sent: string[];
}

/** A connection's frames, derived from its seed only. */
function planConnection(seed: number, target: Target, token?: string): { frames: Frame[]; end: End } {
  const random = new Random(seed);
  const frames: Frame[] = [];
  // If only owners are let in, the owner's hello is needed.
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
    // The server's last bytes before its close may meet a connection that is already gone.
    socket.on("error", () => {});
    socket.on("close", (code, reason) => {
      clearTimeout(overdue);
      resolve({ code, reason: reason.toString(), ...(problem !== undefined && { problem }) });
    });
  });
}
