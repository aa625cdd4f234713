/**
 * One room: its members, its ticks and its broadcasts. A worker thread runs the tick; this file chooses the inputs and
 * publishes the result. Life cycle: open (paused while no member is there) -> ticking -> disposed.
 *
 * In this file: state for others (identity to access), members (join, #welcome), store and process (inspect to
 * dispose), requests and pauses (#handle to #watchEmptiness), saved states (#saveStanding to #notTaken), ticks
 * (#runTick to #recovered).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CloseCode } from "../../shared/protocol/protocol.ts";
import type { Tuning } from "../../shared/members/tuningLimits.ts";
import type { Entry } from "../auth/auth.ts";
import { Refused } from "../auth/refused.ts";
import type { RoomAccess } from "../auth/roomAccess.ts";
import type { MemoryUse } from "../workers/memoryUse.ts";
import { type InspectResult, NO_FRAMES, type SavedState, type StepResult, type StepTask } from "../workers/messages.ts";
import { fill, type Found } from "../persistence/restore.ts";
import { CheckpointPolicy, RecoveryExhausted } from "../persistence/checkpointPolicy.ts";
import { recordedObjects, recordingOf, type RoomRecording } from "../persistence/recording.ts";
import { ActLog } from "./inputs/actLog.ts";
import { Broadcast, type Outgoing } from "./broadcast/broadcast.ts";
import type { ClientRequest } from "../../shared/protocol/fromClient.ts";
import type { DueTick } from "./ticks/tickClock.ts";
import type { Connection, Hello, Membership } from "./members/connection.ts";
import { MemberRequests } from "./inputs/memberRequests.ts";
import { InputQueue } from "./inputs/inputQueue.ts";
import { MemberList } from "./members/memberList.ts";
import { MessageRelay } from "./members/messageRelay.ts";
import { Moderation } from "./members/moderation.ts";
import { type MemberRecords, Members } from "./members/members.ts";
import type { RecentTimes } from "./ticks/recentTimes.ts";
import { RoomFacts } from "./roomFacts.ts";
import { RoomEvents } from "./roomEvents.ts";
import type { SceneTemplate } from "./scenes/sceneLibrary.ts";
import {
  encodeAccess,
  encodeGrabs,
  encodeMembers,
  encodeNotice,
  encodePong,
  encodeReset,
  encodeStats,
  encodeWelcome,
} from "../../shared/protocol/fromServer.ts";
import type { Session } from "./members/session.ts";
import type { Input } from "../sim/types.ts";
import { type Rebuilt, type Recovered, RoomSimulation } from "./ticks/simulation.ts";
import { FrameSchedule } from "./ticks/frameSchedule.ts";
import { type DueRun, Ticker } from "./ticks/ticker.ts";
import { TickStats } from "./ticks/tickStats.ts";
import { Talk } from "./members/talk.ts";
import { JournalDiffers } from "./recovery/probation.ts";
import { traceInput, traceTick } from "./trace.ts";
import { continuesElsewhere, type RoomOptions } from "./roomOptions.ts";
import { isCharged, ThreadLost } from "../workers/threadLost.ts";
import { Undo } from "./inputs/undo.ts";
import { welcomeOf } from "./members/welcome.ts";

const STATS_MS = 1000;
/** Interval between two state hashes, s. A replay compares its own hashes with them. */
const HASH_SECONDS = 1;
/** Length of the probation of a restored room, s of ticks. */
const PROBATION_SECONDS = 2;
/** A newcomer is welcomed once it is stored, or after this time if the store is away, ms. */
const WELCOME_MS = 1000;
/** Pause per member before members are stored, ms: 1 ms in a room of ten, 0.1 s in one of a thousand. */
const STORE_MS_PER_MEMBER = 0.1;

const checkpointPolicyOf = ({ template, config, quarantine, saveTurns }: RoomOptions): CheckpointPolicy =>
  new CheckpointPolicy(template.layout.tickHz, config.historySeconds, quarantine === null, saveTurns);

