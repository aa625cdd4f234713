/**
 * Who did what that others may have to answer for: tokens issued, rooms made and ended, members kicked, access changed,
 * admins turned away. Every entry is a log line with `audit: true`, and is kept in the store where there is one;
 * without a store the last ones are kept in memory.
 */
import type { FastifyBaseLogger } from "fastify";
import type { AuthMetrics } from "../metrics/auth.ts";
import type { AuditEntry, Store } from "../store/store.ts";

/** `settings`: what players may do; `denied`: somebody asked for what only an admin gets. */
export type AuditAction =
  | "create"
  | "dispose"
  | "kick"
  | "announce"
  | "ban"
  | "unban"
  | "lock"
  | "unlock"
  | "password"
  | "settings"
  | "token"
  | "undo"
  | "recording"
  | "object"
  | "object-delete"
  | "rebalance"
  | "unpark"
  | "denied";

/** Entries that are kept in memory where there is no store. */
const MOST_RECENT = 1000;

export class Audit {
  readonly #log: FastifyBaseLogger;
  readonly #metrics: AuthMetrics;
  readonly #store: Pick<Store, "audit" | "readAudit"> | null;
  /** Newest last. */
  #recent: AuditEntry[] = [];

  constructor(log: FastifyBaseLogger, metrics: AuthMetrics, store: Pick<Store, "audit" | "readAudit"> | null) {
    this.#log = log;
    this.#metrics = metrics;
    this.#store = store;
  }

  /**
   * Never throws and never waits: what is audited happens whether or not the store can be reached; the log has it in
   * any case.
   * @param actor a token's subject, a member's name, or `system`
   * @param details nothing secret: no token, no password
   */
  record(action: AuditAction, actor: string, room: string | null, details: Record<string, unknown> = {}): void {
    const entry: AuditEntry = { at: new Date().toISOString(), actor, action, room, details };
    this.#metrics.audited(action);
    this.#log.info({ audit: true, actor, action, room, details }, "audit");
    if (this.#store === null) {
      this.#recent.push(entry);
      if (this.#recent.length > MOST_RECENT) this.#recent = this.#recent.slice(-MOST_RECENT);
      return;
    }
    this.#store
      .audit(entry)
      .catch((error: unknown) =>
        this.#log.error({ err: error, action, room }, "an audit entry could not be stored; it is in this log only"),
      );
  }

  /** Newest first. @throws the store's error when it cannot be read */
  async read({ room, limit }: { room?: string; limit: number }): Promise<AuditEntry[]> {
    if (this.#store) return this.#store.readAudit({ limit, ...(room !== undefined && { room }) });
    return this.#recent
      .filter((entry) => room === undefined || entry.room === room)
      .reverse()
      .slice(0, limit);
  }
}
