/**
 * The plan of a history, chosen by its seed before it begins: the servers and rooms, the actions of visitors with their
 * times, the faults and their durations. A plan is plain data, so that a smaller one can be tried (shrink.ts).
 */
import { Random } from "../fuzz/random.ts";

/** Possible faults. Each history has only some of them, because many at once hide each other's traces. */
export const FAULTS = {
  kill: "a process is killed (-9) and started again",
  end: "a process is ended in order and started again",
  pause: "a process is paused (SIGSTOP) and continues later",
  cut: "all messages between a process and the database are lost",
  deaf: "requests reach the database, its answers are lost",
  late: "requests reach the database after their timeout",
  lossy: "now and then a single answer is lost, after the commit",
  slow: "the connection or the disk is slow",
  full: "the disk is full",
  errors: "transactions fail with input/output errors",
  away: "the database is away for all processes",
  failover: "a replica takes over without the last transactions",
  tear: "as failover, but the replica has all leases: owners continue, and only their writes are lost",
  clock: "a process's time of day jumps",
  handover: "a process gives a room to another",
  thread: "threads are lost before, inside or after steps and saves, in the work of the room or of others",
  versions: "the processes are of two versions, which cannot read each other's states",
} as const;

export type Fault = keyof typeof FAULTS;

/** Default faults of a history: all of them. */
export const EVERY_FAULT = Object.keys(FAULTS) as Fault[];

export type Action =
  | { atMs: number; do: "create"; room: number; server: number }
  | { atMs: number; do: "come" | "drop"; visitor: number }
  | { atMs: number; do: "input"; visitor: number; input: number }
  | { atMs: number; do: "change"; room: number; setting: "locked" | "ownersOnly" | "password" | "ban" }
  | { atMs: number; do: "undo"; room: number; seconds: number }
  | { atMs: number; do: "delete" | "record"; room: number }
  | { atMs: number; do: "fault"; fault: Exclude<Fault, "versions">; server: number; forMs: number; amount: number };

export interface Plan {
  seed: number;
  kind: "sqlite" | "postgres";
  servers: number;
  rooms: number;
  visitorsPerRoom: number;
  leaseSeconds: number;
  tickHz: number;
  stepSeconds: number;
  /** All servers on one machine: each knows which other processes are certainly dead. */
  oneMachine: boolean;
  /** The last server has another version. */
  versions: boolean;
  /** Rate of each server's clock against true time. */
  rates: number[];
  lengthMs: number;
  actions: Action[];
}

/** NTP slews by at most 500 parts in a million; this is twenty times that. */
const MOST_DRIFT = 0.01;
/** Each is up to six losses of threads. */
const MOST_THREADS = 2;
/** Kinds of faults in one history. */
const MOST_FAULTS = 3;

export function planOf(seed: number, allowed: readonly Fault[]): Plan {
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995);
  const kind = random.chance(0.3) ? "sqlite" : "postgres";
  // A SQLite file has no connection that can be cut and no replica.
  const possible = allowed.filter(
    (fault) => kind === "postgres" || !["cut", "deaf", "late", "away", "failover", "tear"].includes(fault),
  );
  const faults = new Set<Fault>();
  const wanted = 1 + random.below(MOST_FAULTS);
  while (possible.length > 0 && faults.size < Math.min(wanted, possible.length)) faults.add(random.pick(possible));
  const servers = random.pick([1, 2, 2, 3]);
  const rooms = random.chance(0.8) ? 1 : 2;
  const visitorsPerRoom = 1 + random.below(2);
  const plan: Plan = {
    seed,
    kind,
    servers,
    rooms,
    visitorsPerRoom,
    leaseSeconds: random.pick([1.5, 2, 3]),
    tickHz: random.pick([4, 8]),
    stepSeconds: random.pick([0.002, 0.05]),
    oneMachine: kind === "sqlite" || random.chance(0.3),
    versions: faults.has("versions") && servers > 1,
    rates: Array.from({ length: servers }, () => 1 + MOST_DRIFT * (2 * random.unit() - 1)),
    lengthMs: 2000 + 3500 * random.unit(),
    actions: [],
  };
  plan.actions = [...doings(plan, random), ...harms(plan, [...faults], random)].sort((a, b) => a.atMs - b.atMs);
  return plan;
}

/** Actions of visitors. */
function doings({ rooms, servers, visitorsPerRoom, lengthMs }: Plan, random: Random): Action[] {
  const actions: Action[] = [];
  for (let room = 0; room < rooms; room++) {
    actions.push({ atMs: 20 + 100 * random.unit(), do: "create", room, server: random.below(servers) });
    // If the answer was lost, a visitor repeats the request and wants the same room.
    if (random.chance(0.5))
      actions.push({ atMs: 30 + 1500 * random.unit(), do: "create", room, server: random.below(servers) });
    for (let i = 0; i < visitorsPerRoom; i++)
      actions.push({ atMs: 150 + 300 * random.unit(), do: "come", visitor: room * visitorsPerRoom + i });
    for (let atMs = 400; atMs < lengthMs; atMs += 700 * random.unit())
      actions.push(doing(room, room * visitorsPerRoom + random.below(visitorsPerRoom), atMs, random));
    if (random.chance(0.15)) actions.push({ atMs: lengthMs * (0.4 + 0.6 * random.unit()), do: "delete", room });
  }
  return actions;
}

function doing(room: number, visitor: number, atMs: number, random: Random): Action {
  const which = random.unit();
  if (which < 0.62) return { atMs, do: "input", visitor, input: random.below(1 << 16) };
  if (which < 0.66) return { atMs, do: "drop", visitor };
  if (which < 0.82)
    return { atMs, do: "change", room, setting: random.pick(["locked", "ownersOnly", "password", "ban"] as const) };
  if (which < 0.94) return { atMs, do: "undo", room, seconds: random.chance(0.3) ? 0.05 : 3 * random.unit() };
  return { atMs, do: "record", room };
}

/** Faults and their times. */
function harms({ servers, lengthMs, leaseSeconds }: Plan, faults: readonly Fault[], random: Random): Action[] {
  const actions: Action[] = [];
  const kinds = faults.filter((fault) => fault !== "versions");
  if (kinds.length === 0) return actions;
  for (let atMs = 300 + 1000 * random.unit(); atMs < lengthMs; atMs += 300 + 2000 * random.unit()) {
    actions.push({
      atMs,
      do: "fault",
      fault: random.pick(kinds),
      server: random.below(servers),
      // Short ones, and some that are longer than a lease.
      forMs: random.chance(0.6) ? 20 + 700 * random.unit() : 1000 * leaseSeconds * (0.5 + random.unit()),
      amount: random.unit(),
    });
  }
  let threads = 0;
  return actions.filter((action) => !(action.do === "fault" && action.fault === "thread" && ++threads > MOST_THREADS));
}
