/**
 * A stand-in for the simulation, behind the interface that rooms use (workers/pool.ts). Its state is a digest of all
 * inputs, tick by tick, and of which bodies are inactive. Two states are equal if and only if the same inputs arrived
 * at the same ticks, each once. So a lost, doubled or moved input shows in the first hash. A saved state lacks the pair
 * list (sim/world/checkpoint.ts): one bit of the digest models that. tests/determinism shows that the real step
 * reproduces its bits.
 */
import { SceneBudget } from "../../server/rooms/ticks/sceneBudget.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import type { Tuning } from "../../shared/members/tuningLimits.ts";
import type { SceneTemplate } from "../../server/rooms/scenes/sceneLibrary.ts";
import { type Input, noSeconds, type SimEvent } from "../../server/sim/types.ts";
import type {
  InspectResult,
  OpenResult,
  OpenTask,
  ReplayResult,
  ReplayTask,
  RoomHandle,
  SavedState,
  StepResult,
  StepTask,
} from "../../server/workers/messages.ts";
import { NO_WIND } from "../../server/sim/tuning/windRow.ts";
import { type Machine, machineMs } from "./globals.ts";
import type { Program } from "./load.ts";
import type { NamedPool } from "./processProgram.ts";

/** Body 0 is in the scene; body 1 is spawnable. */
const SPAWNABLE = [1];
const NOTHING_TUNED: Tuning = { gravity: [0, 0, 0], wind: NO_WIND, timeScale: 1, pausedTicks: 0, bodies: [] };

/** Header of a room's memory without lists; the memory may grow to 512 MiB. Callers read the size from it. */
const HEADER = new Int32Array((L.HEADER + L.HEADER_END) / 4);
HEADER[(L.HEADER + L.H_MEMORY_LIMIT) / 4] = (512 * 2 ** 20) / 65_536;

export class World {
  readonly buffer = HEADER.buffer;
  readonly scene: string;
  tick = 0;
  low = 1;
  high = 2;
  /** True if the memory has a pair list from the tick before. */
  hasList = false;
  absent = true;

  constructor(scene: string) {
    this.scene = scene;
  }

  get hash(): string {
    return `${this.high.toString(16)}.${this.low.toString(16)}.${this.absent ? 1 : 0}`;
  }

  step(inputs: readonly Input[]): SimEvent[] {
    const events: SimEvent[] = [];
    this.tick += 1;
    this.#mix(this.tick);
    this.#mix(this.hasList ? 3 : 5);
    for (const input of inputs) {
      const text = JSON.stringify(input);
      for (let i = 0; i < text.length; i++) this.#mix(text.charCodeAt(i));
      if (input.type === "reset") {
        this.absent = true;
        events.push({ type: "reset", tick: this.tick, member: input.member });
      } else if (input.type === "spawn" && this.absent) {
        this.absent = false;
        events.push({ type: "spawned", tick: this.tick, body: 1, member: input.member });
      } else if (input.type === "remove" && !this.absent) {
        this.absent = true;
        events.push({
          type: "removed",
          tick: this.tick,
          body: 1,
          member: input.member,
          position: [0, 0, 0],
          heading: [1, 0],
        });
      }
    }
    this.hasList = true;
    return events;
  }

  save(): Uint8Array<ArrayBuffer> {
    this.hasList = false;
    const state = new Uint8Array(16);
    new Uint32Array(state.buffer).set([this.tick, this.low, this.high, this.absent ? 1 : 0]);
    return state;
  }

  load(state: Uint8Array): void {
    const [tick, low, high, absent] = new Uint32Array(Uint8Array.from(state).buffer) as unknown as [
      number,
      number,
      number,
      number,
    ];
    [this.tick, this.low, this.high, this.absent, this.hasList] = [tick, low, high, absent === 1, false];
  }

  #mix(value: number): void {
    this.low = Math.imul(this.low ^ value, 0x01000193) >>> 0;
    this.high = (Math.imul(this.high + value, 0x85ebca6b) ^ (this.low >>> 13)) >>> 0;
  }
}

/** Receives the events of the simulation. */
interface Witness {
  /** A memory was created from a state, and perhaps stepped, for a room that resumes from there. */
  began(room: string, world: World): void;
  stepped(room: string, before: string, world: World): void;
}

export interface PhysicsOptions {
  machine: Machine;
  program: Program;
  tickHz: number;
  /** Duration of a tick, real and reported, s. */
  stepSeconds: number;
  /** State identity: which processes can read this program's states. */
  identity: string;
  witness: Witness;
}

/**
 * Loss of a thread: before it begins an order, during the order, or after it but before it can report. `charged`: it
 * was executing this order, not that of another room.
 */
