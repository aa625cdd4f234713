/** Passes a value from one page of a tab to the next page of a room, through session storage. */
const keyOf = (what: string, room: string): string => `pliant.${what}.${room}`;

/** @throws DOMException if the browser refuses storage */
export function handOver(what: string, room: string, value: unknown): void {
  sessionStorage.setItem(keyOf(what, room), JSON.stringify(value));
}

/** Returns the stored value for this room, and deletes it. */
export function takeOver<T>(what: string, room: string): T | undefined {
  try {
    const kept = sessionStorage.getItem(keyOf(what, room));
    sessionStorage.removeItem(keyOf(what, room));
    return kept === null ? undefined : (JSON.parse(kept) as T);
  } catch {
    return undefined;
  }
}
