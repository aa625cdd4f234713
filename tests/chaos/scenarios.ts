/** The faults, one at a time: each scenario harms a fleet under load, heals it, and returns its additional checks. */
import { once } from "node:events";
import { ADMIN_TOKEN, type Fleet, type Member, nowMs } from "./fleet.ts";
import { lost } from "./judge.ts";
import type { Owner } from "./owner.ts";
import type { Player } from "./player.ts";
import { postJson } from "../support/request.ts";

interface Stage {
  fleet: Fleet;
  players: Player[];
  /** Owners who send requests during the whole scenario. */
  owners: Owner[];
  /** Returns a number in [0, 1), determined by the run's seed. */
  random: () => number;
}

/** Runs the fault; resolves when all is healed. @returns the checks to run once everything works again */
export type Scenario = (stage: Stage) => Promise<() => string[]>;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const pick = <T>({ random }: Stage, list: readonly T[]): T => list[Math.floor(random() * list.length)];
const between = ({ random }: Stage, from: number, to: number): number => from + random() * (to - from);
const nothing = (): string[] => [];

async function kill(fleet: Fleet, member: Member): Promise<number> {
  const endedMs = nowMs();
  const gone = once(member.child, "exit");
  member.child.kill("SIGKILL");
  fleet.remove(member);
  fleet.kills.push({ by: member.name, ms: endedMs });
  await gone;
  return endedMs;
}

const DAY_MS = 24 * 3600 * 1000;
/** Longest orderly end of a process, ms. */
const END_MS = 25_000;

