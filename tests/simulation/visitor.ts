/**
 * A visitor of the room that a request created. It enters through any server, is forwarded to the process with the
 * room, and comes back when its socket closes. It grabs bodies, and as the owner it changes access. It believes each
 * answer, and reports it to the model.
 */
import { decode } from "@msgpack/msgpack";
import { ServerMessage } from "../../shared/protocol/fromServer.ts";
import type { Entry } from "../../server/auth/auth.ts";
import type { ClientRequest } from "../../shared/protocol/fromClient.ts";
import type { Connection, Membership } from "../../server/rooms/members/connection.ts";
import type { Room } from "../../server/rooms/room.ts";
import type { Random } from "../fuzz/random.ts";
import { type Change, type Model, type Request, type RoomModel, Violation } from "./serviceModel.ts";
import type { Server } from "./virtualServer.ts";
import type { Timeline } from "./timeline.ts";

/** Between two attempts to enter, ms. */
const AGAIN_MS = 300;

export interface VisitorOptions {
  name: string;
  owner: boolean;
  request: Request;
  servers: readonly Server[];
  timeline: Timeline;
  random: Random;
  model: Model;
  note: (who: string, text: () => string) => void;
  /** Reports that an acknowledged fact does not hold. */
  fails: (error: Error) => void;
  /** Runs work that may break a rule, which ends the history. */
  judge: (work: () => void) => void;
}

/** Settings that an owner may change, with their first values. */
export const SETTINGS = { locked: false, ownersOnly: false, password: null } as const;

/** The visitor's connection, from its acceptance to its close. */
interface Line {
  membership: Membership | null;
  server: Server;
  process: string;
  room: RoomModel;
}

export class Visitor {
  readonly name: string;
  readonly request: Request;
  readonly owner: boolean;
  member = 0;
  /** A change of settings that is not answered yet. */
  #change: { asked: Change; refused: boolean } | null = null;
  #line: Line | null = null;
  #token: string | undefined;
  #wanted = false;
  readonly #options: VisitorOptions;

  constructor(options: VisitorOptions) {
    this.#options = options;
    [this.name, this.request, this.owner] = [options.name, options.request, options.owner];
  }

  get isIn(): boolean {
    return Boolean(this.#line?.membership);
  }

  get #entry(): Entry {
    const { name, owner } = this;
    return { role: owner ? "owner" : "player", subject: name, name, expiresAtMs: null, address: `address of ${name}` };
  }

