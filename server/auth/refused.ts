/** Thrown to refuse a socket. It is closed with the code and the reason; the reason contains no secret. */
import type { Refusal } from "../metrics/auth.ts";

export class Refused extends Error {
  readonly closeCode: number;
  /** Label in the metrics. */
  readonly kind: Refusal;

  constructor(closeCode: number, reason: string, kind: Refusal = "other") {
    super(reason);
    this.name = "Refused";
    this.closeCode = closeCode;
    this.kind = kind;
  }
}
