/**
 * Reads a room's stored data for its history:
 *
 *     checkpoints, newest first    the room continues from the first that is undamaged and readable by this program
 *     segments after it            as far as they are undamaged and without a gap
 *     older checkpoints, segments  for the history, as far back as they have no gap
 *     members                      as they were written last; otherwise those of the newest segment or checkpoint
 *
 * Damaged rows are skipped in favor of earlier ones. They are reported together with segments behind a gap, and the new
 * owner of the room quarantines them.
 */
import type { BadPiece, Store } from "../store/store.ts";
import {
  decodeCheckpoint,
  decodeMembers,
  decodeSegment,
  type MemberRecords,
  type Segment,
  type StoredCheckpoint,
} from "./format.ts";
import type { RoomHistory } from "./history.ts";

export interface Found {
  /** Ascending; empty: the room begins at its scene's start. */
  checkpoints: StoredCheckpoint[];
  /** Segments without a gap, from the first checkpoint (or tick 0) on. */
  segments: Segment[];
  members: MemberRecords;
  /** Damaged rows, with reasons. */
  damaged: BadPiece[];
  /** Undamaged segments behind damaged or missing ones. */
  unreached: BadPiece[];
  /** State identity of the newest checkpoint; null: there is none. */
  identity: string | null;
  /** The identity differs from this program's; then all other fields are empty. */
  otherVersion: boolean;
}

/**
 * @param identity state identity of this program (workers/stateIdentity.ts); null: accept that of the newest
 * checkpoint, for
 *   a recording that is not stepped here
 */
export async function findRoom(store: Store, room: string, identity: string | null): Promise<Found> {
  const damaged: Found["damaged"] = [];
  const checkpoints: StoredCheckpoint[] = [];
  let newest: string | null = null;
  for (const { tick } of (await store.checkpointTicks(room)).reverse()) {
    const stored = await store.readCheckpoint(room, tick);
    if (!stored) continue;
    newest ??= stored.identity;
    if (identity !== null && newest !== identity)
      return {
        checkpoints: [],
        segments: [],
        members: null,
        damaged: [],
        unreached: [],
        identity: newest,
        otherVersion: true,
      };
    // If the room started again with another program, older checkpoints may have another identity.
    if (stored.identity !== newest) break;
    const whole = attempt(
      () => decodeCheckpoint(stored.state),
      (reason) => damaged.push({ what: "checkpoint", tick, reason }),
    );
    if (whole) checkpoints.unshift(whole);
  }
  const segments: Segment[] = [];
  for (const { until, bytes } of await store.readJournal(room, 0)) {
    const segment = attempt(
      () => decodeSegment(bytes),
      (reason) => damaged.push({ what: "journal", tick: until, reason }),
    );
    if (segment) segments.push(segment);
  }
  const reached = withoutGaps(checkpoints, segments);
  const records = await store.readMembers(room);
  const members =
    records &&
    attempt(
      () => decodeMembers(records),
      (reason) => damaged.push({ what: "members", tick: 0, reason }),
    );
  const end = endOf(reached);
  const unreached = segments
    .filter(({ until }) => until > end)
    .map(({ after, until }) => ({
      what: "journal" as const,
      tick: until,
      reason: `it begins after tick ${after}, but the journal before it ends at ${end}`,
    }));
  return { ...reached, members: members ?? reached.members, damaged, unreached, identity: newest, otherVersion: false };
}

/** Last stored tick of the room. */
const endOf = ({ checkpoints, segments }: Pick<Found, "checkpoints" | "segments">): number =>
  Math.max(segments.at(-1)?.until ?? 0, checkpoints.at(-1)?.checkpoint.tick ?? 0);

/** Fills a new history with the stored data. @returns the last stored tick */
export function fill(history: RoomHistory, { checkpoints, segments }: Found): number {
  const until = endOf({ checkpoints, segments });
  history.append(
    until,
    segments.flatMap(({ records }) => records),
    segments.flatMap(({ hashes }) => hashes),
  );
  for (const { checkpoint } of checkpoints) history.add(checkpoint);
  // The scene's start is usable only if all inputs since the start are known.
  const reaches = segments[0]?.after ?? until;
  if (reaches > 0) history.forgetBefore(checkpoints[0]!.checkpoint.tick);
  // If the journal ends with a state, the record which tells that it was saved is lost, so mark it here.
  if (history.endsWithState) history.marked();
  return until;
}

/** Keeps the newest checkpoint, and the segments before and after it that connect to it without a gap. */
function withoutGaps(
  checkpoints: StoredCheckpoint[],
  segments: Segment[],
): Pick<Found, "checkpoints" | "segments" | "members"> {
  const base = checkpoints.at(-1)?.checkpoint.tick ?? 0;
  let members = checkpoints.at(-1)?.members ?? null;
  // Forward from the checkpoint, up to the first gap.
  const ahead: Segment[] = [];
  let until = base;
  for (const segment of segments) {
    if (segment.until <= until) continue;
    if (segment.after > until) break;
    ahead.push(behindOf(segment, ahead.length > 0 ? until : segment.after));
    until = segment.until;
    members = segment.members ?? members;
  }
  // Backward, for the history.
  const behind: Segment[] = [];
  let from = ahead[0]?.after ?? base;
  for (const segment of segments.filter((s) => s.until <= from).reverse()) {
    if (segment.until < from) break;
    if (segment.until > from) continue;
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

/** Returns the segment without ticks up to `after`, so that every tick is there once. */
function behindOf(segment: Segment, after: number): Segment {
  if (segment.after >= after) return segment;
  const isLater = ({ tick }: { tick: number }): boolean => tick > after;
  return { ...segment, after, records: segment.records.filter(isLater), hashes: segment.hashes.filter(isLater) };
}

function attempt<T>(work: () => T, failed: (reason: string) => void): T | undefined {
  try {
    return work();
  } catch (error) {
    failed((error as Error).message);
    return undefined;
  }
}
