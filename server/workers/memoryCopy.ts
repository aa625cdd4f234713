/** A room's own copy of a template's memory. It knows nothing of what is inside. */

const PAGE_BYTES = 65536;

/**
 * @param template pristine memory, in
 * @returns a shared memory of the same size and content. Its maximum is its size: a room's memory never grows, and the reserve for
 *   growth would be address space that a thousand rooms do not have
 */
export function copyMemory(template: WebAssembly.Memory): WebAssembly.Memory {
  const source = new Uint8Array(template.buffer);
  const pages = source.byteLength / PAGE_BYTES;
  const copy = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  new Uint8Array(copy.buffer).set(source);
  return copy;
}
