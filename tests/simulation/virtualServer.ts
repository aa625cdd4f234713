/** One virtual server process: started, paused, killed, ended in order, and started again. */
import type { FastifyBaseLogger } from "fastify";
import { type Config, readConfig } from "../../server/config.ts";
import type { Metrics } from "../../server/metrics/metrics.ts";
import type { SceneLibrary } from "../../server/rooms/scenes/sceneLibrary.ts";
import type { WorkerPools } from "../../server/workers/pool.ts";
import { Random } from "../fuzz/random.ts";
import type { Database } from "./database.ts";
import { globalsFor, type Machine } from "./globals.ts";
import { Line } from "./line.ts";
import type { Program } from "./load.ts";
import { Physics, type World } from "./physics.ts";
import type { Timeline } from "./timeline.ts";

type Running = Awaited<ReturnType<Program["startServer"]>>;

/**
 * A machine for processes: its modules are evaluated once and serve every process that lives there, one after another.
 */
export class Place {
  readonly machine: Machine;
  readonly program: Program;

  constructor(load: (globals: ReturnType<typeof globalsFor>) => Program) {
    this.machine = {
      life: 0,
      stopped: false,
      timeline: null as unknown as Timeline,
      random: new Random(0),
      host: null as unknown as Machine["host"],
      bornMs: 0,
      rate: 1,
      skewMs: 0,
    };
    this.program = load(globalsFor(this.machine));
  }
}

/** Answers of the store's thread itself (sqliteThread.ts): its files are intact and not shared. */
const ANSWERED: Readonly<Record<string, unknown>> = { open: { loss: null }, close: undefined, changes: [] };

/** Settings that rooms and their registry read. */
const CONFIG = {
  ...readConfig({ PLIANT_OPERATIONS_PORT: "same" }),
  maxRooms: 64,
  roomsPerAddress: 64,
  dedicatedRooms: 0,
  roomPool: "shared" as const,
  workers: 1,
  historySeconds: 60,
  maxMembers: 16,
  resumeSeconds: 30,
  emptyRoomSeconds: 3600,
  // Histories kill processes more often than a real quarantine rule would tolerate.
  takeoverAttempts: 1000,
  quarantineDays: 30,
  quarantineMb: 64,
  otherVersions: "quarantine" as const,
};

/** A metrics registry that ignores everything: each property exists and can be called. */
const nowhere: unknown = new Proxy(() => {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : nowhere),
  set: () => true,
  apply: () => nowhere,
});

export interface ServerOptions {
  place: Place;
  /** Number of the server; the first is 1. */
  number: number;
  timeline: Timeline;
  database: Database;
  kind: "sqlite" | "postgres";
  leaseSeconds: number;
  tickHz: number;
  stepSeconds: number;
  identity: string;
  rate: number;
  seed: number;
  /** Tests whether a process knows that another one is certainly dead. */
  isCertainlyDead: (asker: Server, name: string) => boolean;
  began: (room: string, process: string, world: World) => void;
  stepped: (room: string, process: string, before: string, world: World) => void;
  note: (who: string, text: () => string) => void;
}

export class Server {
  readonly number: number;
  readonly machine: Machine;
  readonly program: Program;
  /** Name of the running process, or of the last one. */
  process = "";
  running: Running | null = null;
  line!: Line;
  physics!: Physics;
  /** Time until which the last fault or start disturbed it, ms of true time. */
  disturbedMs = 0;
  /** Started, and not killed since. */
  up = false;
  /** True after the server was told to end: it takes no more rooms. */
  ending = false;
  /** Unanswered calls from outside: they fail when it dies. */
  readonly calls = new Set<() => void>();
  readonly #options: ServerOptions;
  #lives = 0;

  constructor(options: ServerOptions) {
    const { place, number, timeline, seed, rate } = options;
    this.#options = options;
    this.number = number;
    this.machine = place.machine;
    this.program = place.program;
    Object.assign(this.machine, { timeline, random: new Random(seed), rate, skewMs: 0, stopped: false });
    this.machine.life += 1;
    this.machine.host = {
      leaseSeconds: () => options.leaseSeconds,
      call: (method, args, revive) =>
        method in ANSWERED ? Promise.resolve(ANSWERED[method]) : this.line.call(method, args, revive),
      processName: () => this.process,
      isCertainlyDead: (name) => options.isCertainlyDead(this, name),
    };
  }

