/**
 * What survives: checkpoints, the journal, and rooms that were restored from them. Whoever keeps rooms tells it what is
 * written, and answers at a scrape how old the oldest unwritten thing is: an age needs no event to grow, so an alert on
 * it also fires when the writer has stopped altogether.
 */
import type { Histogram } from "prom-client";
import { IO_BUCKETS, type Maker } from "./maker.ts";

/**
 * restart: its process died on this machine. takeover: its process died elsewhere or was cut off. handover: its process
 * gave it up, as every orderly end does. thread: a worker was lost in the middle of its step. beside: a worker was lost
 * in another room's step, which had preempted its own. undo: its owner went back.
 */
const RESTORE_CAUSES = ["restart", "thread", "beside", "takeover", "handover", "undo"] as const;
export type RestoreCause = (typeof RESTORE_CAUSES)[number];

/** checkpoint, journal: could not be written. restore: a room could not be brought back. */
const FAILURES = ["settings", "members", "checkpoint", "journal", "restore"] as const;
const DAMAGED = ["checkpoint", "journal", "members"] as const;

/**
 * whole: memory reached back to what the store still had. state: it did not, and the room goes on from its newest
 * state.
 */
const REACHES = ["whole", "state"] as const;

/** Bytes: 4 KiB to 64 MiB. */
const CHECKPOINT_BYTES_BUCKETS = [4, 16, 64, 256, 1024, 4096, 16384, 65536].map((kib) => 1024 * kib);
/** Seconds that a room's ticks stand still for a checkpoint: 4 ms is the limit. */
const HOLD_BUCKETS = [0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.0167, 0.05];

/** Read at every scrape; each 0 when there is nothing to be written. */
export interface PersistenceSources {
  /** Seconds since the last checkpoint of the awake room whose checkpoint is oldest. */
  checkpointAgeSeconds: () => number;
  /** Seconds that the oldest input which is not in the store yet has waited. */
  journalAgeSeconds: () => number;
}

export class PersistenceMetrics {
  /** Whoever keeps rooms puts its own here. */
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
      "Making and storing one checkpoint, from its copy until the store has it.",
      IO_BUCKETS,
    );
    this.#checkpointBytes = maker.histogram(
      "pliant_checkpoint_bytes",
      "Size of one checkpoint as it is stored.",
      CHECKPOINT_BYTES_BUCKETS,
    );
    this.#holdSeconds = maker.histogram(
      "pliant_checkpoint_hold_seconds",
      "How long a room's ticks stood still for the copy of a checkpoint.",
      HOLD_BUCKETS,
    );
    this.#flushSeconds = maker.histogram(
      "pliant_journal_flush_seconds",
      "Writing one room's new inputs to the store.",
      IO_BUCKETS,
    );
    this.#restoreSeconds = maker.histogram(
      "pliant_room_restore_seconds",
      "Bringing one room back: reading, checking, stepping what the journal holds.",
      [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    );
    const journalBytes = maker.counter("pliant_journal_bytes_total", "Bytes of inputs written to the store.");
    const replayed = maker.counter(
      "pliant_replayed_ticks_total",
      "Ticks stepped again from the journal to bring rooms back.",
    );
    this.#journalBytes = (bytes) => journalBytes.inc(bytes);
    this.#replayedTicks = (ticks) => replayed.inc(ticks);
    this.#restored = maker.countBy(
      "pliant_rooms_restored_total",
      "Rooms that were brought back, by what had ended or undone them.",
      "cause",
      RESTORE_CAUSES,
    );
    this.#failed = maker.countBy(
      "pliant_persistence_failures_total",
      "What could not be written or brought back; it is tried again.",
      "what",
      FAILURES,
    );
    this.#damaged = maker.countBy(
      "pliant_damaged_total",
      "Checkpoints and pieces of journal that were found damaged, set aside and passed over for older ones.",
      "what",
      DAMAGED,
    );
    this.#sentAgain = maker.countBy(
      "pliant_store_sent_again_total",
      "Rooms of which the store had lost what it had taken (a replica took over), and which sent it again from memory.",
      "what",
      REACHES,
    );
    this.#makeAges(maker);
  }

  #makeAges(maker: Maker): void {
    maker.gauge(
      "pliant_checkpoint_age_seconds",
      "Age of the oldest last checkpoint of any awake room; 0 when there is none.",
      () => this.sources.checkpointAgeSeconds(),
    );
    maker.gauge(
      "pliant_journal_flush_age_seconds",
      "How long the oldest input that is not stored yet has waited; 0 when there is none.",
      () => this.sources.journalAgeSeconds(),
    );
  }

  /** One checkpoint is in the store. */
  checkpoint(seconds: number, bytes: number): void {
    this.#checkpointSeconds.observe(seconds);
    this.#checkpointBytes.observe(bytes);
  }

  /** A room's state was taken within a tick, which took so much longer. */
  held(seconds: number): void {
    this.#holdSeconds.observe(seconds);
  }

  /** One room's inputs are in the store. */
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

  /** The store had gone back. `whole`: memory reached back to what it had. */
  sentAgain(whole: boolean): void {
    this.#sentAgain(whole ? "whole" : "state");
  }

  /**
   * A room goes on. `seconds`: what bringing it back took; `replayedTicks`: how many of its ticks were stepped again.
   */
  restored(cause: RestoreCause, seconds?: number, replayedTicks = 0): void {
    this.#restored(cause);
    if (seconds !== undefined) this.#restoreSeconds.observe(seconds);
    this.#replayedTicks(replayedTicks);
  }
}
