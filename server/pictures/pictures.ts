/**
 * Pictures of rooms and scenes, drawn by the server, so that clients cannot fake them. One thread draws them one after
 * another, on request only. Each room is drawn at most once every FRESH_MS, however many clients ask, and drawing takes
 * at most SHARE of one core. Addresses take turns, so a client that requests many pictures delays only itself. Rooms
 * are not interrupted: the picture shows the last sent frame.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Piscina } from "piscina";
import type { MoverRow } from "../../shared/protocol/fromServer.ts";
import type { BodyLook } from "../../shared/scene/bodyLook.ts";
import { Turns } from "../../shared/turns.ts";
import { runWithin } from "../workers/workDeadline.ts";

/** Task for the thread. */
export interface PaintTask {
  /** Hash of the topology's bytes. */
  hash: string;
  /** msgpack of a `Topology`. */
  topology: SharedArrayBuffer;
  /** Absent: the scene's initial state. */
  moment?: {
    /** [3 * particles]: grid units of each body as int32, or m as float32. */
    points: Int32Array | Float32Array;
    /** Indices of the spawnable bodies that are not in the scene. */
    absent: number[];
    /** Simulated time since the room's first tick, s. */
    seconds: number;
    /** Displacements of moving colliders from their paths. */
    movers: readonly MoverRow[];
    /** Colors of the bodies that do not look as in the scene, #rrggbb. */
    colors: ReadonlyMap<number, string>;
  };
  width: number;
  height: number;
}

/** Result from the thread. */
export interface Painted {
  /** PNG. */
  bytes: Uint8Array;
  /** CPU time, ms: excludes waiting for a processor. */
  workMs: number;
}

export interface Picture {
  /** PNG with opacity. */
  bytes: Buffer;
  /** HTTP ETag of the bytes. */
  etag: string;
}

/** Scene properties needed for a picture. */
export interface PaintedScene {
  topology: SharedArrayBuffer;
  topologyHash: string;
}

/** Room properties needed for a picture. */
export interface PaintedRoom {
  template: PaintedScene & { layout: { tickHz: number } };
  facts: {
    absent: ReadonlySet<number>;
    movers: readonly MoverRow[];
    looks: ReadonlyMap<number, BodyLook>;
    simulatedTicks(tick: number): number;
  };
  tick: number;
  /** Last sent frame, in grid units of each body; null: none yet. */
  sentFrame: { tick: number; points: Int32Array } | null;
  inspect(): Promise<{ tick: number; positions: Float32Array }>;
}

interface Kept {
  /** Key of the shown state: an unchanged room is not drawn again. */
  shows: string;
  picture: Picture | null;
  error: unknown;
  next: Promise<void> | null;
  askedMs: number;
}

/** Age after which a room is drawn again, ms. */
const FRESH_MS = 5000;
/** Time that a request waits for the next picture before it gets the previous one, ms. */
const WAIT_MS = 1500;
/** Share of one core for drawing. */
const SHARE = 0.1;
/** CPU time limit of one picture, ms. */
const DEADLINE_MS = 5000;
/** Priority as of nice(1): if threads outnumber cores, rooms come first. */
const NICE = 10;
/** Idle time after which the thread ends, ms. */
const IDLE_MS = 30_000;
/** JavaScript heap of the thread, MB. */
const MEMORY_MB = 512;
/** Number of cached pictures of scenes, most recently used. */
const SCENES = 64;
/** Sizes, pixels. */
const ROOM = { width: 240, height: 158 };
const SCENE = { width: 480, height: 315 };

const filename = new URL("./pictureWorker.ts", import.meta.url).href;

export class Pictures {
  readonly #pool: Piscina;
  readonly #rooms = new WeakMap<PaintedRoom, Kept>();
  /** Pictures of scenes at their start, by topology. */
  readonly #scenes = new Map<string, Promise<Picture>>();
  /** Serializes drawing, including the pause after each picture. */
  readonly #turns = new Turns(1);
  readonly #closed = new AbortController();

  /** @param onError called if the thread fails outside of any task */
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
   * Returns a picture of the room, at most some seconds old.
   * @param by address of the caller, as limits count addresses
   * @throws the error of drawing
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

  /** Returns a picture of the scene's initial state. @param by as for `room` @throws the error of drawing */
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
      // A room at rest may have sent no frame yet; use its tick.
      const { absent, movers, looks } = room.facts;
      const shows = JSON.stringify([room.sentFrame?.tick ?? room.tick, [...absent], movers, [...looks]]);
      if (kept.picture && shows === kept.shows) return;
      kept.picture = await this.#paint(by, () => taskOf(room));
      kept.shows = shows;
    } catch (error) {
      kept.error = error;
    }
  }

  /** Draws when its turn comes. @param compose called at that time, so that the picture is as recent as possible */
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

  /** Pauses to keep drawing within SHARE. @param workMs CPU time of the last picture */
  #pause(workMs: number): Promise<void> {
    return pause(workMs * (1 / SHARE - 1), this.#closed.signal);
  }
}

async function taskOf(room: PaintedRoom): Promise<PaintTask> {
  const { topology, topologyHash, layout } = room.template;
  const { absent, movers, looks } = room.facts;
  const sent = room.sentFrame;
  const read = sent ? { ...sent, positions: sent.points } : await room.inspect();
  const moment = {
    points: read.positions,
    absent: [...absent],
    seconds: room.facts.simulatedTicks(read.tick) / layout.tickHz,
    movers,
    colors: new Map([...looks].flatMap(([body, { color }]) => (color ? [[body, color]] : []))),
  };
  return { hash: topologyHash, topology, moment, ...ROOM };
}

const pictureOf = (bytes: Buffer): Picture => ({
  bytes,
  etag: `"${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}"`,
});

/** Resolves early if the signal aborts. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { ref: false, signal }).catch(() => {});
