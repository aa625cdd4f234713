/** Reads numbers from text mesh files: lines, fields and errors with positions. */
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { MAX_FILE_BYTES, MeshError } from "../mesh.ts";
import type { MeshNote } from "../meshNotes.ts";

/**
 * Bytes of a file, decompressed if they are gzip.
 * @throws MeshError if gzip is broken or the content is larger than MAX_FILE_BYTES
 */
export function plainBytes(file: string, bytes: Uint8Array): Uint8Array {
  const tooLarge = (value: string | number): MeshError =>
    new MeshError({ file, field: "size in bytes", value, limit: `at most ${MAX_FILE_BYTES} is allowed` });
  if (bytes.length > MAX_FILE_BYTES) throw tooLarge(bytes.length);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_FILE_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge("larger when decompressed");
    throw new MeshError({
      file,
      field: "gzip stream",
      value: (error as Error).message,
      limit: "a complete gzip file is needed",
    });
  }
}

/** Converts UTF-16, which some programs write, to UTF-8, and drops byte order marks. Other bytes stay as they are. */
export function inUtf8(bytes: Uint8Array): Uint8Array {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return bytes.subarray(3);
  const little = a === 0xff && b === 0xfe;
  if (!little && !(a === 0xfe && b === 0xff)) return bytes;
  return new TextEncoder().encode(new TextDecoder(little ? "utf-16le" : "utf-16be").decode(bytes));
}

/** Text of a file given as text or bytes, without a byte order mark. */
export function plainText(file: string, content: string | Uint8Array): string {
  if (typeof content === "string") return content;
  const bytes = inUtf8(plainBytes(file, content));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  // Old programs end lines with a carriage return alone.
  return text.includes("\n") ? text : text.replaceAll("\r", "\n");
}

/** One line of a text file, split into fields at white space. */
export interface TextLine {
  /** From 1. */
  number: number;
  fields: string[];
}

/** Yields the lines that have fields, with comments removed. `comment` starts a comment. */
export function* textLines(text: string, comment: string): Generator<TextLine, void, undefined> {
  let number = 0;
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf("\n", start);
    if (end < 0) end = text.length;
    number++;
    let line = text.slice(start, end);
    start = end + 1;
    const cut = line.indexOf(comment);
    if (cut >= 0) line = line.slice(0, cut);
    line = line.trim();
    if (line.length > 0) yield { number, fields: line.split(/\s+/) };
  }
}

/**
 * Accepts decimal numbers only. `Number()` would also accept empty text, hexadecimal and named infinities, which no
 * mesh file means.
 */
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?$/;

/** Names of numbers that are not finite, as C libraries write them. */
const NOT_A_NUMBER = /^[+-]?(nan(\(.*\))?|inf(inity)?|1\.?#?(ind|qnan|snan|inf)\d*)$/i;

export const isNotANumber = (word: string | undefined): boolean => word !== undefined && NOT_A_NUMBER.test(word);

/** Value of a decimal number; NaN for any other word. */
export const decimal = (word: string): number => (DECIMAL.test(word) ? Number(word.replace(/[dD]/, "e")) : Number.NaN);

/** Note about faces of one or two corners. */
export function shortFaces(count: number): MeshNote[] {
  if (count === 0) return [];
  return [{ code: "POLYGONS_FLAT", text: `${count} faces have fewer than three corners and are left out.` }];
}

/** Note about numbers that are not finite, in data that the simulation does not use. */
export function numbersIgnored(count: number): MeshNote[] {
  if (count === 0) return [];
  const text = `${count} numbers are not finite, in normals or other data that the simulation does not use; they are ignored.`;
  return [{ code: "NUMBERS_IGNORED", text }];
}

/**
 * Field `index` of a line as a finite number.
 * @throws MeshError if it is missing, not a decimal number, or overflows
 */
export function numberField(file: string, line: TextLine, index: number, field: string): number {
  const text = line.fields[index];
  const value = decimal(text ?? "");
  if (Number.isFinite(value)) return value;
  throw new MeshError({ file, line: line.number, field, value: text ?? "missing", limit: "a finite number is needed" });
}

/**
 * Field `index` of a line as an integer from `low` to `high`.
 * @throws MeshError if it is missing, not an integer, or out of range
 */
export function integerField(
  file: string,
  line: TextLine,
  index: number,
  field: string,
  low: number,
  high: number,
): number {
  const text = line.fields[index];
  const value = text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= low && value <= high) return value;
  throw new MeshError({
    file,
    line: line.number,
    field,
    value: text ?? "missing",
    limit: `an integer from ${low} to ${high} is needed`,
  });
}
