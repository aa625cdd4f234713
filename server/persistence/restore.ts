/**
 * From what the store has of a room to its history:
 *
 *     checkpoints, newest first    the first that is whole and can be read by this program is where the room goes on
 *     segments after it            as far as they follow each other and are whole
 *     older checkpoints, segments  how far it reaches back
 *
 * Whatever is damaged is passed over for what was before, and named.
 */
import type { Store } from "../store/store.ts";
import { decodeCheckpoint, decodeSegment, type MemberRecords, type Segment, type StoredCheckpoint } from "./format.ts";
import type { RoomHistory } from "./history.ts";

export interface Found {
  /** Ascending; none: the room begins with its scene. */
  checkpoints: StoredCheckpoint[];
  /** From the first checkpoint (or tick 0) on, without a gap. */
  segments: Segment[];
  members: MemberRecords;
  /** What was passed over, and why. */
  damaged: { what: "checkpoint" | "journal"; tick: number; reason: string }[];
  /** The store has checkpoints, but all of another scene or program. */
  foreign: boolean;
}

/** @param identity what this program can read (workers/identity.ts) */
export async function findRoom(store: Store, room: string, identity: string): Promise<Found> {
  const damaged: Found["damaged"] = [];
  const checkpoints: StoredCheckpoint[] = [];
  let foreign = false;
  for (const { tick } of await store.checkpointTicks(room)) {
    const stored = await store.readCheckpoint(room, tick);
    if (!stored) continue;
    if (stored.identity !== identity) {
      foreign = true;
      continue;
    }
    const whole = attempt(
      () => decodeCheckpoint(stored.state),
      (reason) => damaged.push({ what: "checkpoint", tick, reason }),
    );
    if (whole) checkpoints.push(whole);
  }
  if (foreign && checkpoints.length === 0) return { checkpoints: [], segments: [], members: null, damaged, foreign };
  const segments: Segment[] = [];
  for (const { after, bytes } of await store.readJournal(room, 0)) {
    const segment = attempt(
      () => decodeSegment(bytes),
      (reason) => damaged.push({ what: "journal", tick: after, reason }),
    );
    if (segment) segments.push(segment);
  }
  return { ...withoutGaps(checkpoints, segments), damaged, foreign: false };
}

/** Puts what was found into a history that is new. @returns where the room stood */
export function fill(history: RoomHistory, { checkpoints, segments }: Found): number {
  const last = segments.at(-1);
  const until = Math.max(last?.until ?? 0, checkpoints.at(-1)?.checkpoint.tick ?? 0);
  history.append(
    until,
    segments.flatMap(({ records }) => records),
    segments.flatMap(({ hashes }) => hashes),
  );
  for (const { checkpoint } of checkpoints) history.add(checkpoint);
  // The scene's start leads somewhere only if all is known since.
  const reaches = segments[0]?.after ?? until;
  if (reaches > 0) history.forgetBefore(checkpoints[0]!.checkpoint.tick);
  return until;
}

/** The newest checkpoint decides; what leads to it without a gap is kept, and what follows from it. */
function withoutGaps(
  checkpoints: StoredCheckpoint[],
  segments: Segment[],
): Pick<Found, "checkpoints" | "segments" | "members"> {
  const base = checkpoints.at(-1)?.checkpoint.tick ?? 0;
  let members = checkpoints.at(-1)?.members ?? null;
  // forwards, as far as it goes
  const ahead: Segment[] = [];
  let until = base;
  for (const segment of segments) {
    if (segment.until <= until) continue;
    if (segment.after > until) break;
    ahead.push(segment);
    until = segment.until;
    members = segment.members ?? members;
  }
  // and backwards, for how far it reaches back
  const behind: Segment[] = [];
  let from = ahead[0]?.after ?? base;
  for (const segment of segments.filter((s) => s.until <= from).reverse()) {
    if (segment.until < from) break;
    behind.unshift(segment);
    from = segment.after;
  }
  const reachable = Math.min(from, base);
  return {
    checkpoints: checkpoints.filter(({ checkpoint }) => checkpoint.tick >= reachable),
    segments: [...behind, ...ahead],
    members,
  };
}

function attempt<T>(work: () => T, failed: (reason: string) => void): T | undefined {
  try {
    return work();
  } catch (error) {
    failed((error as Error).message);
    return undefined;
  }
}
