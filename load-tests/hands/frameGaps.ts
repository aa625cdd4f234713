/**
 * Measures a room of a bundled scene on the real server while members' grabs move in real time: the time between
 * frames, and the simulated time that passes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Bot as Member, Bot, createRoom, deleteRoom, type Point } from "../bot.ts";
import { FrameWatch } from "../frameWatch.ts";
import { type HeldSurface, offsetOf, positionOf, spread } from "./circles.ts";

/** Grabs per member. Targets are sent as often as a page sends them, within the limit of inputs. */
const HANDS_EACH = 2;
const MOVES_PER_SECOND = 25;
/** Time before the grabs begin, s. */
const SETTLE_SECONDS = 1;

export interface FrameGaps {
  /** Times between a member's frames during the grabs, ms; the end may cut off the last one. */
  gaps: number[];
  /** Simulated seconds per second of wall time. */
  realTime: number;
}

/** @param url of a running server @param seconds of wall time, with grabs */
export async function frameGaps(url: string, scene: string, hands: number, seconds: number): Promise<FrameGaps> {
  const { room, token } = await createRoom(url, scene);
  const members = await Promise.all(
    Array.from({ length: Math.max(1, Math.ceil(hands / HANDS_EACH)) }, () =>
      Bot.join(url, room, { timeoutMs: 60_000 }),
    ),
  );
  let timer: NodeJS.Timeout | undefined;
  try {
    await sleep(1000 * SETTLE_SECONDS);
    if (hands > 0) timer = pull(members, hands);
    return await watch(members[0]!, seconds);
  } finally {
    clearInterval(timer);
    for (const member of members) member.drop();
    await deleteRoom(url, room, token);
  }
}

function pull(members: readonly Member[], hands: number): NodeJS.Timeout {
  const { topology } = members[0]!;
  const { bodies: absent } = members[0]!.spawnable;
  const surfaces = topology.bodies
    .map(
      ({ kind, count, triangles }, body): HeldSurface => ({
        body,
        points: kind === "points" ? count : 0,
        triangles: new Uint32Array(triangles.slice().buffer),
        at: (particle) => members[0]!.position(body, particle),
      }),
    )
    .filter(({ body }) => !absent.includes(body));
  const starts = spread(surfaces, hands).map((place, hand) => {
    const start = positionOf(surfaces.find(({ body }) => body === place.body)!, place);
    members[Math.floor(hand / HANDS_EACH)]!.grab(hand, place, start);
    return start;
  });
  const beginMs = performance.now();
  return setInterval(() => {
    const elapsed = (performance.now() - beginMs) / 1000;
    starts.forEach((start, hand) => {
      const offset = offsetOf(hand, hands, elapsed);
      members[Math.floor(hand / HANDS_EACH)]!.move(hand, start.map((c, r) => c + offset[r]!) as Point);
    });
  }, 1000 / MOVES_PER_SECOND);
}

async function watch(member: Member, seconds: number): Promise<FrameGaps> {
  const frames = new FrameWatch(member);
  const beginMs = performance.now();
  const { tick: first } = member;
  await sleep(1000 * seconds);
  const elapsed = (performance.now() - beginMs) / 1000;
  return { gaps: frames.take(), realTime: (member.tick - first) / member.welcome.tickHz / elapsed };
}
