/**
 * A thousand players lose their connections at the same moment and reconnect automatically, each as the same member.
 * Two cases: all connections are cut while the server runs, as when a proxy fails, and the server is killed and
 * restarted. Players wait 0.25 s (+- 30 %) before their first attempt, and twice as long before each further one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createRoom } from "../../bot.ts";
import { noCounts, Player } from "../../load/player.ts";
import { quantile, type Row } from "../../part.ts";
import type { RunningServer } from "../../measuredServer.ts";
import { killed, lastingServer } from "../../survival/lasting.ts";

export const name = "reconnect";
export const about =
  "a thousand players in twenty rooms lose their connections at once: time until all of them have a frame again";
export const runs = 3;
export const groups = ["survival"];

const ROOMS = 20;
const PLAYERS = 1000;
/** Players that join at the same time; the effect of a crowd is measured later. */
const JOINING = 32;
/** Time with all players present before each case, ms: the server's history and the players' clocks settle. */
const SETTLE_MS = 3000;

export async function run(): Promise<Row[]> {
  const { url, start, forget } = await lastingServer("cube", { PLIANT_MAX_MEMBERS: String(PLAYERS) });
  const counts = noCounts();
  let server: RunningServer | undefined;
  const rows: Row[] = [];
  const players: Player[] = [];
  const members: number[] = [];
  let strangers = 0;
  try {
    server = await start();
    const rooms = await Promise.all(
      Array.from({ length: ROOMS }, async (_, i) => (await createRoom(url, "cube", `r-${i}`)).room),
    );
    while (players.length < PLAYERS) {
      const group = Array.from({ length: Math.min(JOINING, PLAYERS - players.length) }, (_, k) => {
        const i = players.length + k;
        return new Player({
          url,
          room: rooms[i % ROOMS]!,
          decodes: false,
          counts,
          onEvent: (event) => {
            if (event.type !== "welcome") return;
            members[i] ??= event.welcome.member;
            if (members[i] !== event.welcome.member) strangers += 1;
          },
        });
      });
      players.push(...group);
      await Promise.all(group.map((player) => player.joined()));
    }
    for (const [how, lose] of [
      ["all lines cut", async () => players.forEach((player) => player.cut())],
      [
        "server killed and started again",
        async () => {
          await killed(server!);
          server = await start();
        },
      ],
    ] as const) {
      await sleep(SETTLE_MS);
      const begunMs = performance.now();
      const back = players.map((player) => player.back().then(() => (performance.now() - begunMs) / 1000));
      await lose();
      const times = await Promise.all(back);
      const what = `${PLAYERS} players, ${how}`;
      rows.push(
        { what: `${what}, until half of them are back`, value: quantile(times, 0.5), unit: "s", absolute: true },
        {
          what: `${what}, until all are back`,
          value: Math.max(...times),
          unit: "s",
          absolute: true,
          target: { atMost: 5 },
        },
      );
    }
    rows.push({
      what: `${PLAYERS} players, came back as somebody else`,
      value: strangers,
      unit: "",
      target: { atMost: 0 },
    });
    return rows;
  } finally {
    for (const player of players) player.leave();
    if (server) await killed(server);
    forget();
  }
}
