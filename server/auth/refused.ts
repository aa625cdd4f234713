/**
 * Thrown by whoever keeps a socket out: it is closed with the code; the reason travels with it and has no secret in it.
 */
import type { Refusal } from "../metrics/auth.ts";

export class Refused extends Error {
  readonly closeCode: number;
  /** As it is counted. */
  readonly kind: Refusal;

  constructor(closeCode: number, reason: string, kind: Refusal = "other") {
    super(reason);
    this.name = "Refused";
    this.closeCode = closeCode;
    this.kind = kind;
  }
}
