/**
 * What must hold, written without looking at how the server does it. It sees what the database has committed, which
 * ticks were stepped by whom with which state before and after, and what visitors were told; from these it knows
 *
 *     owner       each claim's epoch is higher than all before; who writes for a room has its newest epoch; who steps
 *                 it
 *                 owns it
 *     line        states of a room by tick, each made from the one before. Where a room goes on is one of them, at or
 *                 after the last whose journal was committed (`floor`), and none that an undo has ended (`deaths`)
 *     settings    what was acknowledged; what was asked for and not acknowledged may hold or not
 *     rooms       one for a key; there until their end was asked for, gone when it was acknowledged
 *
 * Each room is known by its name. A request may come to have several: one that it makes after the end of another, or
 * after a failover has taken that, has nothing of the one before, whose owner may step it by its lease meanwhile.
 *
 * A replica that takes over without the last transactions takes what was acknowledged by one of these, and nothing
 * else: each fact knows the transaction that it rests on, and goes with it. Whoever had a lease before may step on by
 * it until it ends. An owner that goes on knows what the replica has lost (`known`), and after some calm seconds the
 * replica has it again.
 */
import type { JournalSegment, Lease, Rewritten } from "../../server/store/store.ts";
import type { Commit } from "./database.ts";
import type { World } from "./physics.ts";

/** A state of a room: reached by one tick from the one before. */
export interface State {
  hash: string;
  tick: number;
  before: State | null;
  /** When it was stepped last, by order of all steps, and by true time, ms. */
  born: number;
  atMs: number;
}

/** Something that holds since a transaction. */
interface Since {
  position: number;
}

interface Setting {
  acknowledged: (Since & { value: unknown; order: number })[];
  asked: { value: unknown; order: number }[];
}

/** A change of a setting that its owner waits to hear of. */
export interface Change {
  room: RoomModel;
  process: string;
  name: string;
  value: unknown;
  /** Of the transaction that it rests on; Infinity: a failover has taken it; null: there was none yet. */
  position: number | null;
}

/** An undo of which it is not known yet whether it holds. */
interface Undo {
  process: string;
  /** Where the room may be because of it. */
  target: State;
  /** Of the transaction that it rests on; Infinity: a failover has taken it; null: there was none yet. */
  position: number | null;
  /** Where its process has begun again since it was asked for. */
  began: { state: State; born: number }[];
  /** Its answer came, or will not come. */
  settled: boolean;
}

interface Owner extends Pick<Lease, "process" | "epoch"> {
  /** Whoever had it when it died: what it had sent before may still arrive, until somebody claims the room. */
  dead?: Owner;
}

/** What a failover has taken, as its room's owner knows it. */
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

/** Somebody asks for a room by a key, once or several times, and for nothing but the one that it has made. */
export class Request {
  readonly scene: string;
  /** Rooms that were made for it, and names that a visitor was told. */
  made: (Since & { room: RoomModel })[] = [];
  told: (Since & { name: string })[] = [];
  /** Times that it was made and is not answered. */
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
  /** Where each process's memory of it stands. */
  readonly tips = new Map<string, State>();
  readonly floors: (Since & { state: State })[];
  readonly deaths: (Since & { state: State; born: number })[] = [];
  readonly settings = new Map<string, Setting>();
  undo: Undo | null = null;
  change: Change | null = null;
  /** All that are not acknowledged: whoever was asked may do it yet, should a failover give the room back to it. */
  readonly undos = new Set<Undo>();
  known: Known | null = null;
  deletion: "none" | "asked" | Since = "none";
  /** Of its last transaction; Infinity: a failover has taken that one, and whatever is told because of it now. */
  position: number;

  /** @param start the hash that the scene begins with */
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

/** In the order of the transactions: an answer may be told long after what it rests on, and after what came next. */
function insert<T extends Since>(list: T[], one: T): void {
  list.splice(list.findLastIndex(({ position }) => position <= one.position) + 1, 0, one);
}

/** The state of a line at a tick; null before its beginning. */
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
  /** The hash that a scene begins with. */
  start: (scene: string) => string;
}

export class Model {
  /** By scene, and all rooms that were ever made, by name. */
  readonly requests = new Map<string, Request>();
  readonly rooms = new Map<string, RoomModel>();
  readonly #options: ModelOptions;
  #owners = new Map<string, Owner>();
  #epoch = 0;
  #born = 0;
  #orders = 0;
  /** Until when leases of before the last failover may be believed, ms. */
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

