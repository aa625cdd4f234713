/**
 * Checks that the log (WAL) beside the SQLite file is complete. SQLite silently treats a missing, truncated or damaged
 * log as a short one, although acknowledged rooms are then missing. Two checks detect this:
 *
 *     beats     the store increments a counter every second or two (`counter.beat`) and, after each commit, writes it
 *               into a separate file. A store behind that number has lost data. Copying the log into the file, as any
 *               program does that opens it, loses nothing
 *     frames    a damaged frame that is followed by complete transactions
 *               (https://www.sqlite.org/fileformat2.html#walformat).
 *               A frame that a killed process was writing has no transactions behind it
 */
import { closeSync, constants, copyFileSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALTS_AT = 16;
const SALT_BYTES = 8;
/** First word of a log. Its last bit tells how checksums read words: 0 little-endian, 1 big-endian. */
const MAGIC = 0x377f0682;

/** Number of digits of the largest safe integer. */
const BEAT_DIGITS = 16;

const logOf = (path: string): string => `${path}-wal`;
const beatOf = (path: string): string => `${path}-beat`;

export const hasLog = (path: string): boolean => existsSync(logOf(path));

/** Returns the last noted beat; 0: none was noted. */
export function notedBeat(path: string): number {
  const noted = existsSync(beatOf(path)) ? Number(readFileSync(beatOf(path), "utf8")) : 0;
  return Number.isSafeInteger(noted) ? noted : 0; // The stored value is no number that this program wrote: ignore it.
}

/** Notes a beat. @param beat value that is committed */
export function noteBeat(path: string, beat: number): void {
  // Overwrite in one write: a process killed meanwhile leaves the old number or the new one, never none.
  const file = openSync(beatOf(path), constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    writeSync(file, String(beat).padStart(BEAT_DIGITS), 0);
  } finally {
    closeSync(file);
  }
}

/** Deletes the note when the file was closed last, because its log is then copied and deleted, too. */
export function forgetBeat(path: string): void {
  if (!hasLog(path)) rmSync(beatOf(path), { force: true });
}

/** Call it before the file is opened. @returns description of the log's damage; null: none */
export function findDamage(path: string): string | null {
  const log = hasLog(path) ? readFileSync(logOf(path)) : Buffer.alloc(0);
  if (log.length === 0) return null;
  if (log.length < HEADER_BYTES) return `it has only ${log.length} bytes`;
  const { whole, behind, headed } = readFrames(log);
  if (!headed) return "its header is damaged";
  return behind > 0 ? `frame ${whole + 1} is damaged, with ${behind} whole transactions behind it` : null;
}

/** Copies the log before SQLite overwrites it. @returns the copy's path; null: there is no log */
export function copyLog(path: string): string | null {
  if (!hasLog(path)) return null;
  const target = `${logOf(path)}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
  copyFileSync(logOf(path), target);
  return target;
}

/** @returns number of intact frames, and of transactions that end behind the first damaged frame */
function readFrames(log: Buffer): { whole: number; behind: number; headed: boolean } {
  const magic = log.readUInt32BE(0);
  const sum = new Checksum((magic & 1) === 1);
  sum.add(log, 0, HEADER_BYTES - 8);
  if ((magic & ~1) >>> 0 !== MAGIC || !sum.is(log, HEADER_BYTES - 8)) return { whole: 0, behind: 0, headed: false };
  const pageBytes = log.readUInt32BE(8);
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const salts = log.subarray(SALTS_AT, SALTS_AT + SALT_BYTES);
  /** Returns whether the frame is part of this log. Frames from before the log restarted have other salts. */
  const isOurs = (at: number): boolean => log.compare(salts, 0, SALT_BYTES, at + 8, at + 16) === 0;
  let whole = 0;
  let at = HEADER_BYTES;
  for (; at + frameBytes <= log.length && isOurs(at); at += frameBytes) {
    sum.add(log, at, 8);
    sum.add(log, at + FRAME_HEADER_BYTES, pageBytes);
    if (!sum.is(log, at + 16)) break;
    whole += 1;
  }
  let behind = 0;
  // Skip the damaged frame: a killed process may have been writing it. A frame with a database size ends a transaction.
  for (at += frameBytes; at + frameBytes <= log.length; at += frameBytes)
    if (isOurs(at) && log.readUInt32BE(at + 4) > 0) behind += 1;
  return { whole, behind, headed: true };
}

/** Running checksum of all frames so far, as SQLite defines it: s0 += x0 + s1; s1 += x1 + s0 for every two words. */
class Checksum {
  readonly #bigEndian: boolean;
  #s0 = 0;
  #s1 = 0;

  constructor(bigEndian: boolean) {
    this.#bigEndian = bigEndian;
  }

  add(bytes: Buffer, from: number, length: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + from, length);
    let [s0, s1] = [this.#s0, this.#s1];
    for (let at = 0; at < length; at += 8) {
      s0 = (s0 + view.getUint32(at, !this.#bigEndian) + s1) | 0;
      s1 = (s1 + view.getUint32(at + 4, !this.#bigEndian) + s0) | 0;
    }
    [this.#s0, this.#s1] = [s0, s1];
  }

  /** Returns whether the sum equals the checksum stored at `at`. */
  is(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.#s0 && bytes.readInt32BE(at + 4) === this.#s1;
  }
}
