/**
 * Is the log beside the SQLite file (WAL) the one that was left there? SQLite itself takes a log that is gone, cut off
 * or damaged for a short one and says nothing, though rooms that were acknowledged are missing then. Two things tell:
 *
 *     marker  <file>-open, there while anybody has the file open, with the log's salts and how many frames it had
 *             lately: a log that is absent, or shorter than that, was made so by somebody else
 *     frames  a frame that is damaged, with whole transactions behind it (https://www.sqlite.org/fileformat2.html#walformat).
 *             Behind a frame that a killed process was writing there are none
 */
import { closeSync, copyFileSync, existsSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import type { StoreLossCode } from "../metrics/store.ts";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALTS_AT = 16;
const SALT_BYTES = 8;
/** First word of a log; its last bit says how checksums read their words: 0 little-endian, 1 big-endian. */
const MAGIC = 0x377f0682;

/** What is wrong with a log, for the operator. */
type LogLoss = { code: Exclude<StoreLossCode, "STORE_DAMAGED">; reason: string };

interface Marker {
  /** Hexadecimal; empty: not known. */
  salts: string;
  frames: number;
}

const logOf = (path: string): string => `${path}-wal`;
const markerOf = (path: string): string => `${path}-open`;

/** To be asked before the file is opened. @returns null: what there is is what was left */
export function findLoss(path: string): LogLoss | null {
  // In this order: who closes the file takes the marker away first.
  const log = existsSync(logOf(path)) ? readFileSync(logOf(path)) : null;
  const marker = readMarker(path);
  if (log === null)
    return marker && { code: "STORE_LOG_DELETED", reason: "the file was in use, and its log is not there any more" };
  if (log.length === 0) return marker && marker.frames > 0 ? damaged("it is empty") : null;
  if (log.length < HEADER_BYTES) return damaged(`it has ${log.length} bytes`);
  const { whole, behind, headed } = readFrames(log);
  if (!headed) return damaged("its head is damaged");
  if (behind > 0) return damaged(`frame ${whole + 1} is damaged, with ${behind} whole transactions behind it`);
  if (marker && marker.salts === saltsOf(log) && whole < marker.frames)
    return damaged(`it has ${whole} frames, but had ${marker.frames}`);
  return null;
}

const damaged = (reason: string): LogLoss => ({ code: "STORE_LOG_DAMAGED", reason });

/** Before SQLite overwrites it. @returns the copy's name; null: there is nothing to copy */
export function copyLog(path: string): string | null {
  if (!existsSync(logOf(path))) return null;
  const target = `${logOf(path)}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
  copyFileSync(logOf(path), target);
  return target;
}

/** Somebody has the file open. @param frames in its log by now */
export function mark(path: string, frames: number): void {
  const salts = frames > 0 ? saltsInFile(path) : "";
  writeFileSync(markerOf(path), JSON.stringify({ salts, frames } satisfies Marker), { mode: 0o600 });
}

/** Around closing the file: the last one that closes it takes its log along. */
export function closeMarked(path: string, close: () => void): void {
  rmSync(markerOf(path), { force: true });
  close();
  if (existsSync(logOf(path))) mark(path, 0); // Others have it open.
}

function readMarker(path: string): Marker | null {
  if (!existsSync(markerOf(path))) return null;
  try {
    return JSON.parse(readFileSync(markerOf(path), "utf8")) as Marker;
  } catch {
    return { salts: "", frames: 0 }; // It was being written.
  }
}

function saltsInFile(path: string): string {
  const file = openSync(logOf(path), "r");
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    return readSync(file, head) === HEADER_BYTES ? saltsOf(head) : "";
  } finally {
    closeSync(file);
  }
}

const saltsOf = (log: Buffer): string => log.toString("hex", SALTS_AT, SALTS_AT + SALT_BYTES);

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
