/**
 * Strict UTF-8 in msgpack. The msgpack library decodes leniently: it turns overlong and other invalid sequences into
 * characters. This file checks the bytes of every string before they are decoded.
 */

const utf8 = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true });

function isUtf8(bytes: Uint8Array): boolean {
  try {
    utf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Bytes between the first byte of a value and its content, and the length of the content. */
function sizesOf(view: DataView, at: number): { head: number; content: number; isText?: true } {
  const first = view.getUint8(at);
  if (first >= 0xa0 && first <= 0xbf) return { head: 0, content: first & 0x1f, isText: true };
  if (first >= 0xc4 && first <= 0xc6) return sized(view, at, 1 << (first - 0xc4), 0);
  if (first >= 0xc7 && first <= 0xc9) return sized(view, at, 1 << (first - 0xc7), 1);
  if (first === 0xca || first === 0xcb) return { head: 0, content: first === 0xca ? 4 : 8 };
  if (first >= 0xcc && first <= 0xd3) return { head: 0, content: 1 << (first & 3) };
  if (first >= 0xd4 && first <= 0xd8) return { head: 1, content: 1 << (first - 0xd4) };
  if (first >= 0xd9 && first <= 0xdb) return { ...sized(view, at, 1 << (first - 0xd9), 0), isText: true };
  if (first >= 0xdc && first <= 0xdf) return { head: 0, content: first & 1 ? 4 : 2 };
  return { head: 0, content: 0 };
}

/** @param width bytes of the length. @param type bytes of the extension type */
function sized(view: DataView, at: number, width: number, type: number): { head: number; content: number } {
  const content = width === 1 ? view.getUint8(at + 1) : width === 2 ? view.getUint16(at + 1) : view.getUint32(at + 1);
  return { head: width + type, content };
}

/**
 * Goes through the values in the order of their bytes. Entries of lists and maps follow their head like any other
 * value, so nesting needs no stack.
 * @returns place of the first string that is not UTF-8, in bytes; -1: none. Truncated data end the search
 */
export function findInvalidText(data: Uint8Array): number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let at = 0;
  try {
    while (at < data.byteLength) {
      const { head, content, isText } = sizesOf(view, at);
      const from = at + 1 + head;
      if (isText && !isUtf8(data.subarray(from, from + content))) return at;
      at = from + content;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return -1;
}
