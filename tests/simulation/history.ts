/**
 * Runs one history: the plan's servers, visitors and faults in virtual time, checked by the model throughout. Then all
 * faults are healed and every room has to return. Then all servers are killed at once, and every room has to return
 * again.
 */
import type { Lease, Quarantined } from "../../server/store/store.ts";
import { Random } from "../fuzz/random.ts";
import { Database } from "./database.ts";
import { CALM_MS, MAY_LOSE_MS, strike } from "./faults.ts";
import type { Loaded } from "./load.ts";
import { Model, type Request, type RoomModel, Violation } from "./serviceModel.ts";
import { World } from "./physics.ts";
import type { Action, Fault, Plan } from "./plan.ts";
import { judgeRecording } from "./recordings.ts";
import { Place, Server } from "./virtualServer.ts";
import { Timeline } from "./timeline.ts";
import { Visitor } from "./visitor.ts";

/**
 * Everything is back within this time after the last fault, ms: a lease, the poll intervals of a takeover, and a
 * restore.
 */
const BACK_MS = 12_000;
const LOOK_MS = 100;
/** Faults during which processes still reach each other, and the time to learn of each other, in lease terms. */
const LINES_HOLD: ReadonlySet<Fault> = new Set(["kill", "end", "thread", "handover"]);
const KNOWN_TERMS = 0.5;

/** Server code and simulated machines. Loaded once, reused by all histories. */
export interface Stage {
  places: Place[];
  database: Database;
  /** Hash of the server code under test. */
  program: string;
}

const MOST_SERVERS = 3;

export function makeStage({ hash, load }: Loaded): Stage {
  const places = Array.from({ length: MOST_SERVERS }, () => new Place(load));
  return { places, database: new Database(load, new Place(load).machine), program: hash };
}

export interface Outcome {
  seed: number;
  violation: { rule: string; message: string } | null;
  /** Virtual duration, ms; number of events; number of ticks. */
  endMs: number;
  events: number;
  ticks: number;
  /** Log of the history, one line an event; empty unless requested. */
  lines: string[];
}

export class History {
  readonly plan: Plan;
  readonly timeline = new Timeline();
  readonly database: Database;
  readonly servers: Server[];
  readonly visitors: Visitor[];
  readonly requests: Request[];
  readonly model: Model;
  readonly random: Random;
  readonly lines: string[] = [];
  /** Time since which the database has no fault, ms. */
  healthySinceMs = 0;
  ticks = 0;
  readonly #told: boolean;
  #failure: Error | null = null;

