/**
 * From what the store has of a room to its history:
 *
 *     checkpoints, newest first    the first that is whole and can be read by this program is where the room goes on
 *     segments after it            as far as they follow each other and are whole
 *     older checkpoints, segments  how far it reaches back
 *     members                      as they were written last; else as of the newest of the others
 *
 * Whatever is damaged is passed over for what was before, and named, and so is what nothing leads to any more: whoever
 * goes on with the room sets it aside.
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
  /** Ascending; none: the room begins with its scene. */
  checkpoints: StoredCheckpoint[];
  /** From the first checkpoint (or tick 0) on, without a gap. */
  segments: Segment[];
  members: MemberRecords;
  /** What was passed over, and why. */
  damaged: BadPiece[];
  /** Whole segments that nothing leads to, behind what is damaged or missing. */
  unreached: BadPiece[];
  /** What can read the newest checkpoint; null: there is none. */
  identity: string | null;
  /** That is another scene or program; then nothing else is told. */
  foreign: boolean;
}

/**
 * @param identity what this program can read (workers/identity.ts); null: whatever the newest checkpoint is of, to be
 *   looked at and not to be stepped
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
        foreign: true,
      };
    // Of a room that began anew with another program there may be some of before.
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
      reason: `it begins after tick ${after}, but what leads there ends at ${end}`,
    }));
  return { ...reached, members: members ?? reached.members, damaged, unreached, identity: newest, foreign: false };
}

/** Where the room stood. */
const endOf = ({ checkpoints, segments }: Pick<Found, "checkpoints" | "segments">): number =>
  Math.max(segments.at(-1)?.until ?? 0, checkpoints.at(-1)?.checkpoint.tick ?? 0);

/** Puts what was found into a history that is new. @returns where the room stood */
export function fill(history: RoomHistory, { checkpoints, segments }: Found): number {
  const until = endOf({ checkpoints, segments });
  history.append(
    until,
    segments.flatMap(({ records }) => records),
    segments.flatMap(({ hashes }) => hashes),
  );
  for (const { checkpoint } of checkpoints) history.add(checkpoint);
  // The scene's start leads somewhere only if all is known since.
  const reaches = segments[0]?.after ?? until;
  if (reaches > 0) history.forgetBefore(checkpoints[0]!.checkpoint.tick);
  // What followed that state is lost, and with it the record which said that the state was taken.
  if (history.endsWithState) history.marked();
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
    ahead.push(behindOf(segment, ahead.length > 0 ? until : segment.after));
    until = segment.until;
    members = segment.members ?? members;
  }
  // and backwards, for how far it reaches back
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

/** Without what another segment has told already: every tick is there once. */
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
