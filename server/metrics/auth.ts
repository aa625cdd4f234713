/** Metrics of access: refused connections by reason, and actions in the audit log. */
import type { Maker } from "./maker.ts";

/**
 * Reasons for refusing a socket or a request. Unlisted reasons count as `other`, so that no label value comes from
 * outside.
 */
const REFUSALS = [
  "origin",
  "host",
  "address_limit",
  "rooms_per_address",
  "creation_rate",
  "room_limit",
  "budget",
  "no_room",
  "room_full",
  "locked",
  "banned",
  "token_missing",
  "token_invalid",
  "not_allowed",
  "password_missing",
  "password_wrong",
  "password_rate",
  "admin",
  "version",
  "hello_timeout",
  "shutting_down",
  "other",
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** Actions of the audit log; unlisted ones count as `other`. */
const AUDIT_ACTIONS = [
  "create",
  "kick",
  "ban",
  "unban",
  "lock",
  "unlock",
  "password",
  "settings",
  "token",
  "dispose",
  "undo",
  "reset",
  "recording",
  "object",
  "palette",
  "scene-save",
  "scene-rename",
  "scene-delete",
  "rebalance",
  "denied",
  "other",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export class AuthMetrics {
  readonly #refused: (reason: Refusal) => void;
  readonly #audited: (action: AuditAction) => void;

  constructor(maker: Maker) {
    this.#refused = maker.countBy(
      "pliant_connections_refused_total",
      "Refused sockets and requests, by reason.",
      "reason",
      REFUSALS,
    );
    this.#audited = maker.countBy(
      "pliant_audit_actions_total",
      "Actions written to the audit log.",
      "action",
      AUDIT_ACTIONS,
    );
  }

  refused(reason: Refusal): void {
    this.#refused(reason);
  }

  /** @param action as in the audit log */
  audited(action: string): void {
    this.#audited((AUDIT_ACTIONS as readonly string[]).includes(action) ? (action as AuditAction) : "other");
  }
}
