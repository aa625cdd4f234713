/**
 * Limits concurrent uploads: few in total, because each may be in memory completely; fewer per address; some reserved
 * for operators. A slow upload loses its place when another client needs it, so slow senders cannot block uploads, even
 * from many addresses.
 */
import { CodedError } from "../../shared/errorCodes.ts";

/**
 * Concurrent uploads, in total and per address. An address gets a second one only while less than half of the places
 * are taken.
 */
const AT_ONCE = 6;
const PER_ADDRESS = 2;
/** Additional places reserved for operators. */
const FOR_OPERATORS = 2;
/**
 * Minimum average rate of an upload while another client waits, bytes/s; the same as for downloads
 * (rooms/replay/slots.ts).
 */
const LEAST_BYTES_PER_SECOND = 16 * 1024;
/** Time before the rate is checked, ms: allows for connection setup and weak mobile reception. */
const GRACE_MS = 5_000;

/** A place of an upload in progress. */
export interface UploadPlace {
  /** Reports the total number of bytes received so far. */
  came: (bytes: number) => void;
  /** Reports that the upload is complete; from now on it cannot lose its place for slowness. */
  whole: () => void;
  /** Rejects if another client takes the place, with the CodedError to answer; never fulfilled. */
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
   * @param address of the sender, as limits count them (auth/addresses.ts)
   * @throws CodedError TOO_MANY_REQUESTS: no place is free, and no upload is too slow
   */
  take(address: string, operator: boolean): UploadPlace {
    const visitors = [...this.#taken].filter((taken) => !taken.operator);
    const all = operator ? this.#taken.size : visitors.length;
    const most = operator ? AT_ONCE + FOR_OPERATORS : AT_ONCE;
    const own = visitors.filter((taken) => taken.address === address).length;
    const mostOwn = all < AT_ONCE / 2 ? PER_ADDRESS : 1;
    if (!operator && own >= mostOwn) {
      // Many visitors may share an address: a slow one does not keep the others waiting.
      if (!this.#yieldSlowest(address)) throw full(own, `${mostOwn} at a time per address, ${AT_ONCE} in total`);
    } else if (all >= most && !this.#yieldSlowest()) throw full(all, `${most} at a time in total`);
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

  /** Ends the slowest visitor's upload, of this address if one is given, if it is below the minimum rate. */
  #yieldSlowest(address?: string): boolean {
    const nowMs = performance.now();
    const rate = ({ bytes, sinceMs }: Taken): number => (1000 * bytes) / Math.max(1, nowMs - sinceMs);
    const [slowest] = [...this.#taken]
      .filter(({ operator, whole, sinceMs }) => !operator && !whole && nowMs - sinceMs >= this.#graceMs)
      .filter((taken) => address === undefined || taken.address === address)
      .sort((a, b) => rate(a) - rate(b));
    if (!slowest || rate(slowest) >= LEAST_BYTES_PER_SECOND) return false;
    this.#taken.delete(slowest);
    slowest.lose(full(Math.round(rate(slowest)), `${LEAST_BYTES_PER_SECOND} bytes/s while other uploads wait`));
    return true;
  }
}

const full = (value: number, limit: string): CodedError =>
  new CodedError("TOO_MANY_REQUESTS", { field: "objects", value, limit });
