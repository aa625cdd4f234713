/**
 * Join tokens that this browser keeps, by room.
 *
 * A link brings a token behind its # (`/r/<room>#token=...`, or `/#token=...` for every room), where it is sent to no
 * server and kept in no server's log; it is taken out of the address bar at once, so that it is not in the history, in
 * a screenshot or in a copied link. Making a room brings its owner's.
 */
const KEY = "pliant.tokens";
/** For every room. */
const ANY = "*";
/** Rooms whose tokens are kept: the ones that were used last. */
const KEPT = 50;

/** Private windows may refuse storage; then tokens live as long as the page. */
const inPage = new Map<string, string>();

function stored(): Record<string, string> {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof known === "object" && known !== null ? (known as Record<string, string>) : {};
  } catch {
    return {};
  }
}

/** @param room a name, or `*` */
export function keepToken(room: string, token: string): void {
  inPage.set(room, token);
  const { [room]: _, ...others } = stored();
  try {
    localStorage.setItem(
      KEY,
      JSON.stringify(Object.fromEntries([...Object.entries(others), [room, token]].slice(-KEPT))),
    );
  } catch {
    // Refused storage: see above.
  }
}

/** The token for this room, or the one for every room; undefined: for the lobby's own requests. */
export function tokenFor(room: string | undefined): string | undefined {
  const known = stored();
  const of = (name: string): string | undefined =>
    inPage.get(name) ?? (Object.hasOwn(known, name) && typeof known[name] === "string" ? known[name] : undefined);
  return (room === undefined ? undefined : of(room)) ?? of(ANY);
}

/** The server does not take it any more. */
export function forgetToken(room: string): void {
  inPage.delete(room);
  const { [room]: _, ...others } = stored();
  try {
    localStorage.setItem(KEY, JSON.stringify(others));
  } catch {
    // Refused storage: it was not in there.
  }
}

/**
 * Takes the token out of the page's address, if there is one.
 * @param room that the page is of; undefined: the lobby, whose token is for every room
 */
export function takeTokenFromAddress(room: string | undefined): void {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const token = parameters.get("token");
  if (token === null) return;
  parameters.delete("token");
  const rest = parameters.toString();
  history.replaceState(history.state, "", location.pathname + location.search + (rest === "" ? "" : `#${rest}`));
  if (token !== "") keepToken(room ?? ANY, token);
}
