/**
 * Audit log of privileged actions: tokens issued, rooms created and ended, members kicked, access changed, admin
 * requests refused. Every entry is a log line with `audit: true`. The store keeps the entries; without a store the last
 * ones stay in memory.
 */
import type { FastifyBaseLogger } from "fastify";
import type { AuthMetrics } from "../metrics/auth.ts";
import type { AuditEntry, Store } from "../store/store.ts";

/** `settings`: changed rights of players. `denied`: a request without an admin's token for an admin route. */
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
  | "palette"
  | "scene-save"
  | "scene-rename"
  | "scene-delete"
  | "rebalance"
  | "end-quarantine"
  | "denied";

/** Number of entries kept in memory without a store. */
const MOST_RECENT = 1000;

export class Audit {
  readonly #log: FastifyBaseLogger;
  readonly #metrics: AuthMetrics;
  readonly #store: Pick<Store, "audit" | "readAudit"> | null;
  /** Oldest first. */
  #recent: AuditEntry[] = [];

  constructor(log: FastifyBaseLogger, metrics: AuthMetrics, store: Pick<Store, "audit" | "readAudit"> | null) {
    this.#log = log;
    this.#metrics = metrics;
    this.#store = store;
  }

  /**
   * Records an action. Never throws and never waits: the action happens even if the store is unavailable, and the log
   * always has the entry.
   * @param actor a token's subject, a member's name, or `system`
   * @param details no secrets: no token, no password
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

  /** Returns entries, newest first. @throws the store's error when it cannot be read */
  async read({ room, limit }: { room?: string; limit: number }): Promise<AuditEntry[]> {
    if (this.#store) return this.#store.readAudit({ limit, ...(room !== undefined && { room }) });
    return this.#recent
      .filter((entry) => room === undefined || entry.room === room)
      .reverse()
      .slice(0, limit);
  }
}
