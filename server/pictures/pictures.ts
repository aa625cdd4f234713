/**
 * Pictures of rooms and scenes that the server paints itself: always true, and nobody can send one. A thread of its own
 * paints them one after another, only when somebody asks, each room every few seconds at most, however many ask, and
 * all of them together take no more than a share of one core. Addresses take turns: whoever looks at everything waits
 * for it alone. The rooms are not interrupted: what was sent last is painted.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Piscina } from "piscina";
import { Turns } from "../../shared/turns.ts";
import { runWithin } from "../workers/workDeadline.ts";

/** What the thread is told. */
export interface PaintTask {
  /** Of the topology's bytes. */
  hash: string;
  /** msgpack of a `Topology`. */
  topology: SharedArrayBuffer;
  /** Absent: as the scene is placed. */
  moment?: {
    /** [3 * particles]: grid units of each body as int32, or m as float32. */
    points: Int32Array | Float32Array;
    /** Numbers of the bodies that wait. */
    waiting: number[];
    /** Since the room's first tick. */
    seconds: number;
  };
  width: number;
  height: number;
}

/** What the thread answers. */
export interface Painted {
  /** PNG. */
  bytes: Uint8Array;
  /** Of a processor: waiting for one is not the picture's. */
  workMs: number;
}

export interface Picture {
  /** PNG with opacity. */
  bytes: Buffer;
  /** Of the bytes, as HTTP has it. */
  etag: string;
}

/** What is asked of a scene. */
export interface PaintedScene {
  topology: SharedArrayBuffer;
  topologyHash: string;
}

/** What is asked of a room. */
export interface PaintedRoom {
  template: PaintedScene & { layout: { tickHz: number } };
  waiting: ReadonlySet<number>;
  tick: number;
  /** What members were sent last, in grid units of each body; null: nothing yet. */
  sentFrame: { tick: number; points: Int32Array } | null;
  inspect(): Promise<{ tick: number; positions: Float32Array }>;
}

interface Kept {
  /** What it shows: the same is not painted again. */
  shows: string;
  picture: Picture | null;
  error: unknown;
  next: Promise<void> | null;
  askedMs: number;
}

/** A room's picture is painted again when it is older, ms. */
const FRESH_MS = 5000;
/** Whoever asks waits so long for the next one, and gets the one before else, ms. */
const WAIT_MS = 1500;
/** Of one core, for painting. */
const SHARE = 0.1;
/** A picture that takes more of a processor is given up, ms. */
const DEADLINE_MS = 5000;
/** As of nice(1): where there are fewer cores than busy threads, rooms come first. */
const NICE = 10;
/** The thread goes away when nothing was painted for so long, ms. */
const IDLE_MS = 30_000;
/** JavaScript heap of the thread, MB. */
const MEMORY_MB = 512;
/** Pictures of scenes that are kept, those that were painted last. */
const SCENES = 64;
/** Pixels. */
const ROOM = { width: 240, height: 158 };
const SCENE = { width: 480, height: 315 };

const filename = new URL("./pictureWorker.ts", import.meta.url).href;

export class Pictures {
  readonly #pool: Piscina;
  readonly #rooms = new WeakMap<PaintedRoom, Kept>();
  /** By topology. */
  readonly #scenes = new Map<string, Promise<Picture>>();
  /** One picture at a time, and the pause after it. */
  readonly #turns = new Turns(1);
  readonly #closed = new AbortController();

  /** @param onError the thread failed outside of any picture */
  constructor(onError: (error: Error) => void) {
    this.#pool = new Piscina({
      filename,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      niceIncrement: NICE,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    this.#pool.on("error", onError);
  }

  /**
   * As it is now, or was some seconds ago.
   * @param by who asks, as limits count addresses
   * @throws what painting throws
   */
  async room(room: PaintedRoom, by: string): Promise<Picture> {
    const kept = this.#rooms.get(room) ?? { shows: "", picture: null, error: null, next: null, askedMs: -Infinity };
    this.#rooms.set(room, kept);
    if (kept.next === null && performance.now() - kept.askedMs >= FRESH_MS) {
      kept.askedMs = performance.now();
      kept.next = this.#renew(room, kept, by).finally(() => (kept.next = null));
    }
    if (kept.next) await (kept.picture ? Promise.race([kept.next, pause(WAIT_MS, this.#closed.signal)]) : kept.next);
    if (kept.picture === null) throw kept.error;
    return kept.picture;
  }

  /** As it is placed. @param by as of `room` @throws what painting throws */
  scene({ topology, topologyHash }: PaintedScene, by: string): Promise<Picture> {
    const known = this.#scenes.get(topologyHash);
    this.#scenes.delete(topologyHash);
    const picture = known ?? this.#paint(by, () => ({ hash: topologyHash, topology, ...SCENE }));
    this.#scenes.set(topologyHash, picture);
    picture.catch(() => {
      if (this.#scenes.get(topologyHash) === picture) this.#scenes.delete(topologyHash);
    });
    if (this.#scenes.size > SCENES) this.#scenes.delete(this.#scenes.keys().next().value!);
    return picture;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#pool.destroy();
  }

  /** Never rejects. */
  async #renew(room: PaintedRoom, kept: Kept, by: string): Promise<void> {
    try {
      // A room that stands still and has sent nothing is at its tick.
      const shows = JSON.stringify([room.sentFrame?.tick ?? room.tick, [...room.waiting]]);
      if (kept.picture && shows === kept.shows) return;
      kept.picture = await this.#paint(by, () => taskOf(room));
      kept.shows = shows;
    } catch (error) {
      kept.error = error;
    }
  }

  /** In its turn. @param compose called then: what is painted is as new as can be */
  #paint(by: string, compose: () => PaintTask | Promise<PaintTask>): Promise<Picture> {
    return new Promise((resolve, reject) => {
      void this.#turns.run(by, async () => {
        const startMs = performance.now();
        try {
          this.#closed.signal.throwIfAborted();
          const options = { name: "paint", deadlineMs: DEADLINE_MS, signal: this.#closed.signal };
          const { bytes, workMs } = await runWithin<Painted>(this.#pool, await compose(), options);
          resolve(pictureOf(Buffer.from(bytes)));
          await this.#pause(workMs);
        } catch (error) {
          reject(error as Error);
          await this.#pause(performance.now() - startMs);
        }
      });
    });
  }

  /** So that painting has its share. @param workMs of the last picture */
  #pause(workMs: number): Promise<void> {
    return pause(workMs * (1 / SHARE - 1), this.#closed.signal);
  }
}

async function taskOf(room: PaintedRoom): Promise<PaintTask> {
  const { topology, topologyHash, layout } = room.template;
  const sent = room.sentFrame;
  const read = sent ? { ...sent, positions: sent.points } : await room.inspect();
  const moment = { points: read.positions, waiting: [...room.waiting], seconds: read.tick / layout.tickHz };
  return { hash: topologyHash, topology, moment, ...ROOM };
}

const pictureOf = (bytes: Buffer): Picture => ({
  bytes,
  etag: `"${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}"`,
});

/** Ends early, and well, when the signal says so. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { ref: false, signal }).catch(() => {});
