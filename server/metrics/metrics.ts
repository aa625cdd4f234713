/**
 * All metrics of the server, one prom-client registry per app. Names have the prefix `pliant_` and base units. Label
 * values come from fixed lists, except in busiestRooms.ts, so the number of series does not grow with use. No metric
 * depends on the times of the scrapes. The metrics of a subsystem have a file of their own in this folder;
 * server/ops/METRICS.md lists all of them.
 *
 * prom-client has no native histograms, so the buckets are placed around the budget of a 60 Hz tick (16.7 ms).
 */
import { totalmem } from "node:os";
import { performance } from "node:perf_hooks";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { ContactCounts, StageSeconds } from "../sim/types.ts";
import type { SharedWork, EncodedMessage, Frames, StepResult } from "../workers/messages.ts";
import { AuthMetrics } from "./auth.ts";
import { makeBusiestRooms, type RoomLoad } from "./busiestRooms.ts";
import { ClusterMetrics } from "./cluster.ts";
import { EventLoopMetrics } from "./eventLoop.ts";
import { Maker } from "./maker.ts";
import { ObjectMetrics } from "./objects.ts";
import { PersistenceMetrics } from "./persistence.ts";
import { RequestMetrics } from "./requests.ts";
import { StoreMetrics } from "./store.ts";

/** Reasons for losing a thread (workers/threadLost.ts). */
const LOSS_REASONS = ["no_progress", "blocked", "ended"] as const;
/** Seconds: around the budget of a 60 Hz tick, and up to the tick times of rooms in slow motion. */
const TICK_BUCKETS = [0.0005, 0.001, 0.002, 0.004, 0.008, 0.012, 0.0167, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Threads of one room, up to the maximum. */
const THREAD_BUCKETS = [1, 2, 3, 4, 6, 8, 12, 16];
/** Bytes per particle; raw float32 is 12, the target is 1.3 while moving. */
const BYTES_PER_PARTICLE_BUCKETS = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.3, 1.6, 2, 3, 4, 6];

const BYTES_KINDS = ["keyframe", "delta", "positions", "grabs", "members", "stats", "other"] as const;
export type BytesKind = (typeof BYTES_KINDS)[number];
const REJECT_REASONS = [
  "rate",
  "malformed",
  "range",
  "grab_limit",
  "reset_cooldown",
  "spawn_cooldown",
  "place_taken",
  "simulation",
  "too_large",
  "not_allowed",
  "not_undoable",
] as const;
export type RejectReason = (typeof REJECT_REASONS)[number];

/** Values that are read at a scrape instead of counted as they happen. */
export interface MetricSources {
  rooms: () => number;
  sessions: () => { connected: number; resumable: number };
  bodiesHeld: () => number;
  /** Memory of all rooms' states, bytes. */
  roomMemory: () => { reserved: number; used: number };
  queueDepth: () => number;
  workerThreads: () => number;
  /** Lowest time dilation of any room with members over its last second; 1 without such rooms. */
  timeDilation: () => number;
  /** Bytes queued for slow clients. */
  bufferedBytes: () => number;
  /** Rooms with members. */
  roomLoads: () => RoomLoad[];
}