export class Room {
  readonly name: string;
  readonly scene: string;
  readonly pool: "shared" | "dedicated";
  readonly createdAt: Date;
  readonly members: Members;
  /** Held bodies: they blew up, or they intersected from the start and the scene asks to hold such bodies. */
  readonly held = new Set<number>();
  readonly facts: RoomFacts;
  /** History in memory and the decision when to take checkpoints. */
  readonly checkpointPolicy: CheckpointPolicy;
  readonly #options: RoomOptions;
  readonly #simulation: RoomSimulation;
  readonly #ticker: Ticker;
  readonly #queue = new InputQueue();
  readonly #requests: MemberRequests;
  /** Permissions of roles, and kicks. */
  readonly moderation: Moderation;
  readonly #broadcast: Broadcast;
  readonly #relay: MessageRelay;
  readonly #talk: Talk;
  readonly #events: RoomEvents;
  readonly #undo: Undo;
  readonly #frames: FrameSchedule;
  readonly #memberList: MemberList;
  readonly #stats: TickStats;
  /** On the clock of performance.now(). */
  readonly openedMs = performance.now();
  #statsTimer: NodeJS.Timeout | null = null;
  #emptyTimer: NodeJS.Timeout | null = null;
  /** The room is restored and paused until its first member returns. */
  #awaited = false;
  /** The first member has returned, and ticks start as soon as the store knows. */
  #beginning = false;
  /** Ticks left of the probation. */
  #probationTicks = 0;
  /** The probation has begun, so its attempt counts. */
  #tried = false;
  #disposed: Promise<void> | null = null;
  #cutOff = false;
  /** The write that stores newcomers; null: none is scheduled. */
  #storing: Promise<void> | null = null;
  /** Above 0: the room stays paused even if members join, because it is handed over, undone or quarantined. */
  #still = 0;
  #saidFull = false;

