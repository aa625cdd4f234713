/**
 * The required properties, written independently of the server's implementation. The model sees the committed
 * transactions, every tick with its process and the states before and after, and the answers to visitors. From these it
 * checks:
 *
 *     owner       each claim's epoch is higher than all before; a process that writes for a room has its newest epoch;
 *                 a process that steps a room owns it
 *     line        states of a room by tick, each made from the one before. A room resumes from one of them, at or
 *                 after the last whose journal was committed (`floor`), and from none that an undo has ended (`deaths`)
 *     settings    acknowledged values hold; values that were requested but not acknowledged may hold or not
 *     rooms       one for a key; it exists until its deletion is requested, and is gone once that is acknowledged
 *
 * Each room is identified by its name. A request may create several rooms: another one after the deletion of the first,
 * or after a failover has removed it. The new room shares nothing with the old one, whose owner may step it until its
 * lease ends.
 *
 * A replica that takes over without the last transactions loses the facts that these acknowledged, and nothing else.
 * Each fact stores the transaction that it depends on, and is lost with it. A process with a lease from before may step
 * until the lease ends. An owner that continues knows the lost facts (`known`), and after some calm seconds the replica
 * has them again.
 */
import type { JournalSegment, Lease, Rewritten } from "../../server/store/store.ts";
import type { Commit } from "./database.ts";
import type { World } from "./physics.ts";

/** A state of a room, made by one tick from the state before. */
export interface State {
  hash: string;
  tick: number;
  before: State | null;
  /** Last time that it was stepped: number in the order of all steps, and true time, ms. */
  born: number;
  atMs: number;
}

/** A fact that holds since a transaction. */
interface Since {
  position: number;
}

interface Setting {
  acknowledged: (Since & { value: unknown; order: number })[];
  asked: { value: unknown; order: number }[];
}

/** A change of a setting that its owner has not been answered yet. */
export interface Change {
  room: RoomModel;
  process: string;
  name: string;
  value: unknown;
  /** Transaction that it depends on; Infinity: lost by a failover; null: none yet. */
  position: number | null;
}

/** An undo that may or may not hold. */
interface Undo {
  process: string;
  /** State that the room may go back to. */
  target: State;
  /** Transaction that it depends on; Infinity: lost by a failover; null: none yet. */
  position: number | null;
  /** States from which its process resumed since the request. */
  began: { state: State; born: number }[];
  /** True if the request was answered, or no answer will come. */
  settled: boolean;
}

interface Owner extends Pick<Lease, "process" | "epoch"> {
  /** Owner that died with the room: its earlier messages may still arrive, until another process claims the room. */
  dead?: Owner;
}

/** Facts that a failover lost and that the room's owner still knows. */
interface Known extends Owner {
  settings: { name: string; value: unknown; order: number }[];
  deaths: (Since & { state: State; born: number })[];
}

/** A violated invariant. */
export class Violation extends Error {
  readonly rule: string;

  constructor(rule: string, message: string) {
    super(`${rule}: ${message}`);
    this.rule = rule;
  }
}

/** A visitor's request for a room by a key, sent once or several times. It wants only the room that it created. */
export class Request {
  readonly scene: string;
  /** Rooms that were created for it, and names that a visitor was told. */
  made: (Since & { room: RoomModel })[] = [];
  told: (Since & { name: string })[] = [];
  /** Creations that are not answered yet. */
  creations = 0;

  constructor(scene: string) {
    this.scene = scene;
  }

  get room(): RoomModel | undefined {
    return this.made.at(-1)?.room;
  }

  get name(): string | undefined {
    return this.room?.name;
  }

  get deletion(): RoomModel["deletion"] {
    return this.room?.deletion ?? "none";
  }
}

