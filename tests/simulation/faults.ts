/** Carries out the faults of a plan. Each fault starts here and ends after its duration. */
import { Random } from "../fuzz/random.ts";
import type { Database } from "./database.ts";
import type { Model, RoomModel } from "./serviceModel.ts";
import type { Loss } from "./physics.ts";
import type { Action } from "./plan.ts";
import type { Server } from "./virtualServer.ts";
import type { Timeline } from "./timeline.ts";
import { QUERY_TIMEOUT_MS, type LineFaults } from "./line.ts";

/** History that faults act on (history.ts). */
interface History {
  timeline: Timeline;
  database: Database;
  servers: Server[];
  model: Model;
  random: Random;
  healthySinceMs: number;
  note(who: string, text: () => string): void;
  servedBy(server: Server): RoomModel[];
  kill(server: Server): void;
}

type Harm = Extract<Action, { do: "fault" }>;

/** Ticks that a killed process may lose if nothing else was wrong, ms. The chaos suite has the same value. */
export const MAY_LOSE_MS = 500;
/** A calm time: no fault for this long, ms. */
export const CALM_MS = 2500;

type Later = (ms: number, end: () => void) => void;

export function strike(history: History, harm: Harm): void {
  const { timeline, servers, note } = history;
  const server = servers[harm.server]!;
  const { forMs, amount } = harm;
  const later: Later = (ms, end) => void timeline.after(ms, null, end);
  switch (harm.fault) {
    case "kill":
      return kill(history, server, later, forMs);
    case "end":
      return end(history, server, later, forMs);
    case "pause":
      return pause(history, server, later, forMs);
    case "cut":
      return line(history, server, harm, { questions: "lost", answers: "lost" });
    case "deaf":
      return line(history, server, harm, { answers: "lost" });
    case "late":
      return line(history, server, harm, { questions: "late" });
    case "lossy":
      return line(history, server, harm, { answerLoss: 0.3 * amount });
    case "slow":
      return line(history, server, harm, { latencyMs: 400 * amount, jitterMs: 800 * amount });
    case "clock":
      note(server.name, () => `its time of day jumps by ${(600 * (amount - 0.5)).toFixed(0)} s`);
      server.machine.skewMs = 600_000 * (amount - 0.5);
      return;
    case "handover":
      return handOver(history, server, amount);
    case "thread":
      server.physics.losses = lossesOf(amount);
      server.disturbed();
      note(
        server.name,
        () =>
          `loses threads: ${server.physics.losses.map(({ when, charged }) => `${when}${charged ? ", charged" : ""}`).join("; ")}`,
      );
      return;
    default:
      return atDatabase(history, harm, later);
  }
}

/**
 * Consecutive losses, so that some rooms are tried alone. A thread lost before an order begins is never charged to the
 * room.
 */
function lossesOf(amount: number): Loss[] {
  const random = new Random(Math.floor(amount * 2 ** 31));
  const stubborn = random.chance(0.3);
  return Array.from({ length: 1 + random.below(6) }, () => {
    const when = stubborn ? "inside" : random.pick(["before", "inside", "after"] as const);
    return { when, charged: when !== "before" && (stubborn || random.chance(0.5)) };
  });
}

/** Faults of the database, which affect all processes. */
function atDatabase(history: History, { fault, forMs, amount }: Harm, later: Later): void {
  const { database, timeline, note, random, model } = history;
  history.healthySinceMs = Infinity;
  later(forMs, () => {
    database.heal();
    history.healthySinceMs = timeline.nowMs;
  });
  const said = { full: "is full", errors: "has input/output errors", away: "is away" }[fault as string] ?? "fails over";
  note("database", () => `${said}, for ${forMs.toFixed(0)} ms`);
  if (fault === "full") database.full = true;
  else if (fault === "errors") database.errorRate = 0.5 * amount;
  else database.away = true;
  if (fault !== "failover" && fault !== "tear") return;
  const lost = random.below(1 + (fault === "tear" ? database.sinceClaim : Math.floor(30 * amount)));
  const kept = database.failOver(lost, random.chance(0.5) ? 0 : 2000 * (random.unit() - 0.5));
  model.failedOver(kept);
  note("database", () => `transactions from ${kept.length} on are lost`);
}

function pause({ timeline, note }: History, server: Server, later: Later, forMs: number): void {
  if (!server.answers) return;
  note(server.name, () => `is stopped for ${forMs.toFixed(0)} ms`);
  server.machine.stopped = true;
  server.disturbed(forMs);
  later(forMs, () => {
    if (!server.machine.stopped) return;
    note(server.name, () => "continues");
    timeline.thaw(server.machine);
  });
}

function kill(history: History, server: Server, later: Later, forMs: number): void {
  if (!server.up) return;
  const { timeline, note, model } = history;
  const { nowMs } = timeline;
  // In the calm time before, it flushed the journal several times.
  if (nowMs - Math.max(server.disturbedMs, history.healthySinceMs) >= CALM_MS)
    model.holds(history.servedBy(server), server.process, nowMs - MAY_LOSE_MS);
  note(server.name, () => "is killed");
  history.kill(server);
  later(forMs, () => {
    if (!server.up) server.start();
  });
}

/** Orderly end: nothing is lost if nothing was wrong. */
function end(history: History, server: Server, later: Later, forMs: number): void {
  if (!server.answers) return;
  const { timeline, note, model } = history;
  note(server.name, () => "is ended");
  server.ending = true;
  const { process } = server;
  const sinceMs = timeline.nowMs;
  const served = history.servedBy(server);
  void server
    .call(async ({ close }) => {
      await close();
    })
    .then((outcome) => {
      if (server.process !== process || !server.up) return;
      if (outcome && "answer" in outcome && Math.max(server.disturbedMs, history.healthySinceMs) < sinceMs - CALM_MS)
        model.holds(served, process, Infinity);
      note(server.name, () => "has ended");
      history.kill(server);
      later(forMs, () => {
        if (!server.up) server.start();
      });
    });
}

function line({ timeline, note }: History, server: Server, { fault, forMs }: Harm, faults: Partial<LineFaults>): void {
  if (!server.up) return;
  const { line: own } = server;
  note(server.name, () => `its connection to the database is ${fault} for ${forMs.toFixed(0)} ms`);
  // A call from the end of the fault waits for its answer as long as the driver does, and writes nothing meanwhile.
  server.disturbed(forMs + (fault === "slow" ? 0 : QUERY_TIMEOUT_MS));
  Object.assign(own.faults, faults);
  timeline.after(forMs, null, () => own.heal());
}

function handOver({ servers, note }: History, server: Server, amount: number): void {
  if (!server.answers) return;
  const names = server.running!.registry.list().map(({ name }) => name);
  const name = names[Math.floor(amount * names.length)];
  if (name === undefined || servers.length < 2) return;
  note(server.name, () => `hands ${name} over`);
  void server.call(async ({ cluster }) => cluster.handOver([name]));
}
