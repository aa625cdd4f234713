/**
 * Join tokens that this browser keeps, by room.
 *
 * A link carries a token behind its # (`/r/<room>#token=...`, or `/#token=...` for all rooms), so that it is sent to no
 * server and written to no log. The page removes it from the address bar at once, so that it does not appear in the
 * history, in a screenshot or in a copied link. Creating a room stores its owner's token.
 */
const KEY = "pliant.tokens";
/** Key of the token that is valid for all rooms. */
const ANY = "*";
/** Number of tokens kept: those of the rooms used last. */
const KEPT = 50;

/** Tokens of this page. Private windows may refuse storage; then tokens live as long as the page. */
const inPage = new Map<string, string>();

function stored(): Record<string, string> {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof known === "object" && known !== null ? (known as Record<string, string>) : {};
  } catch {
    return {};
  }
}

/** @param room a name, or ANY */
export function keepToken(room: string, token: string): void {
  inPage.set(room, token);
  const { [room]: _, ...others } = stored();
  try {
    localStorage.setItem(
      KEY,
      JSON.stringify(Object.fromEntries([...Object.entries(others), [room, token]].slice(-KEPT))),
    );
  } catch {
    // Storage is refused: the token is in `inPage`.
  }
}

/**
 * Returns the token for this room, else the token for all rooms. @param room undefined: for the lobby's own requests
 */
export function tokenFor(room: string | undefined): string | undefined {
  const known = stored();
  const of = (name: string): string | undefined =>
    inPage.get(name) ?? (Object.hasOwn(known, name) && typeof known[name] === "string" ? known[name] : undefined);
  return (room === undefined ? undefined : of(room)) ?? of(ANY);
}

/** Deletes a token that the server no longer accepts. */
export function forgetToken(room: string): void {
  inPage.delete(room);
  const { [room]: _, ...others } = stored();
  try {
    localStorage.setItem(KEY, JSON.stringify(others));
  } catch {
    // Storage is refused: it holds no token.
  }
}

/**
 * Removes the token from the page's address and stores it, if there is one.
 * @param room of the page; undefined: the lobby, whose token is valid for all rooms
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
