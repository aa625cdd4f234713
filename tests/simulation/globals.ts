/**
 * Replaces the globals and Node's modules for the program of a virtual machine. Its clock may run slightly fast and its
 * time of day may be wrong. Timers run in virtual time, random numbers come from a seed, and there are no threads.
 */
import * as nodeCrypto from "node:crypto";
import * as nodeZlib from "node:zlib";
import type { PlainError } from "../../server/store/sqlite/threadCalls.ts";
import type { Random } from "../fuzz/random.ts";
import type { Runner, Timeline, Timer } from "./timeline.ts";

/** Functions that the replaced modules call (load.ts). */
interface Host {
  leaseSeconds(): number;
  /** @param revive makes an Error of a received one (store/sqlite/threadCalls.ts) */
  call(method: string, args: unknown[], revive: (error: PlainError) => Error): Promise<unknown>;
  processName(): string;
  isCertainlyDead(name: string): boolean;
}

/** A program on a virtual machine. One object serves all lives and histories; its fields change. */
export interface Machine extends Runner {
  timeline: Timeline;
  random: Random;
  host: Host;
  /** Start time, ms; rate of its clock against true time; offset of its time of day, ms. */
  bornMs: number;
  rate: number;
  skewMs: number;
}

export interface Globals {
  modules: Record<string, unknown>;
  host: Host;
  performance: unknown;
  Date: unknown;
  Math: unknown;
  process: unknown;
  setTimeout: unknown;
  setInterval: unknown;
  setImmediate: unknown;
  clearTimeout: unknown;
  clearInterval: unknown;
  clearImmediate: unknown;
}

/** Time of day at which every history begins, ms. */
const EPOCH_MS = Date.UTC(2026, 0, 1);
/** Monotonic clocks of machines start at different values. */
const CLOCK_START_MS = 1_000_000;
/** Time to pack a state, ms. */
const PACK_MS = 1.5;

/** ms on the machine's performance.now() */
export const machineMs = ({ timeline, bornMs, rate }: Machine): number =>
  CLOCK_START_MS + (timeline.nowMs - bornMs) * rate;

export function globalsFor(machine: Machine): Globals {
  const after = (ms: number, run: () => void): Timer =>
    machine.timeline.after((Number.isFinite(ms) ? Math.max(1, ms) : 1) / machine.rate, machine, run);
  const cancel = (timer: Timer | null | undefined): void => {
    if (timer) timer.cancelled = true;
  };
  return {
    modules: modulesFor(machine, after),
    host: {
      leaseSeconds: () => machine.host.leaseSeconds(),
      call: (method, args, revive) => machine.host.call(method, args, revive),
      processName: () => machine.host.processName(),
      isCertainlyDead: (name) => machine.host.isCertainlyDead(name),
    },
    performance: { now: () => machineMs(machine) },
    Date: dateFor(machine),
    Math: Object.defineProperty(Object.defineProperties({}, Object.getOwnPropertyDescriptors(Math)), "random", {
      value: () => machine.random.unit(),
    }),
    process: { env: {}, hrtime: { bigint: () => BigInt(Math.round(1e6 * machineMs(machine))) } },
    setTimeout: (run: () => void, ms = 1) => after(ms, run),
    setInterval: (run: () => void, ms = 1) => repeat(after, ms, run),
    setImmediate: (run: () => void) => machine.timeline.after(0, machine, run),
    clearTimeout: cancel,
    clearInterval: cancel,
    clearImmediate: cancel,
  };
}

/** One timer object for all repetitions, so that it can be cancelled. */
function repeat(after: (ms: number, run: () => void) => Timer, ms: number, run: () => void): Timer {
  const again = (): void => {
    if (handle.cancelled) return;
    after(ms, again);
    run();
  };
  const handle = after(ms, again);
  return handle;
}

function dateFor(machine: Machine): DateConstructor {
  const wallMs = (): number => Math.round(EPOCH_MS + machine.timeline.nowMs * machine.rate + machine.skewMs);
  return class extends Date {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(wallMs());
      else super(...(given as [number]));
    }
    static override now(): number {
      return wallMs();
    }
  } as unknown as DateConstructor;
}

/**
 * Hashing passwords and compressing states would cost real time: a digest replaces scrypt, and a copy replaces zstd.
 */
function modulesFor(machine: Machine, after: (ms: number, run: () => void) => Timer): Record<string, unknown> {
  return {
    "node:timers/promises": {
      setTimeout: (ms: number, value?: unknown) => new Promise((resolve) => after(ms, () => resolve(value))),
    },
    "node:crypto": {
      ...nodeCrypto,
      randomBytes: (length: number) => Buffer.from(machine.random.bytes(length)),
      randomUUID: () => Buffer.from(machine.random.bytes(16)).toString("hex"),
      scrypt: (
        password: string,
        salt: Buffer,
        length: number,
        _cost: object,
        done: (error: null, key: Buffer) => void,
      ) => {
        const key = nodeCrypto.createHash("sha512").update(salt).update(password).digest().subarray(0, length);
        // The queue belongs to the module and would outlive this life.
        queueMicrotask(() => done(null, key));
      },
    },
    "node:zlib": {
      ...nodeZlib,
      zstdCompress: (bytes: Uint8Array, _level: object, done: (error: null, packed: Buffer) => void) =>
        void after(PACK_MS, () => done(null, Buffer.from(bytes))),
      zstdDecompressSync: (packed: Uint8Array) => Buffer.from(packed),
    },
  };
}
