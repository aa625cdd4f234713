/**
 * Application messages: what members of a room tell each other through it. The server and the client package check
 * them by the same rules.
 */

/** Entries of one list or map; the server's decoder takes no more of any client. */
export const MOST_ENTRIES = 64;

/** What an application calls a message. */
const KIND = /^[A-Za-z][A-Za-z0-9._:-]{0,31}$/;
export const KIND_FORM = "1 to 32 of A-Z, a-z, 0-9 and . _ : -, starting with a letter";

export function isKind(value: unknown): boolean {
  return typeof value === "string" && KIND.test(value);
}

/**
 * How many lists and maps lie within one another: 0 for a number, 1 for [1, 2]. Goes by levels, so that deep data
 * costs no stack.
 * @param most counting ends above this: data that hold themselves have no depth
 * @throws TypeError saying what is neither nil, a boolean, a finite number, a string, bin, a list nor a map
 */
export function depthOf(data: unknown, most: number): number {
  let level = [data];
  for (let depth = 0; ; depth++) {
    const held = level.map(entriesOf).filter((entries) => entries !== null);
    if (held.length === 0 || depth > most) return depth;
    level = held.flat();
  }
}

/** What a list or a map holds; null: it is neither. */
function entriesOf(value: unknown): unknown[] | null {
  if (value === null || typeof value === "boolean" || value instanceof Uint8Array) return null;
  if (typeof value === "number") return Number.isFinite(value) ? null : wrong("a number that is not finite");
  if (typeof value === "string") return value.isWellFormed() ? null : wrong("a string that is not UTF-8");
  if (Array.isArray(value)) return value.length <= MOST_ENTRIES ? value : wrong(`a list of ${value.length} entries`);
  if (typeof value !== "object") return wrong(typeof value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return wrong("something that JSON does not have");
  const keys = Object.keys(value);
  if (keys.length > MOST_ENTRIES) return wrong(`a map of ${keys.length} entries`);
  // msgpack's decoders refuse the second: it would change what it is read into.
  if (keys.some((key) => !key.isWellFormed() || key === "__proto__")) return wrong("a map with a key that cannot be");
  return Object.values(value);
}

function wrong(what: string): never {
  throw new TypeError(`holds ${what}`);
}
