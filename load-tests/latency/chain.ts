/**
 * Joins the stamps of two pages and the server into the path of one grab or move: the tick that took it, the frame that
 * carried it, and when it was visible.
 */
import type * as rooms from "../../server/rooms/trace.ts";
import { ClientMessage } from "../../shared/protocol/fromClient.ts";
import type { FrameStamp, PictureStamp, SentStamp } from "./pageProbe.ts";

/** The server's stamps, without the room: the benchmark has one. */
export type InputTrace = Omit<rooms.InputTrace, "room">;
export type TickTrace = Omit<rooms.TickTrace, "room">;

/** Times of one move, ms since the epoch, in the order in which they happen. */
export interface Chain {
  /** True for a grab, false for a move. */
  grabs: boolean;
  event: number;
  sent: number;
  received: number;
  /** Start of the tick that took it, and of the first tick from there on that sent a frame. */
  tick: number;
  frameTick: number;
  encoded: number;
  handedOver: number;
  arrived: number;
  decoded: number;
  frame: FrameStamp;
}

/** @param lines of the trace file */
export function parseTrace(lines: string, room: string): { inputs: InputTrace[]; ticks: TickTrace[] } {
  const inputs: InputTrace[] = [];
  const ticks: TickTrace[] = [];
  for (const line of lines.split("\n")) {
    // The server may still be writing the last line.
    if (!line.endsWith("}")) continue;
    const {
      name,
      origin,
      room: where,
      ...f
    } = JSON.parse(line) as { name: string; origin: number; room: string } & Record<string, number>;
    if (where !== room) continue;
    if (name === "pliant.input") inputs.push({ ...(f as unknown as InputTrace), ms: origin + f.ms! });
    else
      ticks.push({
        ...(f as unknown as TickTrace),
        startMs: origin + f.startMs!,
        steppedMs: origin + f.steppedMs!,
        sentMs: origin + f.sentMs!,
      });
  }
  return { inputs, ticks };
}

/**
 * @param member the puller's number in the room
 * @returns one chain for each `grab` and `move` of the puller whose frame the watcher received
 * @throws Error if the server received another number of inputs than the page sent: then they cannot be matched
 */
export function chains(
  sent: readonly SentStamp[],
  frames: readonly FrameStamp[],
  trace: { inputs: readonly InputTrace[]; ticks: readonly TickTrace[] },
  member: number,
): Chain[] {
  const moves = sent.filter(({ type }) => type === ClientMessage.move || type === ClientMessage.grab);
  const inputs = trace.inputs.filter(
    (input) => input.member === member && (input.type === "move" || input.type === "grab"),
  );
  if (inputs.length !== moves.length)
    throw new Error(`the page sent ${moves.length} grabs and moves, the server had ${inputs.length}`);
  const arrival = new Map(frames.map((frame) => [frame.tick, frame]));
  return moves.flatMap((move, i) => {
    const input = inputs[i]!;
    const took = trace.ticks.find(({ startMs }) => startMs >= input.ms);
    const carried = took && trace.ticks.find(({ tick, frame }) => frame && tick >= took.tick);
    const frame = carried && arrival.get(carried.tick);
    if (!frame) return [];
    return [
      {
        grabs: move.type === ClientMessage.grab,
        event: move.eventMs,
        sent: move.ms,
        received: input.ms,
        tick: took.startMs,
        frameTick: carried.startMs,
        encoded: carried.steppedMs,
        handedOver: carried.sentMs,
        arrived: frame.ms,
        decoded: frame.decodedMs,
        frame,
      },
    ];
  });
}

/**
 * Finds the first picture that differs after a grab, and its cause: the first move whose frame the picture can show, or
 * the grab itself, which may wake a body.
 * @param pull the grab and the moves after it
 * @param sendTicks ticks between two frames
 */
export function firstChange(
  pictures: readonly PictureStamp[],
  pull: readonly Chain[],
  sendTicks: number,
): { chain: Chain; picture: PictureStamp } | undefined {
  const picture = pull[0] && pictures.find(({ drawnMs, changed }) => changed && drawnMs > pull[0]!.sent);
  const causes = pull.filter(
    ({ frame }) => picture && frame.ms < picture.drawnMs && frame.tick < picture.tick + sendTicks,
  );
  const chain = causes.find(({ grabs }) => !grabs) ?? causes[0];
  return picture && chain && { chain, picture };
}