  #note(text: () => string): void {
    this.#options.note(this.name, text);
  }

  /** Enters, and comes back from now on. */
  come(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#enter();
  }

  /** Calls a server that answers, which forwards to the known owner of the room. @returns null: not possible now */
  async atRoom<T>(ask: (room: Room, server: Server) => Promise<T>): Promise<{ answer: T } | { error: Error } | null> {
    const { servers, random } = this.#options;
    const { name } = this.request;
    const alive = servers.filter((server) => server.answers);
    if (name === undefined || alive.length === 0) return null;
    const asked = random.pick(alive);
    const place = await asked.call(async ({ cluster }) => cluster.locate(name));
    if (!place || "error" in place) return null;
    const { answer } = place;
    const there =
      answer.kind === "here"
        ? asked
        : answer.kind === "there"
          ? servers.find(({ url, alive: up }) => up && url === answer.url)
          : undefined;
    if (!there) return null;
    return there.call(async ({ registry }) => ask(registry.get(name), there));
  }

  #enter(): void {
    const { timeline, random, fails } = this.#options;
    const again = (): void => void timeline.after(AGAIN_MS * (0.5 + random.unit()), null, () => this.#enter());
    if (!this.#wanted || this.#line !== null || this.request.deletion !== "none") return;
    void this.atRoom(async (room, server) => this.#join(room, server)).then((outcome) => {
      if (outcome && "error" in outcome && outcome.error instanceof Violation) fails(outcome.error);
      if (this.#line === null) again();
      else if (outcome && "error" in outcome) this.#line = null;
    });
  }

  /** As socket.ts and auth.ts: refuses a visitor without access. */
  async #join(room: Room, server: Server): Promise<void> {
    if (server.running?.registry.serving(room.name) !== room) return;
    this.judgeAccess(room);
    const session = this.#token === undefined ? undefined : server.program.fingerprint(this.#token);
    const denial = server.program.denialOf(
      "open",
      room.access,
      {
        known: this.#entry,
        wasIn: room.members.findByToken(this.#token) !== undefined,
        address: this.#entry.address,
        ...(session !== undefined && { session }),
      },
      Date.UTC(2026, 0, 1),
    );
    if (denial) {
      if (denial.why === "banned") this.#wanted = false;
      return;
    }
    const line: Line = { membership: null, server, process: server.process, room: this.#model(room) };
    this.#line = line;
    const connection = this.#connection(line);
    const membership = await room.join(
      connection,
      { type: "hello", version: 2, name: this.name, ...(this.#token !== undefined && { resume: this.#token }) },
      this.#entry,
    );
    if (this.#line !== line) return;
    line.membership = membership;
    this.#note(() => `is in ${room.name} at ${server.name}, tick ${room.tick}`);
  }

  #connection(line: Line): Connection {
    const connection = {
      isOpen: true,
      bufferedBytes: 0,
      nameInLog: () => {},
      send: (bytes: Uint8Array) => this.#hear(line, bytes),
      write: (frames: Uint8Array) => this.#hearFrames(line, frames),
      close: (code: number, reason: string) => {
        if (!connection.isOpen) return;
        connection.isOpen = false;
        this.#closed(line, `${code} ${reason}`);
      },
    };
    return connection as unknown as Connection;
  }

  /** Its server is dead, or has closed the socket. */
  #closed(line: Line, why: string): void {
    if (this.#line !== line) return;
    const { timeline } = this.#options;
    this.#line = null;
    this.#change = null;
    this.#note(() => `lost its socket: ${why}`);
    timeline.after(AGAIN_MS, null, () => this.#enter());
  }

  /** The process behind its socket is gone. */
  serverDied(process: string): void {
    if (this.#line?.process === process) this.#closed(this.#line, "the server died");
  }

  /** Drops its socket. */
  drop(): void {
    const line = this.#line;
    if (!line?.membership) return;
    const { membership, server, process } = line;
    this.#closed(line, "the connection broke");
    if (server.process === process && server.alive)
      this.#options.timeline.after(1, server.machine, () => membership.lost(1006));
  }

  say(request: ClientRequest): void {
    const line = this.#line;
    if (!line?.membership) return;
    this.#options.timeline.after(1, line.server.machine, () => {
      if (this.#line === line) line.membership!.handle(request);
    });
  }

  /** Sends one of the possible inputs. @param number selects the input and its values */
  pull(number: number): void {
    const grab = (number >> 4) & 3;
    const target: [number, number, number] = [(number & 255) / 100, 1, 0];
    const point = { body: 0, triangle: number & 7, u: 0.25, v: 0.25 };
    const requests: ClientRequest[] = [
      { type: "grab", grab, ...point, target },
      { type: "grab", grab, ...point, target },
      { type: "move", grab, target },
      { type: "move", grab, target },
      { type: "release", grab },
      { type: "impulse", ...point, impulse: [0, 0.5, 0] },
      { type: "spawn", body: 1, position: target, heading: [1, 0], occupied: "lift" },
      { type: "remove", body: 1 },
      { type: "reset" },
    ];
    this.say(requests[(number >> 8) % requests.length]!);
  }

  /** Changes a setting as the owner, one at a time. */
  change(name: keyof typeof SETTINGS | "ban", value: unknown, target?: Visitor): void {
    const { model } = this.#options;
    if (!this.#line?.membership || this.#change) return;
    const setting = name === "ban" ? `ban of ${target!.name}` : name;
    if (name === "ban" && (!target!.isIn || target!.member === 0)) return;
    const { room, process } = this.#line;
    const first = name === "ban" ? false : SETTINGS[name];
    this.#change = { asked: model.settingAsked(room, process, setting, first, value), refused: false };
    this.#note(() => `asks for ${setting} = ${JSON.stringify(value)}`);
    if (name === "ban") this.say({ type: "kick", member: target!.member, banSeconds: 3600 });
    else this.say({ type: "access", [name]: value });
  }

  #hearFrames(line: Line, frames: Uint8Array): void {
    for (let at = 0; at < frames.length; ) {
      const short = frames[at + 1]!;
      const [head, length] = short < 126 ? [2, short] : [4, (frames[at + 2]! << 8) | frames[at + 3]!];
      this.#hear(line, frames.subarray(at + head, at + head + length));
      at += head + length;
    }
  }

  /** [type, ...]: the type is the second byte. Messages that arrive during another message are handled afterwards. */
  #hear(line: Line, bytes: Uint8Array): void {
    const type = bytes[1];
    if (this.#line !== line) return;
    if (type === ServerMessage.welcome) {
      const [, welcome] = decode(bytes) as [number, { token: string; member: number }];
      [this.#token, this.member] = [welcome.token, welcome.member];
    } else if (type === ServerMessage.notice && this.#change) {
      const [, code] = decode(bytes) as [number, string];
      if (code === "STORE_AWAY" || code === "RATE_LIMITED" || code === "NOT_ALLOWED" || code === "OUT_OF_RANGE")
        this.#change.refused = true;
    } else if (type === ServerMessage.access && this.#change && line.membership) {
      const { asked, refused } = this.#change;
      this.#change = null;
      this.#note(() => `is ${refused ? "refused" : "acknowledged"} ${asked.name} = ${JSON.stringify(asked.value)}`);
      if (!refused) this.#options.judge(() => this.#options.model.settingAcknowledged(asked));
    }
  }

  #model({ name }: Room): RoomModel {
    return this.#options.model.rooms.get(name)!;
  }

  /** Checks that the served room has all acknowledged settings. */
  judgeAccess(served: Room): void {
    const { model } = this.#options;
    const { access } = served;
    const room = this.#model(served);
    const judge = (name: string, first: unknown, value: unknown): void => model.judgeSetting(room, name, first, value);
    judge("locked", SETTINGS.locked, access.locked);
    judge("ownersOnly", SETTINGS.ownersOnly, access.ownersOnly);
    judge("password", SETTINGS.password, access.hasPassword ? "secret word" : null);
    for (const name of room.settings.keys()) {
      if (!name.startsWith("ban of ")) continue;
      const subject = name.slice("ban of ".length);
      judge(name, false, access.banOf({ subject }, Date.UTC(2026, 0, 1)) !== undefined);
    }
  }
}
