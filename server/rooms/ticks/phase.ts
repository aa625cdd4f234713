/**
 * Returns a number from 0 to 1 that is spread evenly over rooms, and the same whenever the room is opened: work that
 * many rooms do at an interval does not come at once (FNV-1a, Fowler, Noll and Vo).
 */
export function phaseOf(room: string): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < room.length; n++) hash = Math.imul(hash ^ room.charCodeAt(n), 0x01000193);
  // the last characters reach only the low bits
  return (Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0) / 2 ** 32;
}
