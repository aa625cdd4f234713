/**
 * The connection from one process to the database, as its `Store`. Requests and answers take time, and either may be
 * lost, late or refused. A loss is noticed only after a timeout, and then it is unknown whether the request was
 * executed. As with the real stores, requests may overtake each other on PostgreSQL's several connections, but not on
 * SQLite's one thread.
 */
import type { PlainError } from "../../server/store/sqlite/threadCalls.ts";
import type { Rewritten } from "../../server/store/store.ts";
import type { Random } from "../fuzz/random.ts";
import { type Database, DiskError } from "./database.ts";
import type { Machine } from "./globals.ts";

/** Same value as in postgresClient.ts, ms. */
export const QUERY_TIMEOUT_MS = 5000;
/** Time until a refused or reset connection fails, ms. */
const REFUSED_MS = 2;
/** Refusals of the database, by the error's name. */
const REFUSALS: Readonly<Record<string, string>> = { LeaseLost: "another lease", StoreBehind: "it has gone back" };

export interface LineFaults {
  /**
   * `lost`: requests do not arrive. `late`: they arrive when the connection works again, when no caller waits for them.
   */
  questions: "arrive" | "lost" | "late";
  answers: "arrive" | "lost";
  /** Chance that a single answer is lost on a working connection. */
  answerLoss: number;
  /** One way, ms: the minimum, and a random addition. */
  latencyMs: number;
  jitterMs: number;
}

const WHOLE: LineFaults = { questions: "arrive", answers: "arrive", answerLoss: 0, latencyMs: 0.3, jitterMs: 2 };

export interface LineOptions {
  kind: "sqlite" | "postgres";
  leaseSeconds: number;
  database: Database;
  machine: Machine;
  random: Random;
  note: (text: () => string) => void;
}

export class Line {
  faults: LineFaults = { ...WHOLE };
  readonly #options: LineOptions;
  /** Requests that arrive when the connection works again. */
  #late: (() => void)[] = [];
  #lastArrivalMs = 0;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  heal(): void {
    this.faults = { ...WHOLE };
    const late = this.#late;
    this.#late = [];
    for (const arrive of late) this.#options.machine.timeline.after(this.#delay(), null, arrive);
  }

  /** @param revive makes an Error of a received one */
  call(method: string, args: unknown[], revive: (error: PlainError) => Error): Promise<unknown> {
    const { machine, leaseSeconds, kind } = this.#options;
    const { timeline, life } = machine;
    const sent = copied(args);
    return new Promise((resolve, reject) => {
      let open = true;
      const settle = (deliver: () => void): void => {
        if (!open) return;
        open = false;
        limit.cancelled = true;
        deliver();
      };
      const fail = (why: string): void => settle(() => reject(new Error(why)));
      const limitMs = method === "renew" && kind === "postgres" ? (1000 * leaseSeconds) / 3 : QUERY_TIMEOUT_MS;
      const limit = timeline.after(limitMs, machine, () => fail("no answer in time"));
      const arrive = (): void =>
        this.#arrive(method, sent, !open, revive, (answer) => {
          // The calling process may be dead, and another process may run there.
          if (machine.life === life)
            timeline.after(this.#delay(), machine, () => settle(() => answer(resolve, reject)));
        });
      if (this.faults.questions === "lost") return;
      if (this.faults.questions === "late") return void this.#late.push(arrive);
      let delayMs = this.#delay();
      if (kind === "sqlite") {
        delayMs = Math.max(delayMs, this.#lastArrivalMs - timeline.nowMs + 0.001);
        this.#lastArrivalMs = timeline.nowMs + delayMs;
      }
      timeline.after(delayMs, null, arrive);
    });
  }

  /** The request has arrived: it is executed, even if the answer is lost. */
  #arrive(
    method: string,
    args: unknown[],
    late: boolean,
    revive: (error: PlainError) => Error,
    answer: (give: (resolve: (result: unknown) => void, reject: (error: Error) => void) => void) => void,
  ): void {
    const { database, random, note, machine } = this.#options;
    if (database.away)
      return void machine.timeline.after(REFUSED_MS, null, () =>
        answer((_, reject) => reject(new Error("the database is away"))),
      );
    let give: (resolve: (result: unknown) => void, reject: (error: Error) => void) => void;
    let said: string;
    try {
      const result = database.run(method, args, late);
      give = (resolve) => resolve(result);
      said = "done";
    } catch (thrown) {
      const { name, message } = thrown as Error;
      const refusal = REFUSALS[name];
      if (!(thrown instanceof DiskError) && refusal === undefined) throw thrown;
      const { has } = thrown as { has?: number };
      give = (_, reject) => reject(revive({ name, message, details: { has } }));
      said = refusal === undefined ? message : `refused: ${refusal}`;
    }
    const lost =
      this.faults.answers === "lost" || (this.faults.answerLoss > 0 && random.chance(this.faults.answerLoss));
    note(
      () =>
        `${late ? "long ago: " : ""}${method} ${shown(method, args)}: ${said}${lost ? ", and the answer is lost" : ""}`,
    );
    if (!lost) answer(give);
  }

  #delay(): number {
    const { latencyMs, jitterMs } = this.faults;
    return latencyMs + jitterMs * this.#options.random.unit();
  }
}

/**
 * Copies the arguments: drivers serialize a request when it is made, so later changes do not count. Byte arrays are not
 * copied, because they are made for the store and not changed again.
 */
const copied = (args: unknown[]): unknown[] => args.map((arg) => copy(arg));

function copy(value: unknown): unknown {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map((item) => copy(item) ?? null);
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const field = copy((value as Record<string, unknown>)[name]);
    if (field !== undefined) fields[name] = field;
  }
  return fields;
}

/** Text of a call for the log of a history. */
function shown(method: string, args: unknown[]): string {
  const [first, second] = args as [{ room?: string; name?: string; epoch?: number } | string | undefined, unknown];
  const about =
    typeof first === "object"
      ? `${first.room ?? first.name ?? ""}${first.epoch ? `@${first.epoch}` : ""}`
      : String(first ?? "");
  if (method === "appendJournal" || method === "writeCheckpoint") {
    const { after, until, tick } = second as { after?: number; until?: number; tick?: number };
    return `${about} ${tick === undefined ? `${after}-${until}` : `tick ${tick}`}`;
  }
  if (method === "truncate") {
    const { segment } = (args[2] ?? {}) as Rewritten;
    return `${about} to ${String(second)}${segment ? `, then ${segment.after}-${segment.until}` : ""}`;
  }
  if (method === "renew")
    return (second as { room: string; epoch: number }[]).map(({ room, epoch }) => `${room}@${epoch}`).join(" ");
  return about;
}