export interface Loss {
  when: "before" | "inside" | "after";
  charged: boolean;
}

/** Time to start the thread of a trial, ms. */
const ALONE_MS = 30;

const worldOf = (memory: WebAssembly.Memory): World => memory as unknown as World;

/** A step that is running or scheduled. */
interface Waiting {
  key: string;
  begun: boolean;
  drop: () => void;
}

export class Physics {
  readonly #options: PhysicsOptions;
  readonly #templates = new Map<string, SceneTemplate>();
  /** Memories that were reported to the witness. */
  readonly #known = new WeakSet<World>();
  /** Pending losses: each of the next orders that qualifies loses its thread. */
  losses: Loss[] = [];
  /** The end of the last trial on a thread of its own. */
  #lastAlone: Promise<unknown> = Promise.resolve();

  constructor(options: PhysicsOptions) {
    this.#options = options;
  }

  template(scene: string): SceneTemplate {
    const known = this.#templates.get(scene);
    if (known) return known;
    const { tickHz, identity } = this.#options;
    const made = {
      scene,
      text: "{}",
      shapes: new Map(),
      memory: new World(scene) as unknown as WebAssembly.Memory,
      filled: new Uint32Array(0),
      layout: { tickHz, streamedParticles: 0, origin: [0, 0, 0], tuned: NOTHING_TUNED },
      topology: new SharedArrayBuffer(0),
      topologyHash: "none",
      identity,
      budget: new SceneBudget(scene, tickHz, { warn: () => {} }),
      shape: { triangles: [8, 8], spawnable: SPAWNABLE, tunable: [], reach: 10, origin: [0, 0, 0], maxImpulse: 1 },
    } as unknown as SceneTemplate;
    this.#templates.set(scene, made);
    return made;
  }

  /** One pool for each room (registry.ts). @param alone for a trial: no other room's work can lose its thread */
  pool(kind: "shared" | "dedicated", alone = false): NamedPool {
    let waiting: Waiting | null = null;
    const startMs = alone ? ALONE_MS : 0;
    const pool: NamedPool = {
      kind,
      room: "",
      open: (task) => this.#later(startMs + 0.2, () => this.#made(alone, () => this.#open(task))),
      step: (task) => this.#step(task, pool.room, alone, (now) => (waiting = now)),
      withdraw: (room: RoomHandle) => {
        if (waiting && waiting.key === room.key && !waiting.begun) waiting.drop();
      },
      save: ({ room }) => this.#later(startMs + 0.3, () => this.#saved(alone, worldOf(room.memory))),
      replay: (task) => this.#later(startMs + 1, () => this.#made(alone, () => this.#replay(task, pool.room))),
      inspect: ({ room }) => this.#later(0.1, () => this.#inspect(worldOf(room.memory))),
      memoryEnded: () => {},
      alone: (signal) => this.#alone(pool.room, signal),
      release: async () => {},
    };
    return pool;
  }

  /** Like pool.ts: one room on probation at a time in the process. A room that closes stops waiting. */
  async #alone(room: string, signal: AbortSignal): Promise<NamedPool> {
    const before = this.#lastAlone;
    let over = (): void => {};
    this.#lastAlone = Promise.all([before, new Promise<void>((resolve) => (over = resolve))]);
    await Promise.race([before, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
    if (signal.aborted) over();
    signal.throwIfAborted();
    return Object.assign(this.pool("dedicated", true), { room, release: async () => over() });
  }

  /**
   * Takes the next loss, if it applies. A trial's thread may end before its work, which is no room's fault. A loss
   * during the work would rightly quarantine the room.
   */
  #takeLoss(alone: boolean, mayBeCharged: boolean): Loss | undefined {
    const [next] = this.losses;
    if (!next || (next.charged && !mayBeCharged) || (alone && next.when !== "before")) return undefined;
    return this.losses.shift();
  }

