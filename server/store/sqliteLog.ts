/**
 * Is the log beside the SQLite file (WAL) the one that was left there? SQLite itself takes a log that is gone, cut off
 * or damaged for a short one and says nothing, though rooms that were acknowledged are missing then. Two things tell:
 *
 *     beats     the store counts, every second or two (`counter.beat`), and notes the count in a file of its own behind
 *               each commit: a store that is behind its note has lost something. Who copies the log into the file
 *               (another program that opens it does) loses nothing
 *     frames    a frame that is damaged, with whole transactions behind it
 *               (https://www.sqlite.org/fileformat2.html#walformat).
 *               Behind a frame that a killed process was writing there are none
 */
import { closeSync, constants, copyFileSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALTS_AT = 16;
const SALT_BYTES = 8;
/** First word of a log; its last bit says how checksums read their words: 0 little-endian, 1 big-endian. */
const MAGIC = 0x377f0682;

/** As many as the largest safe integer has. */
const BEAT_DIGITS = 16;

const logOf = (path: string): string => `${path}-wal`;
const beatOf = (path: string): string => `${path}-beat`;

export const hasLog = (path: string): boolean => existsSync(logOf(path));

/** The store's count as it was noted last; 0: it was not. */
export function notedBeat(path: string): number {
  const noted = existsSync(beatOf(path)) ? Number(readFileSync(beatOf(path), "utf8")) : 0;
  return Number.isSafeInteger(noted) ? noted : 0; // Somebody else wrote it.
}

/** @param beat that is committed */
export function noteBeat(path: string, beat: number): void {
  // In one write over what is there: whoever is killed meanwhile leaves the old count or the new one, never none.
  const file = openSync(beatOf(path), constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    writeSync(file, String(beat).padStart(BEAT_DIGITS), 0);
  } finally {
    closeSync(file);
  }
}

/** Whoever closes the file last takes its log along, and leaves nothing that could be missed. */
export function forgetBeat(path: string): void {
  if (!hasLog(path)) rmSync(beatOf(path), { force: true });
}

/** To be asked before the file is opened. @returns what is wrong with the log; null: nothing */
export function findDamage(path: string): string | null {
  const log = hasLog(path) ? readFileSync(logOf(path)) : Buffer.alloc(0);
  if (log.length === 0) return null;
  if (log.length < HEADER_BYTES) return `it has ${log.length} bytes`;
  const { whole, behind, headed } = readFrames(log);
  if (!headed) return "its head is damaged";
  return behind > 0 ? `frame ${whole + 1} is damaged, with ${behind} whole transactions behind it` : null;
}

/** Before SQLite overwrites it. @returns the copy's name; null: there is nothing to copy */
export function copyLog(path: string): string | null {
  if (!hasLog(path)) return null;
  const target = `${logOf(path)}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
  copyFileSync(logOf(path), target);
  return target;
}

/** @returns frames that are whole, and transactions that end behind them in spite of that */
function readFrames(log: Buffer): { whole: number; behind: number; headed: boolean } {
  const magic = log.readUInt32BE(0);
  const sum = new Checksum((magic & 1) === 1);
  sum.add(log, 0, HEADER_BYTES - 8);
  if ((magic & ~1) >>> 0 !== MAGIC || !sum.is(log, HEADER_BYTES - 8)) return { whole: 0, behind: 0, headed: false };
  const pageBytes = log.readUInt32BE(8);
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const salts = log.subarray(SALTS_AT, SALTS_AT + SALT_BYTES);
  /** Frames of before the log began anew have other salts. */
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
  // The frame itself may have been under way. Its size says of one that it ends a transaction.
  for (at += frameBytes; at + frameBytes <= log.length; at += frameBytes)
    if (isOurs(at) && log.readUInt32BE(at + 4) > 0) behind += 1;
  return { whole, behind, headed: true };
}

/** Of all frames before, as SQLite has it: s0 += x0 + s1; s1 += x1 + s0 for every two words. */
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

  /** Is it what stands there? */
  is(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.#s0 && bytes.readInt32BE(at + 4) === this.#s1;
  }
}