  get name(): string {
    return `server-${this.number}`;
  }

  get url(): string {
    return `http://${this.name}`;
  }

  /** State identity: which states it can read. */
  get identity(): string {
    return this.#options.identity;
  }

  get alive(): boolean {
    return this.running !== null;
  }

  /** Reachable, and will answer in time. */
  get answers(): boolean {
    return this.running !== null && !this.machine.stopped;
  }

  start(): void {
    const { timeline, database, kind, leaseSeconds, note, began, stepped, tickHz, stepSeconds, identity } =
      this.#options;
    const { machine, program } = this;
    this.disturbedMs = 0;
    this.#lives += 1;
    const life = `${this.number}.${this.#lives}`;
    this.process = life;
    machine.bornMs = timeline.nowMs;
    this.up = true;
    this.ending = false;
    this.disturbed();
    const say = (text: () => string): void => note(this.name, text);
    this.line = new Line({ kind, leaseSeconds, database, machine, random: machine.random, note: say });
    this.physics = new Physics({
      machine,
      program,
      tickHz,
      stepSeconds,
      identity,
      witness: {
        began: (room, world) => began(room, life, world),
        stepped: (room, before, world) => stepped(room, life, before, world),
      },
    });
    const { physics } = this;
    say(() => "starts");
    timeline.after(1, machine, () => {
      void program
        .startServer({
          config: { ...CONFIG, sendHz: tickHz } satisfies Config,
          pools: { forRoom: (pool: "shared" | "dedicated") => physics.pool(pool) } as unknown as WorkerPools,
          library: { template: async (scene: string) => physics.template(scene) } as unknown as SceneLibrary,
          metrics: nowhere as Metrics,
          log: logTo(say),
          url: this.url,
          version: identity,
        })
        .then((running) => (this.running = running));
    });
  }

  /** @param forMs from now on */
  disturbed(forMs = 0): void {
    this.disturbedMs = Math.max(this.disturbedMs, this.#options.timeline.nowMs + forMs);
  }

  /** kill -9, at any pending operation. */
  kill(): void {
    this.machine.life += 1;
    this.machine.stopped = false;
    this.running = null;
    this.up = false;
    const calls = [...this.calls];
    this.calls.clear();
    for (const lost of calls) lost();
  }

  /** Calls it from outside. @returns the answer; null if it died */
  call<T>(ask: (running: Running) => Promise<T>): Promise<{ answer: T } | { error: Error } | null> {
    const { timeline } = this.#options;
    return new Promise((resolve) => {
      const lost = (): void => resolve(null);
      this.calls.add(lost);
      const end = (outcome: { answer: T } | { error: Error }): void => {
        if (!this.calls.delete(lost)) return;
        timeline.after(0.5, null, () => resolve(outcome));
      };
      timeline.after(0.5, this.machine, () => {
        if (!this.running) return end({ error: new Error("not ready") });
        ask(this.running).then(
          (answer) => end({ answer }),
          (error: Error) => end({ error }),
        );
      });
    });
  }
}

/** Writes the server's log into the log of the history. */
function logTo(note: (text: () => string) => void): FastifyBaseLogger {
  const line =
    (level: string) =>
    (details: { err?: Error; room?: string; tick?: number; epoch?: number; audit?: boolean }, message: string): void =>
      details.audit
        ? undefined
        : note(() => {
            const { room, tick, epoch, err } = details;
            const about = [room, tick !== undefined && `tick ${tick}`, epoch !== undefined && `epoch ${epoch}`];
            return `${level}: ${message} (${about.filter(Boolean).join(", ")})${err ? ` ${err.message}` : ""}`;
          });
  const log = { info: line("says"), warn: line("warns"), error: line("fails"), child: () => log };
  return log as unknown as FastifyBaseLogger;
}