  #lost({ charged }: Loss): Error {
    return new this.#options.program.ThreadLost("ended", charged, new Error("the thread was lost"));
  }

  /** A memory that is lost with its thread belongs to no room: opening, takeover or undo waits for a new one. */
  #made<T>(alone: boolean, make: () => T): T {
    const loss = this.#takeLoss(alone, false);
    if (loss) throw this.#lost(loss);
    return make();
  }

  #saved(alone: boolean, world: World): SavedState {
    const loss = this.#takeLoss(alone, true);
    if (loss?.when === "before") throw this.#lost(loss);
    const saved = this.#save(world);
    if (loss) throw this.#lost(loss);
    return saved;
  }

  #later<T>(ms: number, work: () => T): Promise<T> {
    const { machine } = this.#options;
    return new Promise((resolve, reject) => {
      machine.timeline.after(ms, machine, () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  #open({ template, state }: OpenTask): OpenResult {
    const world = new World(worldOf(template).scene);
    if (state) world.load(state);
    return { memory: world as unknown as WebAssembly.Memory, frames: this.#options.program.FrameState.allocate(0) };
  }

  /** Executes a step at its time, unless it was withdrawn by then (threadLoop.ts). */
  #step(task: StepTask, room: string, alone: boolean, waits: (waiting: Waiting) => void): Promise<StepResult> {
    const { machine, program, stepSeconds } = this.#options;
    const nowMs = machineMs(machine);
    return new Promise((resolve, reject) => {
      const dropped = (): void => reject(new program.StepDropped("withdrawn, or too late"));
      const begin = (): void => {
        waiting.begun = true;
        const startMs = machineMs(machine);
        if (startMs >= (task.untilMs ?? Infinity)) return dropped();
        const loss = this.#takeLoss(alone, true);
        const lost = (): void => reject(this.#lost(loss!));
        if (loss?.when === "before") return lost();
        const frames = new program.FrameState(task.room.frames);
        frames.enter(1);
        if (loss?.when === "inside") return lost();
        const result = this.#stepped(task, room, startMs);
        frames.tick = task.tick;
        frames.leave();
        if (loss) return lost();
        machine.timeline.after(1000 * stepSeconds, machine, () => resolve(result));
      };
      const waitMs = Math.max((task.dueMs ?? nowMs) - nowMs, alone ? ALONE_MS : 0);
      const timer = machine.timeline.after(waitMs / machine.rate, machine, begin);
      const waiting: Waiting = {
        key: task.room.key,
        begun: false,
        drop: () => {
          timer.cancelled = true;
          waiting.begun = true;
          machine.timeline.after(0.05, machine, dropped);
        },
      };
      waits(waiting);
    });
  }

  #stepped(task: StepTask, room: string, startMs: number): StepResult {
    const { witness, stepSeconds } = this.#options;
    const world = worldOf(task.room.memory);
    this.#tell(room, world);
    if (world.tick + 1 !== task.tick)
      throw new Error(`tick ${task.tick} was requested of a state at tick ${world.tick}`);
    if (task.fresh) world.hasList = false;
    const before = world.hash;
    const events = world.step(task.inputs);
    witness.stepped(room, before, world);
    const saved = task.save ? this.#save(world) : null;
    return {
      tick: world.tick,
      startMs,
      seconds: noSeconds(),
      wholeSeconds: stepSeconds,
      unfinished: false,
      methods: [],
      errors: [],
      events,
      contact: { lists: 0, checks: 0, impulses: 0, zones: 0, stops: 0, full: 0 },
      work: { threads: 1, shared: 0, helped: 0 },
      delta: null,
      keyframe: null,
      positions: null,
      moved: false,
      saved,
      ...(task.hash && { stateHash: world.hash }),
    };
  }

  #save(world: World): SavedState {
    const state = world.save();
    return { tick: world.tick, state, stateHash: world.hash, seconds: 0.0001 };
  }

  #replay({ room, records, hashes = [], until, fresh }: ReplayTask, name: string): ReplayResult {
    const world = worldOf(room.memory);
    const from = world.tick;
    const known = new Map(records.map((record) => [record.tick, record]));
    const recorded = new Map(hashes.map(({ tick, stateHash }) => [tick, stateHash]));
    let differs: ReplayResult["differs"] = null;
    const compare = (): void => {
      const wanted = recorded.get(world.tick);
      if (wanted !== undefined && !differs && world.hash !== wanted)
        differs = { tick: world.tick, stateHash: world.hash, recorded: wanted };
    };
    compare();
    while (world.tick < until) {
      const record = known.get(world.tick + 1);
      if (record?.fresh) world.hasList = false;
      world.step(record?.inputs ?? []);
      compare();
    }
    if (fresh && world.tick === until) world.hasList = false;
    this.#tell(name, world);
    return {
      tick: world.tick,
      ticks: until - from,
      held: [],
      facts: { tuning: NOTHING_TUNED, absent: world.absent ? SPAWNABLE : [], looks: [], pins: [] },
      stateHash: world.hash,
      differs,
    };
  }

  #tell(room: string, world: World): void {
    if (this.#known.has(world)) return;
    this.#known.add(world);
    this.#options.witness.began(room, world);
  }

  #inspect(world: World): InspectResult {
    return {
      tick: world.tick,
      positions: new Float32Array(0),
      quantized: null,
      absent: world.absent ? SPAWNABLE : [],
      frameTick: -1,
      stateHash: world.hash,
      origin: [0, 0, 0],
    };
  }
}
