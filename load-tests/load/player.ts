/**
 * One client of a load test, on the browser client's own network code (client/sdk, client/state): hello, heartbeat,
 * reconnection, parsing and, if it decodes, the same room state that a page draws. The socket is that of `ws`, which
 * costs the generator half of the time of Node's own.
 */
import WebSocket from "ws";
import { Connection, type SocketConstructor, socketUrl } from "../../client/sdk/connection/roomConnection.ts";
import { fetchTopology } from "../../client/sdk/connection/roomRequests.ts";
import { build, type SurfacePoint } from "../../shared/protocol/fromClient.ts";
import type { Point, ServerEvent } from "../../shared/protocol/fromServer.ts";
import { RoomState } from "../../client/state/roomState.ts";
import type { Frame } from "../../client/state/snapshotBuffer.ts";
import type { Topology } from "../../shared/topology.ts";
import type { HandPlan } from "./scenario.ts";

/** The socket of `ws` as a browser's socket class. @param made called with each new socket */
const lineOf = (made: (line: WebSocket) => void) =>
  class extends WebSocket {
    constructor(url: string) {
      super(url, { perMessageDeflate: false });
      made(this);
    }
  } as unknown as SocketConstructor;

/** Counts of a group of players. */
export interface Counts {
  frames: number;
  /** Payload of frames, bytes. */
  frameBytes: number;
  keyframes: number;
  /** Frames that could not be decoded, and connections that ended without being closed by the client. */
  failures: number;
}

export const noCounts = (): Counts => ({ frames: 0, frameBytes: 0, keyframes: 0, failures: 0 });

export interface PlayerOptions {
  /** http://host:port */
  url: string;
  room: string;
  decodes: boolean;
  counts: Counts;
  onFrame?: (frame: Frame) => void;
  /** Called with every event before it is handled. */
  onEvent?: (event: ServerEvent, receivedMs: number) => void;
}

const topologies = new Map<string, Promise<Topology>>();

/** Fetches a topology once for all players, like a browser with a cache. A failure is not kept. */
export function fetchOnce(url: string, hash: string): Promise<Topology> {
  const key = `${url} ${hash}`;
  const known = topologies.get(key) ?? fetchTopology(url, hash);
  topologies.set(key, known);
  known.catch(() => topologies.delete(key));
  return known;
}

/** Target of a grab. @param turns since its plan began */
export function targetOf({ center, radii }: HandPlan, turns: number): Point {
  const angle = 2 * Math.PI * turns;
  return [
    center[0] + radii[0] * Math.cos(angle),
    center[1] + radii[1] * Math.sin(2 * angle),
    center[2] + radii[2] * Math.sin(angle),
  ];
}

/** A player without a first frame after this time fails, ms. */
const JOIN_WITHIN_MS = 60_000;

export class Player {
  readonly room: string;
  readonly #connection: Connection;
  readonly #counts: Counts;
  readonly #state: RoomState | null;
  readonly #onEvent: PlayerOptions["onEvent"];
  #line!: WebSocket;
  /** The connection is about to be lost: that is not a failure, and no frame counts until then. */
  #losing = false;
  #hand: NodeJS.Timeout | null = null;
  #frames = 0;
  #onFirst: ((fault?: Error) => void) | null = null;
  #ended: string | null = null;
  #left = false;

