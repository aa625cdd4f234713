/**
 * Files that are being taken in: few at once, for each may be in memory whole; fewer from one address; some kept for
 * operators. Whoever sends slowly keeps a place only until somebody else wants it, so that dawdling keeps nobody out
 * however many addresses it comes from.
 */
import { CodedError } from "../../shared/errors.ts";

/** In all and from one address: a second one only while fewer than half of the places are taken. */
const AT_ONCE = 6;
const PER_ADDRESS = 2;
/** Besides those, for operators: what visitors do keeps them from nothing. */
const FOR_OPERATORS = 2;
/**
 * Slower on the whole a file may not come in while somebody else waits, bytes/s; as answers go out (rooms/slots.ts).
 */
const LEAST_BYTES_PER_SECOND = 16 * 1024;
/** Before that nobody is slow, ms: a connection that begins, or a mast that is far. */
const GRACE_MS = 5_000;

/** A file on its way in. */
export interface UploadPlace {
  /** Bytes that have come, all together. */
  came: (bytes: number) => void;
  /** All of it is here: from now on nobody waits for who sent it. */
  whole: () => void;
  /** Rejects when somebody else has the place, with the CodedError to answer with; never fulfilled. */
  readonly lost: Promise<never>;
  leave: () => void;
}

interface Taken {
  address: string;
  operator: boolean;
  sinceMs: number;
  bytes: number;
  whole: boolean;
  lose: (why: CodedError) => void;
}

export class UploadPlaces {
  readonly #graceMs: number;
  readonly #taken = new Set<Taken>();

  constructor(graceMs = GRACE_MS) {
    this.#graceMs = graceMs;
  }

  /**
   * @param address who sends, as limits count them (auth/addresses.ts)
   * @throws CodedError TOO_MANY_REQUESTS: no place is free, and nobody who has one is slow
   */
  take(address: string, operator: boolean): UploadPlace {
    const visitors = [...this.#taken].filter((taken) => !taken.operator);
    const all = operator ? this.#taken.size : visitors.length;
    const most = operator ? AT_ONCE + FOR_OPERATORS : AT_ONCE;
    const own = visitors.filter((taken) => taken.address === address).length;
    const mostOwn = all < AT_ONCE / 2 ? PER_ADDRESS : 1;
    if (!operator && own >= mostOwn) throw full(own, `${mostOwn} at a time for an address, ${AT_ONCE} in all`);
    if (all >= most && !this.#yieldSlowest()) throw full(all, `${most} at a time in all`);
    const { promise: lost, reject: lose } = Promise.withResolvers<never>();
    lost.catch(() => {});
    const taken: Taken = { address, operator, sinceMs: performance.now(), bytes: 0, whole: false, lose };
    this.#taken.add(taken);
    return {
      came: (bytes) => {
        taken.bytes = bytes;
      },
      whole: () => {
        taken.whole = true;
      },
      lost,
      leave: () => this.#taken.delete(taken),
    };
  }

  /** Ends the visitor's upload that comes in most slowly, if that is too slow. */
  #yieldSlowest(): boolean {
    const nowMs = performance.now();
    const rate = ({ bytes, sinceMs }: Taken): number => (1000 * bytes) / Math.max(1, nowMs - sinceMs);
    const [slowest] = [...this.#taken]
      .filter(({ operator, whole, sinceMs }) => !operator && !whole && nowMs - sinceMs >= this.#graceMs)
      .sort((a, b) => rate(a) - rate(b));
    if (!slowest || rate(slowest) >= LEAST_BYTES_PER_SECOND) return false;
    this.#taken.delete(slowest);
    slowest.lose(full(Math.round(rate(slowest)), `${LEAST_BYTES_PER_SECOND} bytes/s while others wait`));
    return true;
  }
}

const full = (value: number, limit: string): CodedError =>
  new CodedError("TOO_MANY_REQUESTS", { field: "objects", value, limit });
