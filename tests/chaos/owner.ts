/**
 * An owner who keeps changing its room: locks it, sets a password, bans a guest, undoes some seconds, signs tokens,
 * deletes a side room. It does one thing at a time and notes the answers. Every acknowledged change has to hold,
 * whichever server was killed since. A change without an answer may hold or not.
 */
import { Bot, createRoom, deleteRoom } from "../../load-tests/bot.ts";
import { CloseCode } from "../../shared/protocol/protocol.ts";
import { type Fleet, nowMs, type Undo } from "./fleet.ts";

const SCENE = "cube";
const PASSWORD = "open sesame";
/** Timeout of an answer, ms. */
const ANSWER_MS = 8000;
const AGAIN_MS = 300;
/** Between two acts, ms. */
const REST_MS = 50;
/** Length of an undo, s; a room ticks longer before it. */
const UNDO_SECONDS = 1.5;
const UNDO_TICKS = 60 * UNDO_SECONDS;
/** Duration of bans and tokens: longer than a process's clock jumps. */
const LASTING_HOURS = 72;
/** A room keeps a few more. */
const MOST_BANS = 50;

const ACTS = ["locked", "ownersOnly", "password", "ban", "undo", "token", "delete"] as const;
export type Act = (typeof ACTS)[number];

/** An acknowledged change. */
export interface Pledge {
  act: Act;
  room: string;
  /** When the answer came, ms. */
  ms: number;
  /** locked, ownersOnly, password: the value. ban: the guest's token. token: the token. undo: its tick. */
  value: boolean | string | number;
}

interface Guest {
  token: string;
  bot: Bot;
}

export class Owner {
  readonly room: string;
  readonly pledges: Pledge[] = [];
  /** Called with every pledge. */
  onPledge: (pledge: Pledge) => void = () => {};
  readonly #fleet: Fleet;
  readonly #random: () => number;
  readonly #done: Promise<void>;
  #bot: Bot | null = null;
  readonly #joinToken: string;
  #session: string | undefined;
  #ended = false;
  /** Settings that may differ from the acknowledged value, because a change was requested since. */
  readonly #open = new Set<Act>();
  #sides = 0;
  /** Its first member number. */
  #member = 0;
  #acting = false;
  /** The act in progress. */
  #busy: Promise<void> = Promise.resolve();
  /** Violations that it found when it came back. */
  readonly #wrong: string[] = [];
  /** Number of returns to its session. */
  returns = 0;

  private constructor(fleet: Fleet, room: string, joinToken: string, random: () => number) {
    this.#fleet = fleet;
    this.room = room;
    this.#joinToken = joinToken;
    this.#random = random;
    this.#done = this.#live();
  }

  /** Opens the room. */
  static async open(fleet: Fleet, room: string, random: () => number): Promise<Owner> {
    const { token } = await createRoom(fleet.members[0]!.url, SCENE, room);
    return new Owner(fleet, room, token!, random);
  }

  get isIn(): boolean {
    return this.#bot !== null && this.#bot.closed === null;
  }

  /** Starts or stops acting; it stays in the room either way. */
  act(acting: boolean): void {
    this.#acting = acting;
  }

  get #url(): string {
    const { members } = this.#fleet;
    return members[Math.floor(this.#random() * members.length)]!.url;
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.#bot?.drop();
    await this.#done;
  }

  async #live(): Promise<void> {
    while (!this.#ended) {
      try {
        await this.#enter();
        while (this.isIn && !this.#ended) {
          if (this.#acting) await (this.#busy = this.#act(ACTS[Math.floor(this.#random() * ACTS.length)]!));
          await sleep(REST_MS);
        }
      } catch {
        // The connection, the server or the database is away: it comes back.
      }
      this.#bot?.drop();
      await sleep(AGAIN_MS);
    }
  }

  async #enter(): Promise<void> {
    this.#bot = await Bot.join(this.#url, this.room, {
      joinToken: this.#joinToken,
      timeoutMs: ANSWER_MS,
      ...(this.#session !== undefined && { resume: this.#session }),
    });
    const { token, member } = this.#bot.welcome;
    if (this.#session !== undefined) this.returns += 1;
    // Sessions end by the time of day, so a clock that jumped by hours may have ended them.
    if (this.#member !== 0 && member !== this.#member && !this.#fleet.clocksJumped)
      this.#wrong.push(`${this.room}: its owner was member ${this.#member} and came back as ${member}`);
    [this.#session, this.#member] = [token, member];
    await this.#bot.until(() => this.#bot!.access !== null, "the room's access");
    this.#judgeAccess();
  }

  /** Checks access before it changes anything. */
  #judgeAccess(): void {
    const { access } = this.#bot!;
    for (const act of ["locked", "ownersOnly", "password"] as const) {
      const last = this.#last(act);
      if (last && !this.#open.has(act) && access![act] !== last.value)
        this.#wrong.push(`${this.room}: ${act} is ${access![act]}, but ${String(last.value)} was acknowledged`);
    }
  }

  #last(act: Act): Pledge | undefined {
    return this.pledges.findLast((pledge) => pledge.act === act);
  }

  async #act(act: Act): Promise<void> {
    switch (act) {
      case "locked":
      case "ownersOnly":
        return this.#set(act, !this.#bot!.access![act]);
      case "password":
        return this.#set(act, !this.#bot!.access!.password);
      case "ban":
        return this.#ban();
      case "undo":
        return this.#undo();
      case "token":
        return this.#told(act, this.room, await this.#sign("player"));
      case "delete":
        return this.#delete();
    }
  }

