/** Runs scenarios one after another on one fleet under load, and judges after each. */
import { createRoom } from "../../load-tests/bot.ts";
import { Fleet, nowMs } from "./fleet.ts";
import { hidden, replayDiffers, twins } from "./judge.ts";
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
  /** Names of scenarios to choose from. */
  only: readonly string[];
  /** Told of every run. */
  report: (outcome: Outcome) => void;
}

export interface Outcome {
  run: number;
  scenario: string;
  /** The harm itself, and from its healing until every member sees its room move again, ms. */
  harmMs: number;
  backMs: number;
  /** Longest time that any room was not stepped, ms. */
  stillMs: number;
  wrong: string[];
}

/**
 * Until every member is back after all is healed, ms: a lease that has just begun, taking over, and the client's own
 * pauses.
 */
const BACK_MS = 20_000;

/** mulberry32 (Tommy Ettinger): 32 bits of state, good enough to choose scenarios, and the same on every machine. */
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

/**
 * @returns what happened in every run; a run that went wrong ends the series, for what comes after it could not be told
 *   from it
 */
export async function chaos({
  bin,
  runs,
  seed,
  servers,
  rooms: count,
  playersPerRoom,
  only,
  report,
}: ChaosOptions): Promise<Outcome[]> {
  const random = randomFrom(seed);
  const fleet = await Fleet.start(bin, servers);
  const players: Player[] = [];
  const outcomes: Outcome[] = [];
  try {
    const rooms = Array.from({ length: count }, (_, i) => `room-${i}`);
    for (const [i, room] of rooms.entries()) await createRoom(fleet.members[i % servers].url, "cube", room);
    for (const room of rooms)
      for (let i = 0; i < playersPerRoom; i++)
        players.push(new Player(room, () => fleet.members.map(({ url }) => url)));
    await allBack(players, 0);
    for (let run = 1; run <= runs; run++) {
      const scenario = only[Math.floor(random() * only.length)];
      const startMs = nowMs();
      const ask = await SCENARIOS[scenario]({ fleet, players, random });
      const healedMs = nowMs();
      const away = await allBack(players, healedMs);
      const backMs = nowMs() - healedMs;
      const wrong = away.length > 0 ? away : [...ask(), ...twins(fleet), ...(await hidden(fleet, rooms))];
      const differs = wrong.length > 0 ? null : await replayDiffers(fleet, rooms[Math.floor(random() * rooms.length)]);
      if (differs !== null) wrong.push(differs);
      const outcome = {
        run,
        scenario,
        harmMs: healedMs - startMs,
        backMs,
        stillMs: longestStill(fleet, startMs, nowMs()),
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
    await Promise.all(players.map((player) => player.end()));
    await fleet.close();
  }
  return outcomes;
}

/** Of rooms with members in them, who keep them awake. */
function longestStill(fleet: Fleet, fromMs: number, untilMs: number): number {
  let longest = 0;
  for (const ticks of fleet.ticks().values()) {
    let before = ticks.findLast(({ ms }) => ms < fromMs)?.ms ?? fromMs;
    for (const { ms } of [...ticks.filter((tick) => tick.ms >= fromMs), { ms: untilMs }]) {
      longest = Math.max(longest, ms - before);
      before = ms;
    }
  }
  return longest;
}

/** Waits until every player has seen its room move. @returns who has not */
async function allBack(players: readonly Player[], sinceMs: number): Promise<string[]> {
  const untilMs = nowMs() + BACK_MS;
  for (;;) {
    const away = players.filter((player) => !player.sees(sinceMs));
    if (away.length === 0) return [];
    if (nowMs() > untilMs)
      return [
        `${away.length} of ${players.length} players are not back after ${BACK_MS} ms: in ${[...new Set(away.map(({ room }) => room))].join(", ")}`,
      ];
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