  private constructor(options: RoomOptions, checkpointPolicy: CheckpointPolicy, simulation: RoomSimulation) {
    const { config, template, metrics } = options;
    this.#options = options;
    this.checkpointPolicy = checkpointPolicy;
    this.#simulation = simulation;
    this.name = options.name;
    this.scene = options.scene;
    this.createdAt = new Date(options.createdAt ?? Date.now());
    this.pool = options.pool.kind;
    this.facts = new RoomFacts(template.shape.spawnable, template.layout.tuned);
    this.#frames = new FrameSchedule(template.layout.tickHz, config.sendHz);
    this.members = new Members({
      maxMembers: config.maxMembers,
      perAddress: config.membersPerAddress,
      resumeSeconds: config.resumeSeconds,
      onChanged: () => this.#membersChanged(),
      onRelease: (session) => this.#requests.release(session),
    });
    this.#broadcast = new Broadcast(this.members.sessions, metrics, template.layout.tickHz);
    this.#memberList = new MemberList(() =>
      this.#broadcast.certain(encodeMembers(this.members.sessions.values()), "members"),
    );
    this.#relay = new MessageRelay(this.members.sessions, this.#broadcast, metrics);
    this.#talk = new Talk(this.#broadcast, metrics);
    this.#requests = new MemberRequests(this.members.sessions, this.#queue, template.shape, metrics);
    const { name: room, access, audit, log } = options;
    this.moderation = new Moderation({
      room,
      access,
      audit,
      metrics,
      log,
      members: this.members,
      onAccess: () => this.#broadcast.certain(encodeAccess(access.state), "other"),
      onSilenced: (member) => {
        this.#talk.forget(member);
        for (const input of this.facts.removalsOf(member)) this.#queue.push(input);
      },
    });
    const acts = new ActLog(this.tickHz);
    this.#events = new RoomEvents({
      room,
      tickHz: this.tickHz,
      scene: this.scene,
      held: this.held,
      facts: this.facts,
      onTuned: () => this.#keepPace(this.facts.tuning),
      sessions: this.members.sessions,
      requests: this.#requests,
      acts,
      broadcast: this.#broadcast,
      metrics,
      log,
    });
    this.#undo = this.#makeUndo(acts);
    this.#stats = new TickStats(template.layout.tickHz, template.budget);
    this.#ticker = new Ticker(template.layout.tickHz, (due) => this.#runTick(due), options.phases);
    this.#keepPace(this.facts.tuning);
    this.#watchEmptiness();
  }

  #makeUndo(acts: ActLog): Undo {
    const { audit, metrics, durable } = this.#options;
    return new Undo({
      room: this,
      acts,
      simulation: this.#simulation,
      queue: this.#queue,
      requests: this.#requests,
      events: this.#events,
      broadcast: this.#broadcast,
      audit,
      metrics,
      durable,
      pause: () => this.#pause(),
    });
  }

  static async open(options: RoomOptions): Promise<Room> {
    return new Room(options, checkpointPolicyOf(options), await RoomSimulation.open(options.template, options.pool));
  }

  /** Restores a stored room at its last written tick. @throws JournalDiffers (rejects) */
  static async restore(options: RoomOptions, found: Found): Promise<{ room: Room; rebuilt: Rebuilt }> {
    const checkpointPolicy = checkpointPolicyOf(options);
    const until = fill(checkpointPolicy.history, found);
    const { simulation, rebuilt } = await RoomSimulation.restore(
      options.template,
      options.pool,
      checkpointPolicy.history.rebuild(until),
    );
    if (rebuilt.differs) {
      options.pool.memoryEnded();
      throw new JournalDiffers(rebuilt.differs);
    }
    const room = new Room(options, checkpointPolicy, simulation);
    room.#events.standAt(rebuilt, room.tick);
    room.#probationTicks = PROBATION_SECONDS * room.tickHz;
    // The room stays paused until its first member returns. Members then find it unchanged, and threads have capacity
    // when a hundred rooms are restored at once.
    room.#awaited = true;
    if (found.members) room.members.restore(found.members as MemberRecords);
    // Every member's socket was lost, so release all grabs.
    for (const session of room.members.sessions.values())
      room.#queue.push({ type: "releaseAll", member: session.member });
    return { room, rebuilt };
  }

  get identity(): string {
    return this.#options.template.identity;
  }

  get tickHz(): number {
    return this.#options.template.layout.tickHz;
  }

  /** Ticks between two frames. */
  get sendTicks(): number {
    return this.#frames.sendTicks;
  }

  /** Sets the tick rate for a time scale. At time scale 0 the room ticks at the scene's rate (sim/world.ts). */
  #keepPace({ timeScale }: Tuning): void {
    this.#ticker.setRate(timeScale || 1);
    this.#stats.setRate(timeScale || 1, performance.now());
  }

  get template(): SceneTemplate {
    return this.#options.template;
  }

  /** Returns a recording of the last minutes. @param seconds least length, if the history reaches so far back */
  record(seconds?: number): RoomRecording {
    const { text, identity, topologyHash, shapes } = this.#options.template;
    return recordingOf(
      this.checkpointPolicy.history,
      {
        room: this.name,
        scene: this.scene,
        sceneText: text,
        identity,
        topology: topologyHash,
        tickHz: this.tickHz,
        recordedAt: new Date().toISOString(),
        memoryMb: this.#simulation.memory.limit / 2 ** 20,
        ...recordedObjects(shapes),
      },
      seconds,
    );
  }

  /** Sends an operator's message to all members. */
  announce(text: string): void {
    this.#broadcast.certain(encodeNotice("ANNOUNCEMENT", { text }), "other");
  }

  /** Goes back in time by this many seconds, or as far as the history reaches. @returns the room's new tick */
  undo(seconds: number): Promise<number> {
    return this.#undo.goBack(this.tick - Math.round(seconds * this.tickHz), seconds, 0);
  }

  settings(): Record<string, unknown> {
    return this.access.toSettings();
  }

  /** The room was restored and is in its probation: it may still crash the process. */
  get onProbation(): boolean {
    return this.#probationTicks > 0 && this.#tried && !this.#disposed;
  }

  memberRecords(): MemberRecords {
    return this.members.records();
  }

  /** Wire tick: counts steps and continues through resets. It decreases only when the room goes back. */
  get tick(): number {
    return this.checkpointPolicy.history.tick;
  }

  /** Step times in the worker, and the bytes of the room's memory. */
  get costs(): { stepTimes: RecentTimes; memory: MemoryUse } {
    return { stepTimes: this.#stats.recent, memory: this.#simulation.memory };
  }

  /** Share of its thread's time in the last seconds. */
  get share(): number {
    return this.#stats.share(performance.now());
  }

  /** The room is neither on probation nor being handed over or undone. */
  get isSettled(): boolean {
    return this.#still === 0 && !this.#disposed && !this.#awaited && !this.#beginning && this.#probationTicks === 0;
  }

  /** Simulated time over wall time in the last second. */
  get dilation(): number {
    return this.#stats.dilation(performance.now());
  }

  /** Positions that members were sent last, in grid units of each body; null: none yet. */
  get sentFrame(): RoomSimulation["sentFrame"] {
    return this.#simulation.sentFrame;
  }

  /** URL at which visitors reach this process; undefined: not configured. */
  get publicUrl(): string | undefined {
    return this.#options.config.publicUrls[0];
  }

  get access(): RoomAccess {
    return this.#options.access;
  }

  /**
   * @param entry the admission that was granted to this hello
   * @throws Refused if the room is full or has ended meanwhile
   * @returns null: the connection has closed meanwhile
   */
  async join(connection: Connection, hello: Hello, entry: Entry): Promise<Membership | null> {
    if (this.#cutOff) throw new Refused(CloseCode.restarting, "the server is cut off from its store", "no_room");
    const session = this.members.resume(connection, hello, entry) ?? (await this.#admit(connection, hello, entry));
    return session && this.#welcome(session, connection, entry);
  }

  /** Stores a new session before it is announced, so that it survives the process from its first moment. */
  async #admit(connection: Connection, hello: Hello, entry: Entry): Promise<Session | null> {
    const session = this.members.reserve(hello, entry);
    // All members are stored in one write, instead of one for each of a thousand simultaneous joins.
    this.#storing ??= sleep(this.members.sessions.size * STORE_MS_PER_MEMBER).then(() => {
      this.#storing = null;
      return this.#options.durable().catch(() => {}); // Not stored: the session then ends with the process.
    });
    await Promise.race([this.#storing, sleep(WELCOME_MS, undefined, { ref: false })]);
    const ended = this.#disposed !== null || this.#cutOff;
    this.members.arrive(session, connection.isOpen && !ended ? connection : null);
    if (ended) throw new Refused(CloseCode.restarting, "the room has moved or ended", "no_room");
    return session.connection && session;
  }

  #welcome(session: Session, connection: Connection, entry: Entry): Membership {
    connection.send(encodeWelcome(welcomeOf(this, session, entry, this.publicUrl)), "other");
    connection.send(encodeAccess(this.access.state), "other");
    for (const bytes of this.facts.all(this.tick)) connection.send(bytes, "other");
    this.#talk.greet(connection);
    connection.nameInLog(session.id, session.member, entry.role);
    this.#comeAlive();
    this.#membersChanged();
    return {
      handle: (request) => this.#handle(session, request),
      lost: (code) => this.members.lost(session, connection, code),
    };
  }

  /** Returns the state between two ticks, for tests and developers. */
  inspect(): Promise<InspectResult> {
    return this.#simulation.inspect();
  }

  /** Tells members that the store is away, so that changes from now on may be lost. */
  tellStoreAway(): void {
    this.#broadcast.certain(encodeNotice("STORE_AWAY", {}), "other");
  }

  /**
   * Pauses the room while this process is cut off from the store and cannot prove its lease. Members are disconnected,
   * so that they can find the room at another process. Once the lease is known again, the room continues here.
   */
  cutOff(isCutOff: boolean): void {
    if (this.#cutOff === isCutOff || this.#disposed) return;
    this.#cutOff = isCutOff;
    if (isCutOff) this.members.suspend(CloseCode.restarting, "the server is cut off from its store");
    else this.members.expectAll();
  }

  /** Closes the room after its lease is lost, because another process may step it now. */
  leaseLost(): void {
    void this.dispose(CloseCode.restarting, "the room moved to another process");
  }

  /** Pauses the room, stores its state so that another process can continue it, and ends it here. */
  async handOver(save: () => Promise<void>): Promise<void> {
    this.#pause();
    try {
      await this.#saveStanding();
      await save();
    } finally {
      await this.dispose(CloseCode.restarting, "the server restarts");
    }
  }

  /**
   * Starts the ticks of a restored room when its first member returns. The store records the probation first, because a
   * tick may crash the process.
   */
  #comeAlive(): void {
    if (!this.#awaited || this.#beginning) return;
    this.#beginning = true;
    const probation = this.#probationTicks > 0 ? this.#options.probation : undefined;
    void (probation?.begin(() => (this.#tried = true)) ?? Promise.resolve()).then(() => {
      this.#beginning = false;
      this.#awaited = false;
      if (this.#disposed) return this.#options.probation?.end();
      this.#watchEmptiness();
    });
  }

  /** Ends a room that cannot be stepped. With a store it is quarantined for an operator; without one it closes. */
  async #giveUp(error: unknown): Promise<void> {
    if (this.#disposed) return;
    const { quarantine, log } = this.#options;
    log.error({ room: this.name, err: error }, "the room cannot be stepped any more");
    if (quarantine === null) return this.dispose(CloseCode.roomGone, "the simulation failed");
    this.#pause();
    try {
      await quarantine("steps", (error as Error).message);
    } catch (failure) {
      log.error({ room: this.name, err: failure }, "a room could not be quarantined");
    }
    await this.dispose(CloseCode.quarantined, "the room is quarantined: the simulation failed");
  }

  /** Ends the room: stops its ticks and closes every socket. Resolves when its last task is done. */
  dispose(code: number, reason: string): Promise<void> {
    this.#disposed ??= (async () => {
      this.#tickWhile(false);
      if (this.#emptyTimer) clearTimeout(this.#emptyTimer);
      this.#memberList.stop();
      this.members.closeAll(code, reason);
      this.#options.probation?.end();
      this.#options.onDisposed(this, continuesElsewhere(code) ? "elsewhere" : "over");
      this.#options.log.info({ room: this.name, reason }, "room closed");
      await this.#simulation.close();
    })();
    return this.#disposed;
  }

  #handle(session: Session, request: ClientRequest): void {
    traceInput(this.name, session.member, request.type);
    if (request.type === "hello" || !this.moderation.allows(session, request)) return;
    switch (request.type) {
      case "ping":
        return session.connection?.send(encodePong(request.clientTimeMs, this.tick), "other");
      case "needKeyframe":
        return void (session.needsKeyframe = true);
      case "kick":
      case "access":
        return this.moderation.handle(session, request);
      case "undo":
        return this.#undo.handle(session, request);
      case "message":
        return this.#relay.handle(session, request);
      case "react":
      case "say":
        return this.#talk.handle(session, request);
      default:
        this.#requests.handle(session, request);
    }
  }

  /** @returns a function that lets the room continue */
  #pause(): () => void {
    this.#still += 1;
    this.#tickWhile(false);
    return () => {
      this.#still -= 1;
      this.#watchEmptiness();
    };
  }

  #membersChanged(): void {
    this.#watchEmptiness();
    this.#memberList.changed();
  }

  /** Runs the room while it has sessions. An empty room is paused and closes after emptyRoomSeconds. */
  #watchEmptiness(): void {
    if (this.#disposed || this.#still > 0) return;
    if (this.members.sessions.size > 0) {
      if (this.#emptyTimer) clearTimeout(this.#emptyTimer);
      this.#emptyTimer = null;
      if (!this.#awaited) this.#tickWhile(true);
      return;
    }
    this.#tickWhile(false);
    if (this.#probationTicks > 0 && !this.#beginning && !this.#awaited) {
      this.#awaited = true;
      this.#tried = false;
      this.#options.probation?.end();
    }
    if (this.checkpointPolicy.moved) void this.#saveStanding();
    this.#emptyTimer ??= setTimeout(
      () => void this.dispose(CloseCode.roomGone, "empty"),
      1000 * this.#options.config.emptyRoomSeconds,
    );
    this.#emptyTimer.unref();
  }

  /** Saves the state of a paused room, so that a restore has no ticks to step again. Never rejects. */
  async #saveStanding(): Promise<void> {
    try {
      const saved = await this.#simulation.save((charged) => this.checkpointPolicy.afterLoss(charged));
      if (this.#disposed) return;
      if (!("state" in saved)) return this.#recovered(saved);
      if (saved.tick === this.tick) await this.#keep(saved);
    } catch (error) {
      this.#notTaken(error);
    }
  }

  /** Stores a saved state. Never rejects: if it fails, the previous checkpoint remains. */
  async #keep(saved: SavedState): Promise<void> {
    try {
      await this.checkpointPolicy.saved(saved);
    } catch (error) {
      this.#notTaken(error);
    }
  }

  #notTaken(error: unknown): void {
    if (this.#disposed) return;
    if (error instanceof RecoveryExhausted) return void this.#giveUp(error);
    this.#options.metrics.persistence.failed("checkpoint");
    this.#options.log.error({ room: this.name, tick: this.tick, err: error }, "a room's checkpoint could not be taken");
  }

  /** Runs one tick: see the tree in server/README.md. Never rejects. */
  async #runTick({ dueMs, began }: DueRun): Promise<void> {
    const { metrics, log, ownedUntilMs } = this.#options;
    const startMs = performance.now();
    const untilMs = ownedUntilMs();
    if (startMs >= untilMs) return void began(startMs);
    const { oldestMs } = this.#queue;
    const task = { ...this.#composeTask(), dueMs, untilMs, share: this.#options.share() };
    try {
      const outcome = await this.#simulation.step(task, (charged) => this.checkpointPolicy.afterLoss(charged));
      // The room may have been closed during the step.
      if (this.#disposed) return;
      if (outcome.kind === "stepped") {
        const steppedMs = performance.now();
        const { result } = outcome;
        this.#begun(began(result.startMs));
        this.checkpointPolicy.stepped(task.inputs, result);
        if (this.#probationTicks > 0 && --this.#probationTicks === 0) this.#options.probation?.end();
        if (result.saved) void this.#keep(result.saved);
        this.#publish(result, task.inputs, outcome.roundTripSeconds);
        metrics.observeSent(result, Math.max(startMs, dueMs), oldestMs);
        traceTick(this.name, result, startMs, steppedMs);
      } else if (outcome.kind === "dropped") {
        this.#queue.putBack(task.inputs);
      } else if (outcome.kind === "untouched") {
        log.warn({ room: this.name, err: outcome.error }, "a tick found no running thread; it runs again");
        this.#queue.putBack(task.inputs);
      } else {
        began(startMs);
        this.#recovered(outcome, task.inputs);
      }
    } catch (error) {
      void this.#giveUp(error);
    }
  }

  /** Records when the tick began, for metrics and statistics. */
  #begun({ latenessMs, skipped }: DueTick): void {
    const { metrics } = this.#options;
    metrics.tickLatenessSeconds.observe(latenessMs / 1000);
    if (skipped > 0) {
      metrics.ticksSkipped.inc(skipped);
      metrics.ticksLimited.inc();
    }
    this.#stats.begun(latenessMs);
  }

  /**
   * Starts or pauses the ticks. Statistics go out by the clock, not by ticks, so that members see why a tick is late.
   */
  #tickWhile(ticks: boolean): void {
    this.#stats.runs(ticks, performance.now());
    if (ticks) this.#ticker.start();
    else this.#ticker.pause();
    if (ticks === (this.#statsTimer !== null)) return;
    if (this.#statsTimer) clearInterval(this.#statsTimer);
    this.#statsTimer = ticks ? setInterval(() => this.#sendStats(), STATS_MS) : null;
  }

  #sendStats(): void {
    const stats = this.#stats.take(this.members.connected, this.#broadcast.takeBytes(), performance.now());
    this.#broadcast.tick(this.tick, NO_FRAMES, [{ kind: "stats", bytes: encodeStats(stats) }]);
  }

  #composeTask(): Omit<StepTask, "room"> {
    const tick = this.tick + 1;
    const inputs = this.#queue.take();
    return {
      tick,
      inputs,
      save: this.checkpointPolicy.takeTurn(),
      hash: tick % (HASH_SECONDS * this.tickHz) === 0,
      touching: this.#broadcast.hearsContacts,
      delta: this.#frames.delta(tick, inputs.length > 0),
      ...(this.#frames.isSendTick(tick) ? this.#broadcast.wanted(tick) : { keyframe: false }),
    };
  }

  #publish(result: StepResult, inputs: Input[], roundTripSeconds: number): void {
    const { metrics, template } = this.#options;
    const { delta, keyframe } = result;
    const anyFrame = delta ?? keyframe ?? result.positions;
    metrics.observeTick(result.seconds, result.wholeSeconds, roundTripSeconds, result.work);
    metrics.observeContact(result.contact);
    if (result.unfinished) metrics.ticksUnfinished.inc();
    if (result.contact.full > 0) this.#full();
    this.#stats.stepped(result);
    this.#events.take(result, inputs);
    if (anyFrame) metrics.observeFrames(delta, keyframe, result.seconds.encode, template.layout.streamedParticles);
    // Grabs that changed go out beside the frames.
    const due = this.#frames.stepped(result.tick, result.moved, anyFrame !== null);
    const changed = due ? this.#requests.takeChanged() : [];
    const beside: Outgoing[] = changed.length > 0 ? [{ kind: "grabs", bytes: encodeGrabs(result.tick, changed) }] : [];
    if (anyFrame || beside.length > 0) this.#broadcast.tick(result.tick, result, beside);
  }

  /** Warns once that the contact memory is full at its limit. The room continues, but slower. */
  #full(): void {
    if (this.#saidFull) return;
    this.#saidFull = true;
    const { limit, full } = this.#simulation.memory;
    this.#options.log.warn(
      { room: this.name, limitBytes: limit, full },
      "a room's contact memory is full at its limit: the room runs slower",
    );
  }

  /**
   * Publishes that the room was rebuilt from its history after a thread loss. @param inputs of the lost step, if any
   */
  #recovered({ rebuilt, error }: Recovered, inputs: Input[] = []): void {
    const { log, metrics } = this.#options;
    const outcome = this.checkpointPolicy.takeOutcome();
    const { triedAlone: alone } = this.checkpointPolicy;
    if (outcome === "again") this.#queue.putBack(inputs);
    const charged = isCharged(error);
    const reason = error instanceof ThreadLost ? error.reason : "error";
    const { tick, ticks, seconds } = rebuilt;
    log.error(
      { room: this.name, tick, ticks, seconds, reason, charged, outcome, alone, err: error },
      "a thread was lost inside a step; the room continues from its last whole tick",
    );
    metrics.persistence.restored(charged ? "thread" : "beside", seconds, ticks);
    this.#events.standAt(rebuilt, this.tick);
    this.#broadcast.certain(encodeNotice("ROOM_RESTORED", { tick: rebuilt.tick }), "other");
    if (outcome !== "anew") return;
    this.#requests.dropAll();
    this.#queue.clear();
    this.#broadcast.certain(encodeReset(this.tick, 0), "other");
  }
}