export const SCENARIOS: Record<string, Scenario> = {
  /** kill -9 of any server, and a new one. */
  kill: async (stage) => {
    const { fleet } = stage;
    const member = pick(stage, fleet.members);
    const endedMs = await kill(fleet, member);
    await fleet.add();
    return () => lost(fleet, member, endedMs);
  },

  /** Owners send many requests at once; kill -9 at the moment in which one of them is acknowledged. */
  acknowledged: async (stage) => {
    const { fleet, owners } = stage;
    for (const owner of owners) owner.act(false);
    const ready = await Promise.allSettled(owners.map((owner) => owner.burst()));
    const bursts = ready.flatMap((burst) => (burst.status === "fulfilled" ? [burst.value] : []));
    let left = Math.floor(between(stage, 1, 4) * bursts.length);
    const { member, endedMs } = await new Promise<{ member: Member; endedMs: number }>((resolve) => {
      let killed = false;
      const killOwnerOf = (room: string, ms: number): void => {
        if (killed) return;
        killed = true;
        const member = fleet.members.find((one) => one === fleet.ownerOf(room)) ?? fleet.members[0]!;
        member.child.kill("SIGKILL"); // Immediately.
        for (const one of owners) one.onPledge = () => {};
        resolve({ member, endedMs: ms });
      };
      for (const owner of owners)
        owner.onPledge = ({ room, ms }) => {
          if (--left <= 0) killOwnerOf(room, ms);
        };
      // If fewer requests were acknowledged, kill after all of them.
      void Promise.all(bursts.map((burst) => burst())).then(() => killOwnerOf(owners[0]!.room, nowMs()));
    });
    fleet.remove(member);
    fleet.kills.push({ by: member.name, ms: endedMs });
    await fleet.add();
    // Unacknowledged requests are covered by `kill`.
    return nothing;
  },

  /** kill -9 of all but one at once. */
  killMost: async (stage) => {
    const { fleet } = stage;
    const [, ...members] = [...fleet.members].sort(() => stage.random() - 0.5);
    const ends = await Promise.all(members.map(async (member) => ({ member, endedMs: await kill(fleet, member) })));
    await Promise.all(members.map(() => fleet.add()));
    return () => ends.flatMap(({ member, endedMs }) => lost(fleet, member, endedMs));
  },

  /** SIGSTOP for shorter or longer than a lease, then SIGCONT at any point of its work. */
  stop: async (stage) => {
    const member = pick(stage, stage.fleet.members);
    member.child.kill("SIGSTOP");
    await sleep(between(stage, 500, 11_000));
    member.child.kill("SIGCONT");
    return nothing;
  },

  /** SIGTERM: it hands over and ends; nothing is lost. */
  terminate: async (stage) => {
    const { fleet } = stage;
    const member = pick(stage, fleet.members);
    const startMs = nowMs();
    fleet.remove(member);
    const gone = once(member.child, "exit");
    member.child.kill("SIGTERM");
    // The signal may arrive after the request: from its log line on, the server must not be ready.
    while (member.child.exitCode === null && !member.log.some(({ msg }) => msg === "shutting down")) await sleep(5);
    const ready = await fetch(`${member.url}/readyz`).then(
      ({ status }) => status,
      () => 503,
    );
    const [code] = (await gone) as [number | null];
    const tookMs = nowMs() - startMs;
    await fleet.add();
    return () => [
      ...(code === 0 ? [] : [`${member.name} ended with ${code}`]),
      ...(ready === 503 ? [] : [`${member.name} was still ready: ${ready}`]),
      ...(tookMs <= END_MS ? [] : [`${member.name} took ${Math.round(tookMs)} ms to end`]),
      ...lost(fleet, member, startMs + tookMs, 0),
    ];
  },

  /** One server is cut off from the database without an error. */
  partition: async (stage) => {
    const { line } = pick(stage, stage.fleet.members);
    line.silence();
    await sleep(between(stage, 500, 11_000));
    line.heal();
    return nothing;
  },

  /** One server's connections to the database are reset, and again. */
  flap: async (stage) => {
    const { line } = pick(stage, stage.fleet.members);
    for (let i = 0; i < 4; i++) {
      line.break();
      await sleep(between(stage, 50, 700));
      line.heal();
      await sleep(between(stage, 50, 700));
    }
    return nothing;
  },

  /** The database crashes, stays away, and recovers. */
  database: async (stage) => {
    await stage.fleet.database.halt();
    await sleep(between(stage, 500, 9_000));
    await stage.fleet.database.resume();
    return nothing;
  },

  /** One server's time of day jumps, by up to a day ahead or back, and is corrected again. */
  clock: async (stage) => {
    const { fleet } = stage;
    const member = pick(stage, fleet.members);
    await fleet.setClock(member, Math.round(between(stage, -DAY_MS, DAY_MS)));
    for (const player of stage.players) if (stage.random() < 0.5) player.drop();
    await sleep(between(stage, 500, 11_000));
    await fleet.setClock(member, 0);
    return nothing;
  },

  /** All players lose their connections at the same moment. */
  storm: async ({ players }) => {
    for (const player of players) player.drop();
    return nothing;
  },

  /** Some members stop reading, and continue later. */
  silent: async (stage) => {
    const some = stage.players.filter(() => stage.random() < 0.5).flatMap(({ bot }) => bot ?? []);
    for (const bot of some) bot.pauseReading();
    await sleep(between(stage, 500, 6_000));
    for (const bot of some) bot.resumeReading();
    return nothing;
  },

  /** Rooms are moved on request while members grab in them. */
  rebalance: async (stage) => {
    const { url, name } = pick(stage, stage.fleet.members);
    const answer = await postJson(`${url}/api/admin/rebalance`, { rooms: 3 }, ADMIN_TOKEN);
    return () => (answer.status === 200 ? [] : [`${name} answers ${answer.status} to rebalancing`]);
  },

  /** A server is killed while another one is paused. */
  killAndStop: async (stage) => {
    const { fleet } = stage;
    const member = pick(stage, fleet.members);
    const other = pick(
      stage,
      fleet.members.filter((one) => one !== member),
    );
    other.child.kill("SIGSTOP");
    await sleep(between(stage, 0, 3000));
    const endedMs = await kill(fleet, member);
    await sleep(between(stage, 0, 7000));
    other.child.kill("SIGCONT");
    await fleet.add();
    return () => lost(fleet, member, endedMs);
  },
};