export class RoomModel {
  readonly name: string;
  readonly request: Request;
  readonly start: State;
  readonly states = new Map<string, State>();
  /** Current state in each process's memory of the room. */
  readonly tips = new Map<string, State>();
  readonly floors: (Since & { state: State })[];
  readonly deaths: (Since & { state: State; born: number })[] = [];
  readonly settings = new Map<string, Setting>();
  undo: Undo | null = null;
  change: Change | null = null;
  /** All that are not acknowledged: the process may still execute one, if a failover gives the room back to it. */
  readonly undos = new Set<Undo>();
  known: Known | null = null;
  deletion: "none" | "asked" | Since = "none";
  /** Its last transaction; Infinity: a failover has lost it, with every answer that depends on it. */
  position: number;

  /** @param start hash of the scene's first state */
  constructor(name: string, request: Request, start: string, position: number) {
    [this.name, this.request, this.position] = [name, request, position];
    this.start = { hash: start, tick: 0, before: null, born: 0, atMs: 0 };
    this.states.set(start, this.start);
    this.floors = [{ state: this.start, position: 0 }];
  }

  get floor(): State {
    return this.floors.at(-1)!.state;
  }

  setting(name: string, first: unknown): Setting {
    let setting = this.settings.get(name);
    if (!setting) {
      setting = { acknowledged: [{ value: first, order: 0, position: 0 }], asked: [] };
      this.settings.set(name, setting);
    }
    return setting;
  }
}

/** Inserts in the order of transactions: an answer may arrive long after its transaction, and after later ones. */
function insert<T extends Since>(list: T[], one: T): void {
  list.splice(list.findLastIndex(({ position }) => position <= one.position) + 1, 0, one);
}

/** Returns the ancestor of a state at a tick; null before the first state. */
function at(state: State, tick: number): State | null {
  let found: State | null = state;
  while (found !== null && found.tick > tick) found = found.before;
  return found?.tick === tick ? found : null;
}

const follows = (state: State, ancestor: State): boolean => at(state, ancestor.tick) === ancestor;

export interface ModelOptions {
  leaseSeconds: number;
  nowMs: () => number;
  position: () => number;
  /** Returns the hash of a scene's first state. */
  start: (scene: string) => string;
}

export class Model {
  /** Requests by scene; all rooms that ever existed, by name. */
  readonly requests = new Map<string, Request>();
  readonly rooms = new Map<string, RoomModel>();
  readonly #options: ModelOptions;
  #owners = new Map<string, Owner>();
  #epoch = 0;
  #born = 0;
  #orders = 0;
  /** Time until which a process may believe in a lease from before the last failover, ms. */
  #oldLeasesMs = -Infinity;
  readonly #oldOwners = new Map<string, Set<string>>();

  constructor(options: ModelOptions) {
    this.#options = options;
  }

  expect(scene: string): Request {
    const request = new Request(scene);
    this.requests.set(scene, request);
    return request;
  }

  ownerOf(name: string): string | undefined {
    return this.#owners.get(name)?.process;
  }

  // ---- transactions of the database

  committed(commit: Commit, late: boolean): void {
    this.#judgeOwner(commit);
    this.#own(commit);
    const { method, args } = commit;
    if (method === "createRoom") return this.#created(args[0] as { name: string; scene: string });
    const [lease] = args as [Partial<Lease> | string];
    const room = this.rooms.get(typeof lease === "object" ? (lease.room ?? "") : lease);
    if (!room) return;
    room.position = this.#options.position();
    const { change } = room;
    if (method === "writeSettings" && change?.process === (lease as Lease).process) change.position = room.position;
    if (method === "appendJournal" && !late) this.#journaled(room, commit);
    else if (method === "truncate") this.#truncated(room, commit, late);
  }

