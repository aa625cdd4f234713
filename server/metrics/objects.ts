/** What visitors bring along: how much is stored, what becomes of what they send, how long reading takes. */
import type { Histogram } from "prom-client";
import type { Maker } from "./maker.ts";

/** As the store says (store/objectStore.ts); refused: the file, by what it holds. */
const RESULTS = ["stored", "there", "full", "share", "refused"] as const;
/** s; the deadline of one file is 30 s. */
const READ_BUCKETS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];

export class ObjectMetrics {
  readonly put: (result: (typeof RESULTS)[number]) => void;
  /** Of objects that were forgotten for others' (store/objectShares.ts). */
  readonly madeWay: (count: number) => void;
  readonly readSeconds: Histogram;
  #totals = { count: 0, bytes: 0 };

  constructor(maker: Maker) {
    this.put = maker.countBy(
      "pliant_objects_uploaded_total",
      "Objects that came, by what became of them.",
      "result",
      RESULTS,
    );
    const madeWay = maker.counter(
      "pliant_objects_made_way_total",
      "Objects of the addresses that have most, which were forgotten for those of others because all places were taken.",
    );
    this.madeWay = (count) => madeWay.inc(count);
    this.readSeconds = maker.histogram(
      "pliant_object_read_seconds",
      "Reading one object's file in a reader's thread, where it succeeded.",
      READ_BUCKETS,
    );
    maker.gauge(
      "pliant_objects",
      "Objects that are stored, by the last look, a minute ago at most.",
      () => this.#totals.count,
    );
    maker.gauge("pliant_objects_bytes", "Bytes of all objects that are stored, likewise.", () => this.#totals.bytes);
  }

  stored(totals: { count: number; bytes: number }): void {
    this.#totals = totals;
  }
}
