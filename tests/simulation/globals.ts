/**
 * What a virtual machine gives its program in place of the globals and of Node's modules: a clock that may run a little
 * fast and a time of day that may be wrong, timers in virtual time, chance from a seed, no threads.
 */
import * as nodeCrypto from "node:crypto";
import * as nodeZlib from "node:zlib";
import type { PlainError } from "../../server/store/rpc.ts";
import type { Random } from "../fuzz/random.ts";
import type { Runner, Timeline, Timer } from "./timeline.ts";

/** What the replaced modules ask (load.ts). */
interface Host {
  leaseSeconds(): number;
  /** @param revive makes an Error of one that crossed a line (store/rpc.ts) */
  call(method: string, args: unknown[], revive: (error: PlainError) => Error): Promise<unknown>;
  processName(): string;
  isCertainlyDead(name: string): boolean;
}

/** A program that runs somewhere. One object for as many lives and histories as there are; its fields change. */
export interface Machine extends Runner {
  timeline: Timeline;
  random: Random;
  host: Host;
  /** When it was started, its clock's rate against true time, and what its time of day is off, ms. */
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
/** Clocks of machines do not agree about their beginning. */
const CLOCK_START_MS = 1_000_000;
/** What packing a state takes, ms. */
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

/** One object from the first time to the last, so that it can be cancelled. */
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

/** Passwords and states are not worth real time here: a digest stands for scrypt, and a copy for zstd. */
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
        // Its queue is the module's and would outlive this life.
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
