/**
 * Application messages, which members of a room send to each other. The server and the client package check them by the
 * same rules.
 */

/** Limit of entries of one list or map; the server's decoder accepts no more from any client. */
export const MOST_ENTRIES = 64;

/** Form of a message's kind, which the application chooses. */
const KIND = /^[A-Za-z][A-Za-z0-9._:-]{0,31}$/;
export const KIND_FORM = "1 to 32 of A-Z, a-z, 0-9 and . _ : -, starting with a letter";

export function isKind(value: unknown): boolean {
  return typeof value === "string" && KIND.test(value);
}

/**
 * Nesting depth of lists and maps: 0 for a number, 1 for [1, 2]. Works level by level, so deep data needs no stack.
 * @param most counting stops above this, because cyclic data have no depth
 * @throws TypeError for any value other than nil, a boolean, a finite number, a string, bin, a list or a map
 */
export function depthOf(data: unknown, most: number): number {
  let level = [data];
  for (let depth = 0; ; depth++) {
    const held = level.map(entriesOf).filter((entries) => entries !== null);
    if (held.length === 0 || depth > most) return depth;
    level = held.flat();
  }
}

/** Entries of a list or a map; null: neither. */
function entriesOf(value: unknown): unknown[] | null {
  if (value === null || typeof value === "boolean" || value instanceof Uint8Array) return null;
  if (typeof value === "number") return Number.isFinite(value) ? null : wrong("a number that is not finite");
  if (typeof value === "string") return value.isWellFormed() ? null : wrong("a string that is not UTF-8");
  if (Array.isArray(value)) return value.length <= MOST_ENTRIES ? value : wrong(`a list of ${value.length} entries`);
  if (typeof value !== "object") return wrong(typeof value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return wrong("a value that JSON cannot represent");
  const keys = Object.keys(value);
  if (keys.length > MOST_ENTRIES) return wrong(`a map of ${keys.length} entries`);
  // msgpack decoders refuse the key `__proto__`, because it would change the object's prototype.
  if (keys.some((key) => !key.isWellFormed() || key === "__proto__")) return wrong("a map with an invalid key");
  return Object.values(value);
}

function wrong(what: string): never {
  throw new TypeError(`holds ${what}`);
}