  constructor({ url, room, decodes, counts, onFrame, onEvent }: PlayerOptions) {
    this.room = room;
    this.#onEvent = onEvent;
    this.#counts = counts;
    this.#state = decodes
      ? new RoomState({
          fetchTopology: (hash) => fetchOnce(url, hash),
          needKeyframe: () => {
            counts.failures += 1;
            this.#connection.send(build.needKeyframe());
          },
        })
      : null;
    this.#state?.add("topologyFailed", () => void (counts.failures += 1));
    this.#state?.add("frame", () => {
      this.#first();
      onFrame?.(this.#state!.buffer!.newest!);
    });
    this.#connection = new Connection({
      url: socketUrl(url, room),
      WebSocket: lineOf((line) => void (this.#line = line)),
      profile: () => ({ name: "load", color: "#8a8f98" }),
      onEvent: (event, receivedMs) => this.#receive(event, receivedMs),
      onStatus: (status) => {
        if (this.#left || (status.state !== "reconnecting" && status.state !== "ended")) return;
        if (!this.#losing) counts.failures += 1;
        this.#losing = false;
        if (status.state !== "ended") return;
        this.#ended = `the server ended a client of room ${room} with ${status.code} ${status.reason}`;
        this.#onFirst?.(new Error(this.#ended));
      },
    });
  }

  /**
   * Resolves with the first frame (decoded, if this player decodes), or when it leaves before.
   * @throws Error if no frame arrives
   */
  joined(): Promise<void> {
    if (this.#frames > 0 || this.#left) return Promise.resolve();
    if (this.#ended !== null) return Promise.reject(new Error(this.#ended));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.#onFirst?.(new Error(`a client of room ${this.room} had no frame within ${JOIN_WITHIN_MS} ms`)),
        JOIN_WITHIN_MS,
      );
      this.#onFirst = (fault) => {
        this.#onFirst = null;
        clearTimeout(timer);
        if (fault) reject(fault);
        else resolve();
      };
    });
  }

  /**
   * Expects a lost connection. Resolves with the first frame after the reconnection.
   * @throws Error if no frame arrives
   */
  back(): Promise<void> {
    this.#losing = true;
    this.#frames = 0;
    return this.joined();
  }

  /** Cuts the connection; the client code is not told. */
  cut(): void {
    this.#line.terminate();
  }

  impulse(at: SurfacePoint, impulse: Point): void {
    this.#connection.send(build.impulse(at, impulse));
  }

  reset(): void {
    this.#connection.send(build.reset());
  }

  /** Starts the plan, at the given phase. */
  play(plan: HandPlan, phase: number): void {
    if (this.#left) return;
    const { body, triangle, movesPerSecond, seconds } = plan;
    const at = { body, triangle, u: 0.3, v: 0.3 };
    const hold = seconds === undefined ? Infinity : Math.round(seconds * movesPerSecond);
    const pause = Math.ceil(movesPerSecond);
    let step = 0;
    const target = (): Point => targetOf(plan, phase + step / movesPerSecond / plan.period);
    this.#hand = setInterval(() => {
      const now = step % (hold + pause);
      if (step === 0 || now === 0) this.#connection.send(build.grab(1, at, target()));
      else if (now < hold) this.#connection.send(build.move(1, target()));
      else if (now === hold) this.#connection.send(build.release(1));
      step += 1;
    }, 1000 / movesPerSecond);
  }

  /** Leaves with the closing handshake. */
  leave(): void {
    this.#stop();
    this.#connection.close();
  }

  /** Disappears, like a phone in a tunnel: the server keeps its seat for a while. */
  drop(): void {
    this.#stop();
    // Cut the connection first, so that the closing message is not delivered.
    this.#line.terminate();
    this.#connection.close();
  }

  #stop(): void {
    this.#left = true;
    this.#onFirst?.();
    if (this.#hand) clearInterval(this.#hand);
    this.#hand = null;
  }

  #receive(event: ServerEvent, receivedMs: number): void {
    const counts = this.#counts;
    this.#onEvent?.(event, receivedMs);
    if (event.type === "keyframe" || event.type === "delta") {
      counts.frames += 1;
      counts.frameBytes += event.data.byteLength;
      if (event.type === "keyframe") counts.keyframes += 1;
      if (!this.#state) this.#first();
    }
    this.#state?.receive(event, receivedMs);
  }

  #first(): void {
    if (this.#losing) return;
    this.#frames += 1;
    this.#onFirst?.();
  }
}
