/** What goes wrong, done: each fault of a plan begins here, and ends by itself. */
import type { History } from "./history.ts";
import type { Action } from "./plan.ts";
import type { Server } from "./server.ts";
import type { LineFaults } from "./line.ts";

type Harm = Extract<Action, { do: "fault" }>;

/** What a killed process may lose of what it had stepped while nothing else was wrong, ms: the chaos suite's, too. */
const MAY_LOSE_MS = 500;
/** Nothing was wrong for so long, ms. */
const CALM_MS = 2500;

export function strike(history: History, harm: Harm): void {
  const { database, timeline, servers, note, random } = history;
  const server = servers[harm.server]!;
  const { forMs, amount } = harm;
  const later = (ms: number, end: () => void): void => void timeline.after(ms, null, end);
  const forAll = (begin: () => void, end: () => void): void => {
    begin();
    history.healthySinceMs = Infinity;
    later(forMs, () => {
      end();
      history.healthySinceMs = timeline.nowMs;
    });
  };
  switch (harm.fault) {
    case "kill":
      if (server.up) kill(history, server, later, forMs);
      return;
    case "end":
      if (server.answers) end(history, server, later, forMs);
      return;
    case "pause":
      if (!server.answers) return;
      note(server.name, () => `is stopped for ${forMs.toFixed(0)} ms`);
      server.machine.stopped = true;
      server.disturbed();
      later(forMs, () => {
        if (!server.machine.stopped) return;
        note(server.name, () => "goes on");
        server.disturbed();
        timeline.thaw(server.machine);
      });
      return;
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
    case "full":
      note("database", () => `is full for ${forMs.toFixed(0)} ms`);
      return forAll(
        () => (database.full = true),
        () => (database.full = false),
      );
    case "errors":
      note("database", () => `has input/output errors for ${forMs.toFixed(0)} ms`);
      return forAll(
        () => (database.errorRate = 0.5 * amount),
        () => (database.errorRate = 0),
      );
    case "away":
      note("database", () => `is away for ${forMs.toFixed(0)} ms`);
      return forAll(
        () => (database.away = true),
        () => (database.away = false),
      );
    case "tear":
    case "failover": {
      const lost = random.below(1 + Math.floor(30 * amount));
      const kept = database.failOver(lost, random.chance(0.5) ? 0 : 2000 * (random.unit() - 0.5));
      history.model.failedOver(kept);
      note("database", () => `fails over: transactions from ${kept.length} on are lost`);
      return forAll(
        () => (database.away = true),
        () => (database.away = false),
      );
    }
    case "clock":
      note(server.name, () => `its time of day jumps by ${(600 * (amount - 0.5)).toFixed(0)} s`);
      server.machine.skewMs = 600_000 * (amount - 0.5);
      return;
    case "handover":
      return handOver(history, server, amount);
    case "thread":
      server.physics.lose = amount < 0.33 ? "before" : amount < 0.66 ? "inside" : "after";
      server.disturbed();
      note(server.name, () => `loses a thread ${server.physics.lose} its next step`);
      return;
  }
}

function kill(history: History, server: Server, later: (ms: number, end: () => void) => void, forMs: number): void {
  const { timeline, note, model } = history;
  const { nowMs } = timeline;
  // Between the look of a calm time and now it flushed, several times over.
  if (nowMs - Math.max(server.disturbedMs, history.healthySinceMs) >= CALM_MS)
    model.holds(model.ownedBy(server.process), server.process, nowMs - MAY_LOSE_MS);
  note(server.name, () => "is killed");
  history.kill(server);
  later(forMs, () => {
    if (!server.up) server.start();
  });
}

/** In order: nothing is lost if nothing was wrong. */
function end(history: History, server: Server, later: (ms: number, end: () => void) => void, forMs: number): void {
  const { timeline, note, model } = history;
  note(server.name, () => "is ended");
  const { process } = server;
  const sinceMs = timeline.nowMs;
  const owned = model.ownedBy(process);
  void server
    .call(async ({ close }) => {
      await close();
    })
    .then((outcome) => {
      if (server.process !== process || !server.up) return;
      if (outcome && "answer" in outcome && Math.max(server.disturbedMs, history.healthySinceMs) < sinceMs - CALM_MS)
        model.holds(owned, process, Infinity);
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
  note(server.name, () => `its line to the database is ${fault} for ${forMs.toFixed(0)} ms`);
  server.disturbed();
  Object.assign(own.faults, faults);
  timeline.after(forMs, null, () => {
    own.heal();
    if (server.line === own) server.disturbed();
  });
}

function handOver({ servers, note }: History, server: Server, amount: number): void {
  if (!server.answers) return;
  const names = server.running!.registry.list().map(({ name }) => name);
  const name = names[Math.floor(amount * names.length)];
  if (name === undefined || servers.length < 2) return;
  note(server.name, () => `hands ${name} over`);
  void server.call(async ({ cluster }) => cluster.handOver([name]));
}