  /** An answer that reports a failed write is no acknowledgement. */
  async #set(act: "locked" | "ownersOnly" | "password", value: boolean): Promise<void> {
    const bot = this.#bot!;
    this.#open.add(act);
    const refusals = refusalsOf(bot);
    bot.setAccess({ [act]: act === "password" ? (value ? PASSWORD : null) : value });
    await bot.until(() => bot.access![act] === value, act);
    if (refusalsOf(bot) > refusals) return;
    this.#open.delete(act);
    this.#told(act, this.room, value);
  }

  /** Lets a guest with a token enter, and bans it. */
  async #ban(): Promise<void> {
    const { locked, password, bans } = this.#bot!.access!;
    if (!locked && !password && bans < MOST_BANS) await this.#throwOut(await this.#guest());
  }

  async #guest(): Promise<Guest> {
    const token = await this.#sign("player");
    return { token, bot: await Bot.join(this.#url, this.room, { joinToken: token, timeoutMs: ANSWER_MS }) };
  }

  async #throwOut({ token, bot: guest }: Guest): Promise<void> {
    const bot = this.#bot!;
    const { bans } = bot.access!;
    const refusals = refusalsOf(bot);
    bot.kick(guest.welcome.member, 3600 * LASTING_HOURS);
    await bot.until(() => bot.access!.bans > bans, "the ban");
    guest.drop();
    if (refusalsOf(bot) === refusals) this.#told("ban", this.room, token);
  }

  /** All acts except signing tokens, at once, from a room that is open to guests and has ticked for a while. */
  async burst(): Promise<() => Promise<void>> {
    await this.#busy.catch(() => {});
    while (!this.isIn) await sleep(AGAIN_MS);
    const bot = this.#bot!;
    if (bot.access!.locked) await this.#set("locked", false);
    if (bot.access!.password) await this.#set("password", false);
    const guest = await this.#guest();
    await bot.until(() => bot.tick > UNDO_TICKS + 30, "enough to undo");
    return async () => {
      const { ownersOnly } = bot.access!;
      await Promise.allSettled([
        this.#throwOut(guest),
        this.#undo(),
        this.#delete(),
        this.#set("locked", true),
        this.#set("ownersOnly", !ownersOnly),
        this.#set("password", true),
      ]);
    };
  }

  async #undo(): Promise<void> {
    const bot = this.#bot!;
    if (bot.tick < UNDO_TICKS + 30) return;
    const undo: Undo = { room: this.room, askedMs: nowMs(), answeredMs: Infinity, tick: null };
    this.#fleet.undos.push(undo);
    const answer = await this.#post(`/api/rooms/${this.room}/undo`, { seconds: UNDO_SECONDS });
    undo.answeredMs = nowMs();
    if (answer.status !== 200) return;
    undo.tick = ((await answer.json()) as { tick: number }).tick;
    this.#told("undo", this.room, undo.tick);
  }

  /** Creates a side room and deletes it, so that nothing of it may remain. */
  async #delete(): Promise<void> {
    const room = `${this.room}-${++this.#sides}`;
    const { token } = await createRoom(this.#url, SCENE, room);
    if ((await deleteRoom(this.#url, room, token!)) === 204) this.#told("delete", room, true);
  }

  async #sign(role: "player"): Promise<string> {
    const answer = await this.#post("/api/tokens", { room: this.room, role, hours: LASTING_HOURS });
    if (!answer.ok) throw new Error(`no token: ${answer.status}`);
    return ((await answer.json()) as { token: string }).token;
  }

  #post(path: string, body: object): Promise<Response> {
    return fetch(`${this.#url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.#joinToken}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  }

  #told(act: Act, room: string, value: Pledge["value"]): void {
    const pledge = { act, room, ms: nowMs(), value };
    this.pledges.push(pledge);
    this.onPledge(pledge);
  }

  /** Finds acknowledged changes that do not hold, by asking any server that answers. */
  async broken(): Promise<string[]> {
    this.#judgeAccess();
    const found = [...this.#wrong];
    for (const [act, wrong] of [
      ["ban", (code: number) => code !== CloseCode.kicked],
      ["token", (code: number) => code === CloseCode.tokenNeeded],
    ] as const) {
      // A token signed by a clock that was ahead is not valid yet, so it does not find the ban.
      if (act === "ban" && this.#fleet.clocksJumped) continue;
      const pledge = this.#last(act);
      const code = pledge && (await this.#codeOf(String(pledge.value)));
      if (code !== undefined && wrong(code)) found.push(`${this.room}: a guest with its ${act} gets ${code}`);
    }
    for (const { room } of this.pledges.filter(({ act }) => act === "delete").slice(-3)) {
      const { status } = await fetch(`${this.#url}/api/rooms/${room}`);
      if (status !== 404) found.push(`${room}: was deleted, and answers ${status}`);
    }
    return found;
  }

  /** Result of a guest's entry with this token: 0 if it is let in. It retries if the server tells it to. */
  async #codeOf(joinToken: string): Promise<number> {
    const untilMs = nowMs() + ANSWER_MS;
    for (;;) {
      const bot = Bot.connect(this.#url, this.room, { joinToken, timeoutMs: ANSWER_MS });
      await bot.until(() => bot.welcome !== undefined || bot.closed !== null, "an answer");
      const code = bot.closed?.code ?? 0;
      bot.drop();
      if (code !== CloseCode.restarting || nowMs() > untilMs) return code;
      await sleep(AGAIN_MS);
    }
  }
}

/** Notices that report that a request was not done, or not stored. */
const REFUSALS = new Set(["STORE_AWAY", "RATE_LIMITED", "NOT_ALLOWED", "OUT_OF_RANGE"]);
const refusalsOf = ({ notices }: Bot): number => notices.filter(({ code }) => REFUSALS.has(code)).length;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
