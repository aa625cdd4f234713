/** Runs scenarios one after another on one fleet under load, and checks the guarantees after each. */
import { createRoom } from "../../load-tests/bot.ts";
import { Fleet, nowMs } from "./fleet.ts";
import { hidden, redone, replayDiffers, twins } from "./judge.ts";
import { Owner } from "./owner.ts";
import { Player } from "./player.ts";
import { SCENARIOS } from "./scenarios.ts";

export interface ChaosOptions {
  /** PostgreSQL's programs. */
  bin: string;
  runs: number;
  seed: number;
  servers: number;
  rooms: number;
  playersPerRoom: number;
  /** Number of additional rooms whose owners keep changing them. */
  owners: number;
  /** Names of scenarios to choose from. */
  only: readonly string[];
  /** Runs each of those in turn instead of random ones. */
  inTurn?: boolean;
  /** Called after every run. */
  report: (outcome: Outcome) => void;
}

export interface Outcome {
  run: number;
  scenario: string;
  /** Duration of the harm, and time from its healing until every member sees its room move again, ms. */
  harmMs: number;
  backMs: number;
  /** Longest pause of any room, ms. */
  stillMs: number;
  /** Acknowledgements just before a kill by the killed server; number of returns to sessions. */
  pledged: number;
  returned: number;
  wrong: string[];
}

/**
 * Timeout for all members to come back after healing, ms: a new lease, the takeover and the client's own backoff take
 * 20 s, and longer on a busy machine.
 */
const BACK_MS = 120_000;

/** mulberry32 (Tommy Ettinger): 32 bits of state, sufficient to choose scenarios, and the same on every machine. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @returns the outcome of every run; a failed run ends the series, because later failures could be its consequences */
export async function chaos({
  bin,
  runs,
  seed,
  servers,
  rooms: count,
  playersPerRoom,
  owners: ownerCount,
  only,
  inTurn = false,
  report,
}: ChaosOptions): Promise<Outcome[]> {
  const random = randomFrom(seed);
  const fleet = await Fleet.start(bin, servers);
  const players: Player[] = [];
  const owners: Owner[] = [];
  const outcomes: Outcome[] = [];
  try {
    const rooms = Array.from({ length: count }, (_, i) => `room-${i}`);
    for (const [i, room] of rooms.entries()) await createRoom(fleet.members[i % servers].url, "cube", room);
    for (const room of rooms)
      for (let i = 0; i < playersPerRoom; i++)
        players.push(new Player(room, () => fleet.members.map(({ url }) => url)));
    for (let i = 0; i < ownerCount; i++) owners.push(await Owner.open(fleet, `owned-${i}`, randomFrom(seed + i + 1)));
    rooms.push(...owners.map(({ room }) => room));
    await allBack(players, owners, 0);
    for (let run = 1; run <= runs; run++) {
      const scenario = only[inTurn ? (run - 1) % only.length : Math.floor(random() * only.length)];
      const startMs = nowMs();
      const before = returnsOf(owners);
      for (const owner of owners) owner.act(true);
      const ask = await SCENARIOS[scenario]({ fleet, players, owners, random });
      const healedMs = nowMs();
      for (const owner of owners) owner.act(false);
      const away = await allBack(players, owners, healedMs);
      const backMs = nowMs() - healedMs;
      const wrong = away.length > 0 ? away : await judge(fleet, rooms, owners, startMs, ask);
      const differs = wrong.length > 0 ? null : await replayDiffers(fleet, rooms[Math.floor(random() * rooms.length)]);
      if (differs !== null) wrong.push(differs);
      const outcome = {
        run,
        scenario,
        harmMs: healedMs - startMs,
        backMs,
        stillMs: longestStill(fleet, new Set(players.map(({ room }) => room)), startMs, nowMs()),
        pledged: pledgedBefore(fleet, owners, startMs),
        returned: returnsOf(owners) - before,
        wrong,
      };
      outcomes.push(outcome);
      report(outcome);
      if (wrong.length > 0) {
        for (const { name, log, output } of fleet.everybody) {
          for (const entry of log.filter(({ level, ms }) => level >= 30 && ms > startMs - 3000).slice(-80))
            if (!/request|audit|socket|member/.test(entry.msg))
              console.error(
                name,
                Math.round(entry.ms - startMs),
                entry.msg,
                entry.room ?? "",
                entry.tick ?? "",
                entry.err?.message ?? "",
              );
          for (const line of output.slice(-10)) console.error(name, line);
        }
        break;
      }
    }
  } finally {
    await Promise.all([...players, ...owners].map((somebody) => somebody.end()));
    await fleet.close();
  }
  return outcomes;
}

async function judge(
  fleet: Fleet,
  rooms: readonly string[],
  owners: readonly Owner[],
  startMs: number,
  ask: () => string[],
): Promise<string[]> {
  const held = await Promise.all(owners.map((owner) => owner.broken()));
  return [...ask(), ...twins(fleet), ...redone(fleet, startMs), ...held.flat(), ...(await hidden(fleet, rooms))];
}

const returnsOf = (owners: readonly Owner[]): number => owners.reduce((sum, { returns }) => sum + returns, 0);

/** Time in which a store with delayed writes or syncs could lose changes, ms. */
const MOMENT_MS = 1000;

/** Acknowledgements of a member that was killed within MOMENT_MS after them. */
function pledgedBefore(fleet: Fleet, owners: readonly Owner[], sinceMs: number): number {
  let count = 0;
  for (const { by, ms } of fleet.kills.filter((kill) => kill.ms >= sinceMs))
    for (const { pledges } of owners)
      count += pledges.filter(
        (pledge) => pledge.ms > ms - MOMENT_MS && pledge.ms <= ms && fleet.ownerOf(pledge.room, pledge.ms)?.name === by,
      ).length;
  return count;
}

/** Longest pause among rooms with members in them, who keep them awake. */
function longestStill(fleet: Fleet, rooms: ReadonlySet<string>, fromMs: number, untilMs: number): number {
  let longest = 0;
  for (const [room, ticks] of fleet.ticks()) {
    if (!rooms.has(room)) continue;
    let before = ticks.findLast(({ ms }) => ms < fromMs)?.ms ?? fromMs;
    for (const { ms } of [...ticks.filter((tick) => tick.ms >= fromMs), { ms: untilMs }]) {
      longest = Math.max(longest, ms - before);
      before = ms;
    }
  }
  return longest;
}

/** Waits until every player has seen its room move. @returns the missing ones */
async function allBack(players: readonly Player[], owners: readonly Owner[], sinceMs: number): Promise<string[]> {
  const untilMs = nowMs() + BACK_MS;
  for (;;) {
    const away = [...players.filter((player) => !player.sees(sinceMs)), ...owners.filter(({ isIn }) => !isIn)];
    if (away.length === 0) return [];
    if (nowMs() > untilMs)
      return [
        `${away.length} of ${players.length + owners.length} players are not back after ${BACK_MS} ms: in ${[...new Set(away.map(({ room }) => room))].join(", ")}`,
      ];
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
