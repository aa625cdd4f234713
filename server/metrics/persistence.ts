/**
 * Metrics of persistence: checkpoints, the journal, and rooms restored from them. At each scrape the room registry
 * reports the age of the oldest unwritten data. An age grows without events, so an alert on it also fires if the writer
 * has stopped.
 */
import type { Histogram } from "prom-client";
import { IO_BUCKETS, type Maker } from "./maker.ts";

/**
 * restart: its process died on this machine. takeover: its process died elsewhere or was cut off. handover: its process
 * released it, as in every clean shutdown. thread: a worker was lost in the middle of its step. beside: a worker was
 * lost in another room's step, which had preempted this room's. undo: its owner went back.
 */
const RESTORE_CAUSES = ["restart", "thread", "beside", "takeover", "handover", "undo"] as const;
export type RestoreCause = (typeof RESTORE_CAUSES)[number];

/** settings, members, checkpoint, journal: could not be written. restore: a room could not be restored. */
const FAILURES = ["settings", "members", "checkpoint", "journal", "restore"] as const;
const DAMAGED = ["checkpoint", "journal", "members"] as const;

/**
 * whole: the memory reached back to the store's last data. state: it did not, so the room continues from its newest
 * state.
 */
const REACHES = ["whole", "state"] as const;

/** Bytes: 4 KiB to 64 MiB. */
const CHECKPOINT_BYTES_BUCKETS = [4, 16, 64, 256, 1024, 4096, 16384, 65536].map((kib) => 1024 * kib);
/** Seconds that a room's ticks pause for a checkpoint; the limit is 4 ms. */
const HOLD_BUCKETS = [0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.0167, 0.05];

/** Values read at every scrape; 0 if everything is written. */
export interface PersistenceSources {
  /** Seconds since the last checkpoint of the awake room whose checkpoint is oldest. */
  checkpointAgeSeconds: () => number;
  /** Waiting time of the oldest input that is not stored yet, s. */
  journalAgeSeconds: () => number;
}

export class PersistenceMetrics {
  /** Set by the room registry. */
  sources: PersistenceSources = { checkpointAgeSeconds: () => 0, journalAgeSeconds: () => 0 };
  readonly #checkpointSeconds: Histogram;
  readonly #checkpointBytes: Histogram;
  readonly #holdSeconds: Histogram;
  readonly #flushSeconds: Histogram;
  readonly #restoreSeconds: Histogram;
  readonly #journalBytes: (bytes: number) => void;
  readonly #replayedTicks: (ticks: number) => void;
  readonly #restored: (cause: RestoreCause) => void;
  readonly #failed: (what: (typeof FAILURES)[number]) => void;
  readonly #damaged: (what: (typeof DAMAGED)[number]) => void;
  readonly #sentAgain: (what: (typeof REACHES)[number]) => void;

  constructor(maker: Maker) {
    this.#checkpointSeconds = maker.histogram(
      "pliant_checkpoint_seconds",
      "Time to create and store one checkpoint, from its copy until the store has it.",
      IO_BUCKETS,
    );
    this.#checkpointBytes = maker.histogram(
      "pliant_checkpoint_bytes",
      "Size of one stored checkpoint.",
      CHECKPOINT_BYTES_BUCKETS,
    );
    this.#holdSeconds = maker.histogram(
      "pliant_checkpoint_hold_seconds",
      "Pause of a room's ticks for the copy of a checkpoint.",
      HOLD_BUCKETS,
    );
    this.#flushSeconds = maker.histogram(
      "pliant_journal_flush_seconds",
      "Time to write one room's new inputs to the store.",
      IO_BUCKETS,
    );
    this.#restoreSeconds = maker.histogram(
      "pliant_room_restore_seconds",
      "Time to restore one room: read, check, step the journal's ticks.",
      [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    );
    const journalBytes = maker.counter("pliant_journal_bytes_total", "Bytes of inputs written to the store.");
    const replayed = maker.counter(
      "pliant_replayed_ticks_total",
      "Ticks stepped again from the journal to restore rooms.",
    );
    this.#journalBytes = (bytes) => journalBytes.inc(bytes);
    this.#replayedTicks = (ticks) => replayed.inc(ticks);
    this.#restored = maker.countBy("pliant_rooms_restored_total", "Restored rooms, by cause.", "cause", RESTORE_CAUSES);
    this.#failed = maker.countBy(
      "pliant_persistence_failures_total",
      "Failed writes and restorations; they are tried again.",
      "what",
      FAILURES,
    );
    this.#damaged = maker.countBy(
      "pliant_damaged_total",
      "Damaged checkpoints, journal segments and member rows that were quarantined; older data was used instead.",
      "what",
      DAMAGED,
    );
    this.#sentAgain = maker.countBy(
      "pliant_store_sent_again_total",
      "Rooms whose acknowledged data the store had lost (a replica took over) and that wrote it again from memory.",
      "what",
      REACHES,
    );
    this.#makeAges(maker);
  }

  #makeAges(maker: Maker): void {
    maker.gauge(
      "pliant_checkpoint_age_seconds",
      "Time since the last checkpoint, for the awake room whose checkpoint is oldest; 0 without such rooms.",
      () => this.sources.checkpointAgeSeconds(),
    );
    maker.gauge(
      "pliant_journal_flush_age_seconds",
      "Waiting time of the oldest input that is not stored yet; 0 if all are stored.",
      () => this.sources.journalAgeSeconds(),
    );
  }

  /** Records a stored checkpoint. */
  checkpoint(seconds: number, bytes: number): void {
    this.#checkpointSeconds.observe(seconds);
    this.#checkpointBytes.observe(bytes);
  }

  /** Records the time that copying a room's state added to a tick. */
  held(seconds: number): void {
    this.#holdSeconds.observe(seconds);
  }

  /** Records the storing of one room's inputs. */
  journalFlush(seconds: number, bytes: number): void {
    this.#flushSeconds.observe(seconds);
    this.#journalBytes(bytes);
  }

  failed(what: (typeof FAILURES)[number]): void {
    this.#failed(what);
  }

  damaged(what: (typeof DAMAGED)[number]): void {
    this.#damaged(what);
  }

  /** Records that the store had lost data. `whole`: memory reached back to the store's last data. */
  sentAgain(whole: boolean): void {
    this.#sentAgain(whole ? "whole" : "state");
  }

  /** Records a restored room. `seconds`: duration; `replayedTicks`: ticks stepped again. */
  restored(cause: RestoreCause, seconds?: number, replayedTicks = 0): void {
    this.#restored(cause);
    if (seconds !== undefined) this.#restoreSeconds.observe(seconds);
    this.#replayedTicks(replayedTicks);
  }
}
