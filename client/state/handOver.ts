/** What one page of a tab leaves for the next one of a room. */
const keyOf = (what: string, room: string): string => `pliant.${what}.${room}`;

/** @throws DOMException where the browser keeps nothing */
export function handOver(what: string, room: string, value: unknown): void {
  sessionStorage.setItem(keyOf(what, room), JSON.stringify(value));
}

/** What was left for this room, once. */
export function takeOver<T>(what: string, room: string): T | undefined {
  try {
    const kept = sessionStorage.getItem(keyOf(what, room));
    sessionStorage.removeItem(keyOf(what, room));
    return kept === null ? undefined : (JSON.parse(kept) as T);
  } catch {
    return undefined;
  }
}
