/**
 * Access rule and cost of every route, one row each. A route without a row fails at registration (`ruleOf` throws).
 * Each request is checked against its row before its handler runs (requestAuth.ts).
 * `tests/integration/access/rules.test.ts` requests every row as every role in every state of a room.
 *
 * A cost is the request's approximate main-thread time, ms, measured on two cores at 2.5 GHz. `PLIANT_ADDRESS_BUDGET`
 * limits the sum per address and second.
 */
import type { Role } from "../../shared/members/roles.ts";

/**
 * Callers that a rule admits:
 * `everyone`   every caller, in either mode
 * `listed`     `open` mode: everyone. `tokens` mode: callers with a token; if the address names a room, one for it
 * `opener`     `open` mode: everyone. `tokens` mode: callers with an owner's token for the name
 * `bearer`     callers with a valid token; the route decides on its rights
 * `socket`     hello decides, by the same rules of the room (auth.ts)
 * a role       callers with at least this role in the room of the address, if no ban, lock or password keeps them
 *              out; `admin` needs no room
 */
type Who = "everyone" | "listed" | "opener" | "bearer" | "socket" | Role;

export interface Rule {
  who: Who;
  /** Main-thread time, ms. */
  cost: number;
}

/**
 * Rules by method and pattern. A pattern that ends with `*` matches all addresses with this prefix; the longest match
 * counts.
 */
export const RULES: Readonly<Record<string, Rule>> = {
  // Load balancers call these, and must never be rate-limited.
  "GET /healthz": { who: "everyone", cost: 0 },
  "GET /readyz": { who: "everyone", cost: 0 },
  "GET /metrics": { who: "everyone", cost: 10 },
  "GET /api/scenes": { who: "everyone", cost: 0.5 },
  "GET /api/scenes/:scene": { who: "everyone", cost: 1 },
  "GET /api/scenes/:scene/picture": { who: "everyone", cost: 1 },
  "POST /api/scenes": { who: "opener", cost: 10 },
  "GET /api/scenes/:scene/progress": { who: "everyone", cost: 0.2 },
  // Knowing an object's id gives access to it: the id is a hash of the content.
  "GET /api/objects/:object": { who: "everyone", cost: 1 },
  // The picture may have to be read from the store, up to about 16 MB.
  "GET /api/objects/:object/picture": { who: "everyone", cost: 10 },
  "POST /api/objects": { who: "opener", cost: 50 },
  "GET /api/saved-scenes": { who: "listed", cost: 5 },
  // Like objects: knowing the random id gives access.
  "GET /api/saved-scenes/:saved/picture": { who: "everyone", cost: 2 },
  "PATCH /api/saved-scenes/:saved": { who: "bearer", cost: 5 },
  "DELETE /api/saved-scenes/:saved": { who: "bearer", cost: 5 },
  "GET /api/topologies/:hash": { who: "everyone", cost: 2 },
  "GET /api/address": { who: "everyone", cost: 0.5 },
  "GET /api/rooms": { who: "listed", cost: 2 },
  "POST /api/rooms": { who: "opener", cost: 10 },
  "GET /api/rooms/:room": { who: "listed", cost: 1 },
  "DELETE /api/rooms/:room": { who: "owner", cost: 10 },
  "GET /api/rooms/:room/positions": { who: "spectator", cost: 10 },
  "GET /api/rooms/:room/picture": { who: "spectator", cost: 1 },
  "GET /api/rooms/:room/recording": { who: "player", cost: 100 },
  "GET /api/rooms/:room/scene": { who: "player", cost: 10 },
  "POST /api/rooms/:room/palette": { who: "owner", cost: 50 },
  "POST /api/rooms/:room/scene": { who: "owner", cost: 20 },
  "GET /api/rooms/:room/replay": { who: "player", cost: 50 },
  "POST /api/rooms/:room/undo": { who: "owner", cost: 50 },
  "GET /api/rooms/:room/socket": { who: "socket", cost: 5 },
  "POST /api/tokens": { who: "bearer", cost: 2 },
  "GET /api/admin/rooms": { who: "admin", cost: 5 },
  "GET /api/admin/objects": { who: "admin", cost: 5 },
  "DELETE /api/admin/objects/:object": { who: "admin", cost: 5 },
  "GET /api/admin/saved-scenes": { who: "admin", cost: 5 },
  "DELETE /api/admin/saved-scenes/:saved": { who: "admin", cost: 5 },
  "GET /api/admin/processes": { who: "admin", cost: 2 },
  "DELETE /api/admin/rooms/:room": { who: "admin", cost: 10 },
  "POST /api/admin/rooms/:room/kick": { who: "admin", cost: 1 },
  "POST /api/admin/rooms/:room/announce": { who: "admin", cost: 1 },
  "POST /api/admin/rooms/:room/hand-over": { who: "admin", cost: 10 },
  "POST /api/admin/rooms/:room/end-quarantine": { who: "admin", cost: 10 },
  "GET /api/admin/rooms/:room/recording": { who: "admin", cost: 100 },
  "GET /api/admin/rooms/:room/quarantined-pieces": { who: "admin", cost: 5 },
  "GET /api/admin/rooms/:room/quarantined-pieces/:id": { who: "admin", cost: 20 },
  "DELETE /api/admin/rooms/:room/quarantined-pieces/:id": { who: "admin", cost: 5 },
  "POST /api/admin/rebalance": { who: "admin", cost: 10 },
  "GET /api/admin/audit": { who: "admin", cost: 5 },
  // Files of the installation. They contain no private data.
  "GET /docs": { who: "everyone", cost: 1 },
  "GET /docs/*": { who: "everyone", cost: 1 },
  "GET /report": { who: "everyone", cost: 1 },
  "GET /report/report.json": { who: "everyone", cost: 1 },
  "GET /r/:room": { who: "everyone", cost: 0.5 },
  "GET /r/:room/replay": { who: "everyone", cost: 0.5 },
  "GET /admin": { who: "everyone", cost: 0.5 },
  "GET /gallery": { who: "everyone", cost: 0.5 },
  "GET /materials": { who: "everyone", cost: 0.5 },
  "GET /*": { who: "everyone", cost: 0.5 },
};

/** Cost of an address that no route serves. */
export const NOTHING_THERE: Rule = { who: "everyone", cost: 0.5 };

/**
 * @param method HEAD counts as GET
 * @param url pattern of the route
 * @throws Error if the route has no row
 */
export function ruleOf(method: string, url: string): Rule {
  const asked = method === "HEAD" ? "GET" : method;
  const exact = RULES[`${asked} ${url}`];
  if (exact) return exact;
  const documents = RULES[`${asked} /docs/*`];
  if (documents && url.startsWith("/docs/")) return documents;
  if (url === "*") return ruleOf(asked, "/*");
  throw new Error(`no access rule for ${asked} ${url}: add a row to routes/rules.ts`);
}