  constructor(plan: Plan, { places, database }: Stage, told: boolean) {
    this.plan = plan;
    this.#told = told;
    this.random = new Random(plan.seed);
    const { timeline } = this;
    this.database = database;
    database.attach(timeline, plan.seed, plan.leaseSeconds);
    this.model = new Model({
      leaseSeconds: plan.leaseSeconds,
      nowMs: () => timeline.nowMs,
      position: () => database.position,
      start: (scene) => new World(scene).hash,
    });
    database.onCommit = (commit, late) =>
      this.#judge(() => {
        this.model.committed(commit, late);
        if (commit.method === "quarantine") this.#judgeQuarantine(commit.args);
      });
    this.servers = plan.rates.map((rate, i) => this.#server(places[i]!, i, rate));
    this.requests = Array.from({ length: plan.rooms }, (_, i) => this.model.expect(`scene-${i}`));
    this.visitors = this.requests.flatMap((request, r) =>
      Array.from({ length: plan.visitorsPerRoom }, (_, i) => this.#visitor(request, r, i)),
    );
  }

  readonly note = (who: string, text: () => string): void => {
    if (this.#told)
      this.lines.push(`${(this.timeline.nowMs / 1000).toFixed(4).padStart(9)}  ${who.padEnd(10)} ${text()}`);
  };

  async run(): Promise<Outcome> {
    const { timeline, plan } = this;
    for (const server of this.servers) server.start();
    for (const action of plan.actions) timeline.after(action.atMs, null, () => this.#do(action));
    try {
      await this.#until(() => timeline.nowMs >= plan.lengthMs, plan.lengthMs);
      this.heal();
      this.note("everybody", () => "all is healed");
      await this.#back();
      if (this.database.failedOver) await this.#calm();
      for (const server of this.servers) this.kill(server);
      this.note("everybody", () => "is killed");
      for (const server of this.servers) server.start();
      await this.#back();
      this.note("everybody", () => "is back");
    } catch (error) {
      this.#failure ??= error as Error;
    } finally {
      for (const server of this.servers) server.kill();
    }
    return this.#outcome();
  }

  /** Waits until calls from the time of the fault have timed out, and until owners have restored the replica. */
  async #calm(): Promise<void> {
    const { servers, model, timeline } = this;
    const sinceMs = Math.max(this.healthySinceMs, ...servers.map(({ disturbedMs }) => disturbedMs));
    await this.#until(() => false, sinceMs + CALM_MS - timeline.nowMs);
    for (const server of servers) model.holds(this.servedBy(server), server.process, timeline.nowMs - MAY_LOSE_MS);
  }

  #outcome(): Outcome {
    const failure = this.#failure;
    const violation = failure && {
      rule: failure instanceof Violation ? failure.rule : "no error",
      message: failure instanceof Violation ? failure.message : `${failure.stack}`,
    };
    if (violation) this.note("VIOLATED", () => violation.message);
    const { timeline, ticks, lines, plan } = this;
    return { seed: plan.seed, violation, endMs: timeline.nowMs, events: timeline.events, ticks, lines };
  }

  /** A violation in another participant's callback ends the history. */
  #judge(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failure ??= error as Error;
    }
  }

  /** Runs events until `done`, at most for `withinMs` of virtual time. @throws Error the history's first violation */
  async #until(done: () => boolean, withinMs: number): Promise<void> {
    const { timeline } = this;
    const endMs = timeline.nowMs + withinMs;
    timeline.after(withinMs, null, () => {});
    await timeline.run(() => this.#failure !== null || done() || timeline.nowMs >= endMs);
    if (this.#failure) throw this.#failure;
  }

  #server(place: Place, index: number, rate: number): Server {
    const { plan, timeline, database, note } = this;
    const { kind, leaseSeconds, tickHz, stepSeconds, seed, oneMachine } = plan;
    return new Server({
      place,
      number: index + 1,
      timeline,
      database,
      kind,
      leaseSeconds,
      tickHz,
      stepSeconds,
      identity: plan.versions && index === plan.servers - 1 ? "other version" : "version",
      rate,
      seed: seed * 7 + index,
      note,
      isCertainlyDead: (asker, name) =>
        (oneMachine || name.startsWith(`${asker.number}.`)) &&
        !this.servers.some((server) => server.process === name && server.up),
      began: (room, process, world) => this.#judge(() => this.model.began(room, process, world)),
      stepped: (room, process, before, world) => {
        this.ticks += 1;
        this.#judge(() => this.model.stepped(room, process, before, world));
      },
    });
  }

  #visitor(request: Request, r: number, i: number): Visitor {
    const { servers, timeline, random, model, note } = this;
    return new Visitor({
      name: `${i === 0 ? "owner" : "guest"}-${r}`,
      owner: i === 0,
      request,
      servers,
      timeline,
      random,
      model,
      note,
      fails: (error) => this.fails(error),
      judge: (work) => this.#judge(work),
    });
  }

  /**
   * A process that cannot read a room leaves it to processes that can and have announced themselves. If connections
   * fail, they may be unknown. An ending process cannot take it either: "`SIGTERM` ends the server cleanly: no new
   * rooms" (OPERATIONS.md).
   */
  #judgeQuarantine(args: readonly unknown[]): void {
    const [{ room }, { reason, identity }] = args as [Lease, Quarantined];
    const { plan, timeline, servers } = this;
    // In the simulation a tick completes if no other room's work interferes.
    if (reason === "steps")
      throw new Violation("no room is quarantined for other rooms' losses", `${room} is quarantined`);
    const linesHold = plan.actions.every((action) => action.do !== "fault" || LINES_HOLD.has(action.fault));
    if (reason !== "version" || !linesHold) return;
    const knownMs = timeline.nowMs - KNOWN_TERMS * 1000 * plan.leaseSeconds;
    const able = servers.find(
      (server) => server.answers && !server.ending && server.identity === identity && server.disturbedMs < knownMs,
    );
    if (able)
      throw new Violation(
        "a room is left to processes that can read it",
        `${room} is quarantined, although ${able.name} could continue it`,
      );
  }

  /** Rooms that the server owns and has open. A server closes a room that it has given up. */
  servedBy({ process, running }: Server): RoomModel[] {
    return this.model.ownedBy(process).filter(({ name }) => running?.registry.find(name));
  }

  /** Records an error that should not have been thrown. */
  fails(error: Error): void {
    this.#failure ??= error;
  }

  kill(server: Server): void {
    const { process } = server;
    server.kill();
    for (const visitor of this.visitors) visitor.serverDied(process);
  }

  /** Ends all faults and starts dead servers. */
  heal(): void {
    this.database.heal();
    this.healthySinceMs = this.timeline.nowMs;
    for (const server of this.servers) {
      if (!server.up) server.start();
      server.line.heal();
      server.physics.losses = [];
      if (server.machine.stopped) this.timeline.thaw(server.machine);
    }
  }

  #do(action: Action): void {
    const { random, requests, servers, visitors } = this;
    switch (action.do) {
      case "create":
        return void this.#create(requests[action.room]!, servers[action.server]!);
      case "come":
        return visitors[action.visitor]!.come();
      case "drop":
        return visitors[action.visitor]!.drop();
      case "input":
        return visitors[action.visitor]!.pull(action.input);
      case "change": {
        const [owner, guest] = visitors.filter(({ request }) => request === requests[action.room]);
        const { setting } = action;
        if (setting !== "ban")
          return owner!.change(
            setting,
            setting === "password" ? random.pick(["secret word", null]) : random.chance(0.5),
          );
        return guest && owner!.change("ban", true, guest);
      }
      case "undo":
        return void this.#undo(requests[action.room]!, action.seconds);
      case "delete":
        return void this.#delete(requests[action.room]!);
      case "record":
        return this.#recordings(requests[action.room]!.room);
      case "fault":
        return strike(this, action);
    }
  }

  /** Creates with a key and without a name, so that a repeated request returns the room that it created. */
  async #create(request: Request, server: Server): Promise<void> {
    if (!server.answers || request.deletion !== "none") return;
    const { scene } = request;
    request.creations += 1;
    const made = await server.call(async ({ registry }) => {
      try {
        return (await registry.create({ scene, key: `key of ${scene}` })).room.name;
      } catch (error) {
        const { listing } = error as { listing?: { name: string } };
        if (listing) return listing.name;
        throw error;
      }
    });
    request.creations -= 1;
    this.note(
      "visitor",
      () =>
        `asks ${server.name} for a room: ${made === null ? "no answer" : "error" in made ? made.error.message : made.answer}`,
    );
    if (made && "answer" in made) this.#judge(() => this.model.roomTold(request, made.answer));
  }

  async #undo(request: Request, seconds: number): Promise<void> {
    const { room } = request;
    if (room?.deletion !== "none" || room.undo) return;
    const { model, plan } = this;
    const owner = this.visitors.find((visitor) => visitor.request === request)!;
    let asked: ReturnType<Model["undoAsked"]> | undefined;
    const outcome = await owner.atRoom(async (served, server) => {
      if (room.undo) throw new Error("an undo is pending already");
      asked = model.undoAsked(room, server.process, seconds, plan.tickHz);
      return served.undo(seconds);
    });
    this.note(
      "owner",
      () =>
        `asks for an undo of ${seconds.toFixed(1)} s: ${outcome === null ? "no answer" : "error" in outcome ? outcome.error.message : `tick ${outcome.answer}`}`,
    );
    if (asked)
      this.#judge(() => model.undoAnswered(room, asked!, outcome && "answer" in outcome ? outcome.answer : null));
  }

  async #delete({ room, creations }: Request): Promise<void> {
    // A request that arrives after the end of the room correctly creates another room.
    if (!room || typeof room.deletion === "object" || creations > 0) return;
    const { name } = room;
    const server = this.servers.find(({ answers, process }) => answers && this.model.ownerOf(name) === process);
    if (!server) return;
    room.deletion = "asked";
    const outcome = await server.call(async ({ registry }) => {
      registry.get(name);
      return registry.remove(name);
    });
    this.note(
      "owner",
      () => `deletes ${name}: ${outcome === null ? "no answer" : "error" in outcome ? outcome.error.message : "done"}`,
    );
    if (outcome && "answer" in outcome) this.model.deleted(room);
  }

  /** Replays the recording of each open room. */
  #recordings(room: RoomModel | undefined): void {
    if (!room) return;
    for (const { running, program, process } of this.servers) {
      const open = running?.registry.find(room.name);
      const tip = room.tips.get(process);
      if (open && tip) this.#judge(() => judgeRecording(program, open, tip));
    }
  }

  /**
   * Waits until every expected room is open at exactly one server that ticks it, and other rooms are open only at their
   * owners. Then checks everything that was acknowledged.
   */
  async #back(): Promise<void> {
    const { servers, model, visitors } = this;
    const endMs = this.timeline.nowMs + BACK_MS;
    for (;;) {
      const missing = [...model.rooms.values()].filter((room) => !this.#isBack(room)).map(({ name }) => name);
      if (missing.length === 0 && servers.every(({ alive }) => alive)) break;
      if (this.timeline.nowMs >= endMs)
        throw new Violation(
          "everything recovers",
          `${missing.join(", ") || "a server"} is not open at exactly one server ${BACK_MS / 1000} s after the end of all faults`,
        );
      await this.#until(() => false, LOOK_MS);
    }
    const listed = new Set((this.database.run("rooms", []) as { name: string }[]).map(({ name }) => name));
    model.judgeRooms(listed);
    for (const room of model.rooms.values()) {
      const open = servers.flatMap(({ running }) => running?.registry.find(room.name) ?? []);
      if (open.length > 1) throw new Violation("one owner", `${room.name} is open at ${open.length} servers`);
      this.#recordings(room);
      for (const served of open) visitors.find(({ request }) => request === room.request)!.judgeAccess(served);
    }
    if (this.#failure) throw this.#failure;
  }

  /**
   * A stale copy serves no members: that of a process that lost the room, or of a room that a failover removed. It
   * pauses until the store answers ("then they stand still until it is back [...] and members are sent away",
   * OPERATIONS.md), which takes time as well.
   */
  #isBack({ name, deletion, request }: RoomModel): boolean {
    const open = this.servers.filter(({ running }) => running?.registry.find(name));
    const owner = this.model.ownerOf(name);
    const mayBeAway = deletion !== "none" || request.name !== name;
    return open.every(({ process }) => process === owner) && (mayBeAway || open.length === 1);
  }
}
