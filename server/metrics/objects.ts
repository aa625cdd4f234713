/** Metrics of uploaded objects and saved scenes: stored amount, results of uploads and saves, reading times. */
import type { Histogram } from "prom-client";
import type { ObjectTotals } from "../store/objects/objectStore.ts";
import type { Maker } from "./maker.ts";

/** Results as in store/objects/objectStore.ts; refused: the file was rejected for its content. */
const RESULTS = ["stored", "there", "full", "share", "refused"] as const;
/** Results as in store/objects/savedScenes.ts. */
const SAVES = ["stored", "missing", "full", "share"] as const;
/** Buckets, s; the deadline of one file is 30 s. */
const READ_BUCKETS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];

export class ObjectMetrics {
  readonly put: (result: (typeof RESULTS)[number]) => void;
  /** Counts objects that were deleted to make room for other addresses (store/objects/objectShares.ts). */
  readonly madeWay: (count: number) => void;
  readonly saved: (result: (typeof SAVES)[number]) => void;
  readonly readSeconds: Histogram;
  #totals: ObjectTotals = { count: 0, bytes: 0, saved: 0 };

  constructor(maker: Maker) {
    this.put = maker.countBy("pliant_objects_uploaded_total", "Uploaded objects, by result.", "result", RESULTS);
    const madeWay = maker.counter(
      "pliant_objects_made_way_total",
      "Objects of the addresses with the most, deleted to make room for other addresses' because the limits were reached.",
    );
    this.madeWay = (count) => madeWay.inc(count);
    this.saved = maker.countBy(
      "pliant_scenes_saved_total",
      "Scenes that owners saved in the gallery, by result.",
      "result",
      SAVES,
    );
    this.readSeconds = maker.histogram(
      "pliant_object_read_seconds",
      "Time to read one object's file in a reader thread; successful reads only.",
      READ_BUCKETS,
    );
    maker.gauge("pliant_objects", "Stored objects, at most one minute old.", () => this.#totals.count);
    maker.gauge(
      "pliant_objects_bytes",
      "Bytes of all stored objects, at most one minute old.",
      () => this.#totals.bytes,
    );
    maker.gauge("pliant_saved_scenes", "Scenes in the gallery, at most one minute old.", () => this.#totals.saved);
  }

  stored(totals: ObjectTotals): void {
    this.#totals = totals;
  }
}