  // ---- what the database commits

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
    // A key is "forgotten with the room" (store.ts, createRoom): a request that arrives after the end makes another.
    if (known?.deletion === "none" && this.#owners.has(known.name))
      throw new Violation("one key, one room", `${known.name} was made for a request, and now ${name} for the same`);
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
    // The beginning of its scene is always there.
    const until = Math.max(0, segment?.until ?? tick);
    if (until < room.floor.tick)
      throw new Violation(
        "acknowledged ticks stay",
        `${lease.room} forgets what follows tick ${until}, but tick ${room.floor.tick} was in the journal`,
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

  /** @param kept the transactions that the replica has */
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
      // Where an undo went that is lost: its owner may tell of it again.
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
   * "It could not be stored that this was done [...] It is tried again" (PROTOCOL.md, STORE_AWAY): an undo that nobody
   * has acknowledged may hold or not, for as long as the one that was asked has the room, or has it again.
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

  // ---- what processes step

  /** A process has made a memory of the room and goes on from there. */
  began(name: string, process: string, world: World): void {
    const room = this.rooms.get(name)!;
    const state = room.states.get(world.hash) ?? this.#unknown(room, process, world);
    // Who has lost the room without knowing it yet harms nobody until it steps; and what somebody has acknowledged who
    // has the room since then is nothing that it could know. Nothing that it does reaches the store: only the owner
    // writes, which is judged.
    const owner = this.ownerOf(room.name);
    // Who has it by a lease that a failover took knows its own line only.
    const believes = !owner && this.#mayStep(room, process) && !this.#isOn(room, process, state);
    if (owner === process || believes) this.#judgeBeginning(room, process, state);
    room.tips.set(process, state);
    if (room.undo?.process === process) room.undo.began.push({ state, born: ++this.#born });
    else if (room.undo && this.ownerOf(room.name) === process) room.undo = null;
  }

  /** Has the process come by the state on its way to where its memory stands? */
  #isOn({ tips }: RoomModel, process: string, state: State): boolean {
    const tip = tips.get(process);
    return tip !== undefined && follows(tip, state);
  }

  #unknown(room: RoomModel, process: string, { hash, tick }: World): never {
    throw new Violation(
      "a room goes on from what it was",
      `${process} begins ${room.name} at tick ${tick} with the state ${hash}, which no tick has made`,
    );
  }

  #judgeBeginning(room: RoomModel, process: string, state: State): void {
    const { floor, name } = room;
    if (!follows(state, floor))
      throw new Violation(
        "acknowledged ticks stay",
        `${process} begins ${name} at tick ${state.tick}${at(floor, state.tick) === state ? "" : " of another line"}, but tick ${floor.tick} (${floor.hash}) was acknowledged`,
      );
    const death = room.deaths.find(
      (dead) => state.tick > dead.state.tick && state.born < dead.born && follows(state, dead.state),
    );
    if (death)
      throw new Violation(
        "what was undone stays undone",
        `${process} begins ${name} at tick ${state.tick}, which an acknowledged undo to tick ${death.state.tick} has ended`,
      );
  }

  stepped(name: string, process: string, before: string, world: World): void {
    const room = this.rooms.get(name)!;
    this.#judgeStep(room, process, world);
    const parent = room.tips.get(process)!;
    if (parent.hash !== before)
      throw new Violation(
        "a room goes on from what it was",
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

  /** It owns the room, or may believe so by a lease of before a failover. */
  #mayStep({ name }: RoomModel, process: string): boolean {
    if (this.ownerOf(name) === process) return true;
    return this.#options.nowMs() <= this.#oldLeasesMs && this.#oldOwners.get(name)?.has(process) === true;
  }

  /** Rooms that the process owns. */
  ownedBy(process: string): RoomModel[] {
    return [...this.rooms.values()].filter(({ name }) => this.ownerOf(name) === process);
  }

  /**
   * Everything that the process stepped up to then is to stay.
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

  /** What a failover takes of a room, and whose owner goes on: it knows all of that still. */
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

  /** It has had the time to tell the replica. */
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

  // ---- what visitors ask for and are told

  undoAsked(room: RoomModel, process: string, seconds: number, tickHz: number): Undo {
    const tip = room.tips.get(process) ?? room.floor;
    const target = at(tip, Math.max(0, Math.floor(tip.tick - seconds * tickHz) - 1)) ?? room.start;
    // Until it is acknowledged the room may be where it was, or there.
    const position = room.position === Infinity ? room.floors.at(-1)!.position : room.position;
    if (follows(room.floor, target)) room.floors.push({ state: target, position });
    room.undo = { process, target, position: null, began: [], settled: false };
    room.undos.add(room.undo);
    return room.undo;
  }

  /**
   * "200 {tick}: the room went back to that tick" (PROTOCOL.md): it rests on the transaction that took the journal
   * back, and on none that came between this one and the answer. A failover that takes it takes the undo, unless its
   * owner goes on and tells the replica.
   * @param tick that it was answered with; null: an error, or no answer
   */
  undoAnswered(room: RoomModel, undo: Undo, tick: number | null): void {
    undo.settled = true;
    if (tick === null) return;
    const { process, position } = undo;
    const began = undo.began.findLast(({ state }) => state.tick === tick);
    if (!began) throw new Violation("an undo says where it is", `tick ${tick} was answered, where nothing has begun`);
    if (position === null)
      throw new Violation(
        "what is acknowledged is stored",
        `an undo to tick ${tick} was answered, but nobody wrote it`,
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

  /** As an undo, it rests on the transaction that wrote it, and on none that somebody else made before it was told. */
  settingAcknowledged({ room, process, name, value, position }: Change): void {
    if (position === null)
      throw new Violation("what is acknowledged is stored", `${name} of ${room.name} was told, but nobody wrote it`);
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

  /** @param listed what the database lists */
  judgeRooms(listed: ReadonlySet<string>): void {
    for (const { name, deletion, request } of this.rooms.values()) {
      if (typeof deletion === "object" && listed.has(name))
        throw new Violation("what was deleted stays deleted", `${name} is listed`);
      if (deletion === "none" && request.name === name && !listed.has(name))
        throw new Violation("rooms stay", `${name} is not listed, though nobody has deleted it`);
    }
  }
}
