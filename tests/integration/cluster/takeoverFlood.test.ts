/**
 * A room's process is killed while visitors flood the room and reconnect, at both processes. Members keep number and
 * role, acknowledged changes hold, and no visitor becomes the owner or evades its ban.
 */
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { freePort, type RunningServer, startServer } from "../../../load-tests/measuredServer.ts";
import type { Role } from "../../../shared/members/roles.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { storedIn } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

const ROOM = "besieged";
const BANNED = "127.0.0.9";
const STRANGER = "127.0.0.20";
const FLOODERS = 6;
const folder = testFolder("besieged");
const servers: RunningServer[] = [];
const start = async (port?: number): Promise<RunningServer> =>
  startServer({
    port: port ?? (await freePort()),
    env: {
      ...storedIn(folder),
      PLIANT_TOKEN_SECRET: "a-secret-of-both-processes-long-enough",
      PLIANT_BALANCE: "off",
      PLIANT_RESUME_SECONDS: "600",
      LOG_LEVEL: "error",
    },
  });

beforeAll(async () => {
  servers.push(await start(), await start());
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

/** Visitors without a session that enter, flood, leave and ask for the room, until they are stopped. */
class Siege {
  readonly roles = new Set<Role>();
  readonly banned = new Set<number | "welcome">();
  /** Owner's tokens that requests for the room got. */
  readonly tokens: string[] = [];
  rounds = 0;
  #ended = false;
  readonly #all: Promise<unknown>;

  constructor() {
    this.#all = Promise.all([
      ...Array.from({ length: FLOODERS }, (_, i) => this.#repeat((turn) => this.#flood(turn + i))),
      this.#repeat((turn) => this.#enterBanned(turn)),
      this.#repeat((turn) => this.#create(turn)),
    ]);
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#all;
  }

  async #repeat(act: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; !this.#ended; turn++) {
      await act(turn).catch(() => {}); // A killed process refuses connections.
      this.rounds += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #flood(turn: number): Promise<void> {
    const bot = Bot.connect(servers[turn % 2]!.url, ROOM, {
      name: "Ada",
      from: STRANGER,
      resume: "a session of no member",
      joinToken: "no token",
    });
    try {
      await bot.until(() => bot.welcome !== undefined, "welcome", 5000);
      this.roles.add(bot.welcome.role);
      for (let i = 0; i < 150; i++) bot.reset();
      bot.setAccess({ ownersOnly: false });
      bot.kick(1, 3600);
      await bot.until(() => bot.notices.some(({ code }) => code === "NOT_ALLOWED"), "the refusal", 5000);
    } finally {
      bot.drop();
    }
  }

  async #enterBanned(turn: number): Promise<void> {
    const bot = Bot.connect(servers[turn % 2]!.url, ROOM, { name: "Ada", from: BANNED });
    await bot
      .until(() => bot.welcome !== undefined, "welcome", 5000)
      .then(
        () => this.banned.add("welcome"),
        () => bot.closed && this.banned.add(bot.closed.code),
      );
    bot.drop();
  }

  async #create(turn: number): Promise<void> {
    const made = await createRoom(servers[turn % 2]!.url, "cube", ROOM);
    if (made.token !== undefined) this.tokens.push(made.token);
  }
}

interface Member {
  bot: Bot;
  joinToken?: string;
  member: number;
  role: Role;
}
async function enter(joinToken?: string, from?: string): Promise<Member> {
  const options = { ...(joinToken !== undefined && { joinToken }), ...(from !== undefined && { from }) };
  const bot = await Bot.join(servers[0]!.url, ROOM, options);
  const { member, role } = bot.welcome;
  return { bot, member, role, ...(joinToken !== undefined && { joinToken }) };
}
/** Resumes the member's session, through this process, until it is served. */
async function comeBack({ bot, joinToken }: Member, { url }: RunningServer): Promise<Bot> {
  for (;;) {
    const options = { resume: bot.welcome.token, ...(joinToken !== undefined && { joinToken }) };
    const again = await Bot.join(url, ROOM, { ...options, timeoutMs: 20_000 }).catch(() => null);
    if (again) return again;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test("a room that moves under a flood keeps its members' roles, its bans and all acknowledged changes", async () => {
  const { token } = await createRoom(servers[0]!.url, "cube", ROOM);
  const lady = await enter(token);
  const invitation = await postJson(`${servers[1]!.url}/api/tokens`, { room: ROOM, role: "spectator" }, token);
  const { token: spectators } = (await invitation.json()) as { token: string };
  const members = [lady, await enter(spectators), await enter()];
  expect(members.map(({ role }) => role)).toEqual(["owner", "spectator", "player"]);
  const mallory = await enter(undefined, BANNED);
  lady.bot.kick(mallory.member, 3600);
  await lady.bot.until(() => lady.bot.access?.bans === 1, "the ban");

  const siege = new Siege();
  // The room goes to the other process and back.
  for (const [turn, kept] of [1, 0].entries()) {
    const { rounds } = siege;
    await expect.poll(() => siege.rounds, { timeout: 120_000 }).toBeGreaterThan(rounds + 30);
    const owner = members[0]!.bot;
    const ownersOnly = turn === 0;
    owner.setAccess({ ownersOnly, chat: !ownersOnly });
    await owner.until(() => owner.access?.ownersOnly === ownersOnly && owner.access.chat === !ownersOnly, "the change");
    const killed = servers[1 - kept]!;
    const gone = once(killed.process, "exit");
    killed.process.kill("SIGKILL");
    await gone;
    for (const one of members) one.bot = await comeBack(one, servers[kept]!);
    expect(members.map(({ bot }) => [bot.welcome.member, bot.welcome.role])).toEqual(
      members.map(({ member, role }) => [member, role]),
    );
    const { bot } = members[0]!;
    await bot.until(() => bot.access !== null, "the access");
    expect(bot.access).toMatchObject({ ownersOnly, chat: !ownersOnly, bans: 1 });
    servers[1 - kept] = await start(killed.port);
  }
  await siege.end();
  expect([...siege.roles]).toEqual(["player"]);
  expect(siege.tokens).toEqual([]);
  expect(siege.banned).toContain(CloseCode.kicked);
  expect([...siege.banned].filter((code) => !PASSING.has(code))).toEqual([]);
  await Promise.all(members.map(({ bot }) => bot.leave()));
});

/** Codes of a refused member, and of lines that a killed or starting process ends. */
const PASSING: ReadonlySet<unknown> = new Set([CloseCode.kicked, CloseCode.restarting, 1006]);