  #created({ name, scene }: { name: string; scene: string }): void {
    const request = this.requests.get(scene)!;
    const { room: known } = request;
    // A key is "forgotten with the room" (store.ts, createRoom): a request that arrives after the end creates another.
    if (known?.deletion === "none" && this.#owners.has(known.name))
      throw new Violation("one key, one room", `${known.name} was created for a request, and now ${name} for the same`);
    const position = this.#options.position();
    const room = new RoomModel(name, request, this.#options.start(scene), position);
    request.made.push({ room, position });
    this.rooms.set(name, room);
  }

  #journaled(room: RoomModel, { args }: Pick<Commit, "args">): void {
    const [{ process }, { until }] = args as [Lease, JournalSegment];
    const { undo } = room;
    if (undo && !(undo.settled && undo.process === process)) return;
    const tip = room.tips.get(process);
    const state = tip && at(tip, until);
    if (!state) return;
    room.undo = null;
    if (undo) room.undos.delete(undo);
    if (!follows(room.floor, state)) room.floors.push({ state, position: room.position });
  }

  #truncated(room: RoomModel, { args }: Commit, late: boolean): void {
    const [lease, tick, { segment }] = args as [Lease, number, Rewritten];
    // The first state of the scene always exists.
    const until = Math.max(0, segment?.until ?? tick);
    if (until < room.floor.tick)
      throw new Violation(
        "acknowledged ticks stay",
        `${lease.room} removes the ticks after ${until}, but tick ${room.floor.tick} was in the journal`,
      );
    for (const undo of room.undos) if (undo.process === lease.process) undo.position = room.position;
    if (segment && !late) this.#journaled(room, { args: [lease, segment] });
  }

  #judgeOwner({ method, args, result }: Commit): void {
    switch (method) {
      case "writeSettings":
      case "writeCheckpoint":
      case "appendJournal":
      case "prune":
      case "truncate":
      case "removeRoom": {
        const lease = args[0] as Lease;
        const owner = this.#owners.get(lease.room);
        const writer = owner?.dead ?? owner;
        if (writer?.process !== lease.process || writer.epoch !== lease.epoch)
          throw new Violation(
            "only the owner writes",
            `${lease.process} (epoch ${lease.epoch}) has done ${method} for ${lease.room}, which is ${owner ? `${owner.process}'s (epoch ${owner.epoch})` : "nobody's"}`,
          );
        return;
      }
      case "claim":
      case "createRoom": {
        const { epoch, room } = method === "claim" ? (result as Lease) : (result as { lease: Lease }).lease;
        if (epoch <= this.#epoch)
          throw new Violation("epochs grow", `${room} was claimed with epoch ${epoch} after ${this.#epoch}`);
        return;
      }
      default:
        return;
    }
  }

  #own({ method, args, result }: Commit): void {
    const take = ({ room, process, epoch }: Lease): void => {
      this.#owners.set(room, { process, epoch });
      this.#epoch = Math.max(this.#epoch, epoch);
    };
    const nobody = { process: "", epoch: 0 };
    const lease = args[0] as Lease;
    if (method === "claim") take(result as Lease);
    else if (method === "createRoom") take((result as { lease: Lease }).lease);
    else if (method === "removeRoom") this.#owners.delete(lease.room);
    else if (method === "endLeases")
      for (const room of result as string[]) {
        const owner = this.#owners.get(room)!;
        this.#owners.set(room, { ...nobody, dead: owner.dead ?? owner });
      }
    else if (method === "release") {
      const owner = this.#owners.get(lease.room);
      if (owner?.process === lease.process && owner.epoch === lease.epoch) this.#owners.set(lease.room, nobody);
    }
  }

  /** @param kept transactions that the replica has */
  failedOver(kept: readonly Commit[]): void {
    const { nowMs, leaseSeconds } = this.#options;
    if (nowMs() > this.#oldLeasesMs) this.#oldOwners.clear();
    this.#oldLeasesMs = nowMs() + 1000 * leaseSeconds;
    for (const [name, { process }] of this.#owners)
      this.#oldOwners.set(name, (this.#oldOwners.get(name) ?? new Set()).add(process));
    const before = this.#owners;
    this.#owners = new Map();
    this.#epoch = 0;
    for (const commit of kept) this.#own(commit);
    const { length } = kept;
    const has = ({ position }: Since): boolean => position <= length;
    const keep = (list: Since[]): void => {
      while (list.length > 0 && !has(list.at(-1)!)) list.pop();
    };
    for (const { made, told } of this.requests.values()) {
      keep(made);
      keep(told);
    }
    for (const room of this.rooms.values()) {
      this.#remember(room, before, has);
      if (room.position > length) room.position = Infinity;
      if (room.change && (room.change.position ?? 0) > length) room.change.position = Infinity;
      const back = room.floors.filter((floor) => !has(floor)).map(({ state }) => state);
      for (const list of [room.floors, room.deaths]) keep(list);
      // States before a lost undo: the owner may send them again.
      for (const state of room.known ? back : [])
        if (follows(room.floor, state)) room.floors.push({ state, position: room.floors.at(-1)!.position });
      this.#mayUndo(room, has);
      if (typeof room.deletion === "object" && !has(room.deletion)) room.deletion = "asked";
      for (const setting of room.settings.values()) {
        for (const { value, position, order } of setting.acknowledged)
          if (position > length) setting.asked.push({ value, order });
        keep(setting.acknowledged);
      }
    }
  }

  /**
   * "It could not be stored that this was done [...] It is tried again" (PROTOCOL.md, STORE_AWAY): an undo without
   * acknowledgement may hold or not, while its process has the room or when it gets the room back.
   */
  #mayUndo(room: RoomModel, has: (since: Since) => boolean): void {
    const owner = this.ownerOf(room.name);
    for (const undo of room.undos) {
      const { position, process, target } = undo;
      if (position !== null && !has({ position })) undo.position = Infinity;
      if (process !== owner) continue;
      room.undo ??= undo;
      if (follows(room.floor, target)) room.floors.push({ state: target, position: room.floors.at(-1)!.position });
    }
  }

  // ---- ticks of processes

  /** A process has created a memory of the room and resumes from its state. */
  began(name: string, process: string, world: World): void {
    const room = this.rooms.get(name)!;
    const state = room.states.get(world.hash) ?? this.#unknown(room, process, world);
    // A process that has lost the room without knowing it is harmless until it steps. It cannot know a later owner's
    // acknowledgements. Its writes do not reach the store: only the owner writes, which is checked.
    const owner = this.ownerOf(room.name);
    // A process with a lease that a failover lost knows only its own states.
    const believes = !owner && this.#mayStep(room, process) && !this.#isOn(room, process, state);
    if (owner === process || believes) this.#judgeBeginning(room, process, state);
    room.tips.set(process, state);
    if (room.undo?.process === process) room.undo.began.push({ state, born: ++this.#born });
    else if (room.undo && this.ownerOf(room.name) === process) room.undo = null;
  }

  /** Tests whether the state is an ancestor of the process's current state. */
  #isOn({ tips }: RoomModel, process: string, state: State): boolean {
    const tip = tips.get(process);
    return tip !== undefined && follows(tip, state);
  }

  #unknown(room: RoomModel, process: string, { hash, tick }: World): never {
    throw new Violation(
      "a room resumes from a state that it had",
      `${process} begins ${room.name} at tick ${tick} with the state ${hash}, which no tick has made`,
    );
  }

  #judgeBeginning(room: RoomModel, process: string, state: State): void {
    const { floor, name } = room;
    if (!follows(state, floor))
      throw new Violation(
        "acknowledged ticks stay",
        `${process} begins ${name} at tick ${state.tick}${at(floor, state.tick) === state ? "" : " of another branch"}, but tick ${floor.tick} (${floor.hash}) was acknowledged`,
      );
    const death = room.deaths.find(
      (dead) => state.tick > dead.state.tick && state.born < dead.born && follows(state, dead.state),
    );
    if (death)
      throw new Violation(
        "undone ticks stay undone",
        `${process} begins ${name} at tick ${state.tick}, which an acknowledged undo to tick ${death.state.tick} has ended`,
      );
  }

  stepped(name: string, process: string, before: string, world: World): void {
    const room = this.rooms.get(name)!;
    this.#judgeStep(room, process, world);
    const parent = room.tips.get(process)!;
    if (parent.hash !== before)
      throw new Violation(
        "a room resumes from a state that it had",
        `${process} stepped ${name} from ${before}, not ${parent.hash}`,
      );
    const { hash, tick } = world;
    const atMs = this.#options.nowMs();
    let state = room.states.get(hash);
    if (state) [state.born, state.atMs] = [++this.#born, atMs];
    else {
      state = { hash, tick, before: parent, born: ++this.#born, atMs };
      room.states.set(hash, state);
    }
    room.tips.set(process, state);
  }

  #judgeStep(room: RoomModel, process: string, { tick }: World): void {
    if (this.#mayStep(room, process)) return;
    const owner = this.ownerOf(room.name);
    throw new Violation(
      "one owner",
      `${process} stepped tick ${tick} of ${room.name}, which is ${owner ? `${owner}'s` : "nobody's"}`,
    );
  }

  /** The process owns the room, or may believe so by a lease from before a failover. */
  #mayStep({ name }: RoomModel, process: string): boolean {
    if (this.ownerOf(name) === process) return true;
    return this.#options.nowMs() <= this.#oldLeasesMs && this.#oldOwners.get(name)?.has(process) === true;
  }

  /** Rooms that the process owns. */
  ownedBy(process: string): RoomModel[] {
    return [...this.rooms.values()].filter(({ name }) => this.ownerOf(name) === process);
  }

  /**
   * Requires that all ticks of the process up to `untilMs` are kept.
   * @param untilMs true time
   */
  holds(rooms: readonly RoomModel[], process: string, untilMs: number): void {
    for (const room of rooms) {
      if (room.deletion !== "none") continue;
      this.#recall(room, process);
      if (room.undo) continue;
      let state: State | null = room.tips.get(process) ?? null;
      while (state && state.atMs > untilMs) state = state.before;
      if (state && follows(state, room.floor) && state !== room.floor)
        room.floors.push({ state, position: this.#options.position() });
    }
  }

  /** Saves the facts that a failover loses and that the continuing owner of the room still knows. */
  #remember(room: RoomModel, before: ReadonlyMap<string, Owner>, has: (since: Since) => boolean): void {
    const was = before.get(room.name);
    const is = this.#owners.get(room.name);
    if (!was || was.process === "" || was.process !== is?.process || was.epoch !== is.epoch) {
      room.known = null;
      return;
    }
    const { settings, deaths } = (room.known ??= { ...was, settings: [], deaths: [] });
    deaths.push(...room.deaths.filter((death) => !has(death)));
    for (const [name, { acknowledged }] of room.settings)
      settings.push(...acknowledged.filter((one) => !has(one)).map((one) => ({ name, ...one })));
  }

  /** Restores these facts once the owner has had time to send them to the replica. */
  #recall(room: RoomModel, process: string): void {
    const { known } = room;
    const owner = this.#owners.get(room.name);
    if (known?.process !== process || known.process !== owner?.process || known.epoch !== owner.epoch) return;
    room.known = null;
    const position = this.#options.position();
    for (const { name, value, order } of known.settings) {
      const { acknowledged } = room.settings.get(name)!;
      if ((acknowledged.at(-1)?.order ?? 0) < order) acknowledged.push({ value, order, position });
    }
    for (const death of known.deaths) room.deaths.push({ ...death, position });
  }

  // ---- requests of visitors and their answers

  undoAsked(room: RoomModel, process: string, seconds: number, tickHz: number): Undo {
    const tip = room.tips.get(process) ?? room.floor;
    const target = at(tip, Math.max(0, Math.floor(tip.tick - seconds * tickHz) - 1)) ?? room.start;
    // Until it is acknowledged the room may be at its old tick or at the target.
    const position = room.position === Infinity ? room.floors.at(-1)!.position : room.position;
    if (follows(room.floor, target)) room.floors.push({ state: target, position });
    room.undo = { process, target, position: null, began: [], settled: false };
    room.undos.add(room.undo);
    return room.undo;
  }

  /**
   * "200 {tick}: the room went back to that tick" (PROTOCOL.md): the answer depends on the transaction that truncated
   * the journal, not on later ones before the answer. A failover that loses the transaction loses the undo, unless its
   * owner continues and tells the replica.
   * @param tick in the answer; null: an error, or no answer
   */
  undoAnswered(room: RoomModel, undo: Undo, tick: number | null): void {
    undo.settled = true;
    if (tick === null) return;
    const { process, position } = undo;
    const began = undo.began.findLast(({ state }) => state.tick === tick);
    if (!began)
      throw new Violation(
        "an undo answers with its tick",
        `the answer was tick ${tick}, from which no process has resumed`,
      );
    if (position === null)
      throw new Violation(
        "an acknowledged change is stored",
        `an undo to tick ${tick} was acknowledged, but not written`,
      );
    if (position !== Infinity) {
      insert(room.floors, { state: began.state, position });
      insert(room.deaths, { ...began, position });
    } else if (room.known?.process === process) room.known.deaths.push({ ...began, position });
    room.undos.delete(undo);
    if (room.undo === undo) room.undo = null;
  }

  settingAsked(room: RoomModel, process: string, name: string, first: unknown, value: unknown): Change {
    room.setting(name, first).asked.push({ value, order: ++this.#orders });
    room.change = { room, process, name, value, position: null };
    return room.change;
  }

  /** Like an undo, it depends on the transaction that wrote it, not on another process's later transactions. */
  settingAcknowledged({ room, process, name, value, position }: Change): void {
    if (position === null)
      throw new Violation(
        "an acknowledged change is stored",
        `${name} of ${room.name} was acknowledged, but not written`,
      );
    const order = ++this.#orders;
    if (position !== Infinity) insert(room.settings.get(name)!.acknowledged, { value, order, position });
    else if (room.known?.process === process) room.known.settings.push({ name, value, order });
  }

  judgeSetting(room: RoomModel, name: string, first: unknown, value: unknown): void {
    const { acknowledged, asked } = room.setting(name, first);
    const last = acknowledged.at(-1) ?? { value: first, order: 0 };
    const allowed = [last.value, ...asked.filter(({ order }) => order > last.order).map((one) => one.value)];
    if (!allowed.includes(value))
      throw new Violation(
        "acknowledged settings hold",
        `${name} of ${room.name} is ${JSON.stringify(value)}, but ${JSON.stringify(last.value)} was acknowledged`,
      );
  }

  roomTold(request: Request, name: string): void {
    const known = request.told.at(-1);
    if (known && known.name !== name && this.rooms.get(known.name)!.deletion === "none")
      throw new Violation("one key, one room", `a repeated request was told ${name}, and ${known.name} before`);
    const { position } = this.rooms.get(name)!;
    if (position !== Infinity) request.told.push({ name, position });
  }

  deleted(room: RoomModel): void {
    const { position } = room;
    if (position !== Infinity) room.deletion = { position };
  }

  /** @param listed rooms that the database lists */
  judgeRooms(listed: ReadonlySet<string>): void {
    for (const { name, deletion, request } of this.rooms.values()) {
      if (typeof deletion === "object" && listed.has(name))
        throw new Violation("a deleted room stays deleted", `${name} is listed`);
      if (deletion === "none" && request.name === name && !listed.has(name))
        throw new Violation("rooms stay", `${name} is not listed, although it was not deleted`);
    }
  }
}