export class Metrics {
  readonly registry = new Registry();
  readonly #make = new Maker(this.registry);
  readonly persistence = new PersistenceMetrics(this.#make);
  readonly store = new StoreMetrics(this.#make);
  readonly cluster = new ClusterMetrics(this.#make);
  readonly auth = new AuthMetrics(this.#make);
  readonly requests = new RequestMetrics(this.#make);
  readonly objects = new ObjectMetrics(this.#make);
  readonly #eventLoop = new EventLoopMetrics(this.#make);

  readonly stageSeconds = this.#make.distribution(
    "pliant_step_stage_seconds",
    "Time of one stage in one tick, if the tick ran it.",
    TICK_BUCKETS,
    "stage",
  );
  readonly tickSeconds = this.#make.distribution(
    "pliant_tick_seconds",
    "Time of one whole tick in its worker: inputs, step, encode.",
    TICK_BUCKETS,
  );
  readonly tickRoundTripSeconds = this.#make.distribution(
    "pliant_tick_round_trip_seconds",
    "Time from a tick's due time (or its hand-over to a worker, if later) until its result is back.",
    TICK_BUCKETS,
  );
  readonly tickLatenessSeconds = this.#make.distribution(
    "pliant_tick_lateness_seconds",
    "Delay of a tick's start after its due time, including dropped time.",
    TICK_BUCKETS,
  );
  readonly tickThreads = this.#make.distribution(
    "pliant_tick_threads",
    "Threads that worked on one tick: the room's own and its helpers.",
    THREAD_BUCKETS,
  );
  readonly chunks = this.#make.counter(
    "pliant_tick_chunks_total",
    "Chunks of work in ticks that several threads can share, by the thread that did them: own or helper.",
    ["by"],
  );
  readonly ticksSkipped = this.#make.counter(
    "pliant_ticks_skipped_total",
    "Ticks skipped because a room was too late.",
  );
  readonly ticksLimited = this.#make.counter(
    "pliant_ticks_limited_total",
    "Ticks that started so late that catching up was limited and time was dropped.",
  );
  readonly ticksUnfinished = this.#make.counter(
    "pliant_ticks_unfinished_total",
    "Ticks that ended early because their work reached its limit; the next tick continues them.",
  );
  /** Counts lost threads of rooms. */
  readonly threadLost = this.#make.countBy(
    "pliant_threads_lost_total",
    "Lost threads of rooms, by reason: CPU time without progress, blocked, or ended otherwise.",
    "reason",
    LOSS_REASONS,
  );
  readonly inputSeconds = this.#make.distribution(
    "pliant_input_seconds",
    "Time from the arrival of a tick's oldest input until the tick that applied it was handed to the sockets.",
    TICK_BUCKETS,
  );
  readonly frameSeconds = this.#make.distribution(
    "pliant_frame_seconds",
    "Time from a send tick's due time (or its hand-over to a worker, if later) until its frame was handed to the sockets.",
    TICK_BUCKETS,
  );
  readonly ticks = this.#make.counter("pliant_ticks_total", "Ticks stepped.");
  readonly bytesOut = this.#make.counter(
    "pliant_socket_sent_bytes_total",
    "Payload bytes handed to sockets, by kind of message.",
    ["kind"],
  );
  readonly framesSkipped = this.#make.counter(
    "pliant_frames_skipped_total",
    "Frames not sent to a client because its socket was congested.",
  );
  readonly keyframes = this.#make.counter("pliant_keyframes_total", "Keyframes encoded.");
  readonly deltas = this.#make.counter("pliant_deltas_total", "Deltas encoded.");
  readonly encodeSeconds = this.#make.distribution(
    "pliant_encode_seconds",
    "Time to quantize and encode one tick's frames.",
    TICK_BUCKETS,
  );
  readonly bytesPerParticle = this.#make.distribution(
    "pliant_encoded_bytes_per_particle",
    "Size of a frame per streamed particle.",
    BYTES_PER_PARTICLE_BUCKETS,
    "kind",
  );
  readonly inputs = this.#make.counter("pliant_inputs_total", "Inputs accepted, by type.", ["type"]);
  readonly inputsRejected = this.#make.counter("pliant_inputs_rejected_total", "Client messages refused, by reason.", [
    "reason",
  ]);
  readonly socketsClosed = this.#make.counter("pliant_sockets_closed_total", "Sockets closed, by close code.", [
    "code",
  ]);
  readonly bodiesBlownUp = this.#make.counter(
    "pliant_bodies_blown_up_total",
    "Bodies that became unstable, were rolled back and are now held.",
  );
  readonly intersectingStarts = this.#make.counter(
    "pliant_intersecting_starts_total",
    "Number of times that surfaces intersected when contact handling started: at a start, a reset, after a roll-back or a jump.",
  );
  readonly heldGroups = this.#make.counter(
    "pliant_held_groups_total",
    "Number of times that bodies became held because their contacts exceeded a room's memory or work limit.",
  );
  readonly contactLists = this.#make.counter(
    "pliant_contact_lists_total",
    "Contact pair lists built: less than one per tick in a quiet room, more with fast motion.",
  );
  readonly contactChecks = this.#make.counter(
    "pliant_contact_checks_total",
    "Pairs that came too near or touched within a substep and were checked individually.",
  );
  readonly contactImpulses = this.#make.counter("pliant_contact_impulses_total", "Impulses that separated such pairs.");
  readonly contactZones = this.#make.counter(
    "pliant_contact_zones_total",
    "Rigid impact zones: groups of particles moved as one rigid piece, because impulses did not separate them.",
  );
  readonly contactFull = this.#make.counter(
    "pliant_contact_full_total",
    "Number of times that a room's memory could not hold all near pairs and could not grow.",
  );
  readonly contactStops = this.#make.counter(
    "pliant_contact_stops_total",
    "Particles reset to the start of their substep, because nothing else prevented penetration.",
  );
  readonly roomsOpened = this.#make.counter("pliant_rooms_opened_total", "Rooms opened.");
  readonly buildSeconds = this.#make.histogram(
    "pliant_scene_build_seconds",
    "Time to build a scene's template.",
    [0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
  );
  readonly workerBusySeconds = this.#make.counter(
    "pliant_worker_busy_seconds_total",
    "Time that worker threads spent in ticks.",
  );

  /** @param sources read at every scrape */
  constructor(sources: MetricSources) {
    collectDefaultMetrics({ register: this.registry });
    // prom-client's own gauges of the event loop start anew at every scrape; EventLoopMetrics replaces them.
    for (const { name } of this.registry.getMetricsAsArray())
      if (name.startsWith("nodejs_eventloop_lag_")) this.registry.removeSingleMetric(name);
    const gauge = this.#make.gauge.bind(this.#make);
    gauge("pliant_rooms", "Rooms that are open.", sources.rooms);
    gauge(
      "pliant_bodies_held",
      "Held bodies in all rooms: they became unstable, or intersected from the start.",
      sources.bodiesHeld,
    );
    gauge("pliant_worker_queue_depth", "Ticks and other tasks that are due and wait for a thread.", sources.queueDepth);
    gauge("pliant_worker_threads", "Threads that step rooms.", sources.workerThreads);
    gauge(
      "pliant_time_dilation_ratio",
      "Simulated time over wall time of the slowest room in the last second; 1 is real time.",
      sources.timeDilation,
    );
    gauge(
      "pliant_memory_limit_bytes",
      "Memory that the process may use: its container's limit, or the machine's memory.",
      memoryLimit,
    );
    gauge("pliant_socket_buffered_bytes", "Bytes queued for slow clients.", sources.bufferedBytes);
    makeBusiestRooms(this.#make, sources.roomLoads);
    this.#make.gaugeBy(
      "pliant_room_memory_bytes",
      "Memory of all rooms' states: reserved, and the part that has been in use.",
      "what",
      sources.roomMemory,
    );
    this.#make.gaugeBy(
      "pliant_sessions",
      "Members of rooms, by whether their socket is connected.",
      "state",
      sources.sessions,
    );
    // Create all series with 0, so that rates and alerts work from the first scrape.
    for (const kind of BYTES_KINDS) this.bytesOut.inc({ kind }, 0);
    for (const by of ["own", "helper"]) this.chunks.inc({ by }, 0);
    for (const reason of REJECT_REASONS) this.inputsRejected.inc({ reason }, 0);
  }

  /** Records a tick that came back from its worker. `roundTripSeconds` includes queueing. */
  observeTick(stages: StageSeconds, wholeSeconds: number, roundTripSeconds: number, work: SharedWork): void {
    this.ticks.inc();
    this.tickThreads.observe(work.threads);
    if (work.shared > 0) this.chunks.inc({ by: "own" }, work.shared - work.helped);
    if (work.helped > 0) this.chunks.inc({ by: "helper" }, work.helped);
    for (const stage of Object.keys(stages) as (keyof StageSeconds)[])
      if (stages[stage] > 0) this.stageSeconds.observe(stages[stage], stage);
    this.tickSeconds.observe(wholeSeconds);
    this.tickRoundTripSeconds.observe(roundTripSeconds);
    this.workerBusySeconds.inc(wholeSeconds);
  }

  /** Records the encoded frames of a send tick. */
  observeFrames(
    delta: EncodedMessage | null,
    keyframe: EncodedMessage | null,
    encodeSeconds: number,
    particles: number,
  ): void {
    this.encodeSeconds.observe(encodeSeconds);
    if (delta) this.deltas.inc();
    if (keyframe) this.keyframes.inc();
    for (const frame of [delta, keyframe]) {
      if (frame) this.bytesPerParticle.observe(frame.bytes.byteLength / Math.max(1, particles), frame.kind);
    }
  }

  /**
   * Records that a tick's frame was handed to the sockets.
   * @param oldestMs arrival time of the tick's oldest input
   */
  observeSent(
    { delta, keyframe, positions, saved }: Pick<StepResult, keyof Frames | "saved">,
    startMs: number,
    oldestMs: number | null,
  ): void {
    const nowMs = performance.now();
    if (saved) this.persistence.held(saved.seconds);
    if (delta ?? keyframe ?? positions) this.frameSeconds.observe((nowMs - startMs) / 1000);
    if (oldestMs !== null) this.inputSeconds.observe((nowMs - oldestMs) / 1000);
  }

  /** Records the contact counters of a tick. */
  observeContact({ lists, checks, impulses, zones, stops, full }: ContactCounts): void {
    if (lists > 0) this.contactLists.inc(lists);
    if (checks > 0) this.contactChecks.inc(checks);
    if (impulses > 0) this.contactImpulses.inc(impulses);
    if (zones > 0) this.contactZones.inc(zones);
    if (stops > 0) this.contactStops.inc(stops);
    if (full > 0) this.contactFull.inc(full);
  }

  reject(reason: RejectReason): void {
    this.inputsRejected.inc({ reason });
  }

  close(): void {
    this.#eventLoop.close();
    this.registry.clear();
  }
}

/** A container without a limit reports a number near 2^64. */
function memoryLimit(): number {
  const limit = process.constrainedMemory();
  const machine = totalmem();
  return limit > 0 && limit < machine ? limit : machine;
}
