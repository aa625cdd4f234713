/**
 * A single server with a hundred rooms, one player in each: killed in the middle of everything, and asked to end.
 * Started again at once, on the same port. Players are the browser client's own network code and come back by
 * themselves, so their waits between two attempts are in "everybody is back". What went in and was lost is what a room
 * stands behind the newest frame that its player had; that it goes on with the same bits is
 * tests/integration/survival's to say.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createRoom } from "../bot.ts";
import { noCounts, Player } from "../load/player.ts";
import type { Row } from "../part.ts";
import type { RunningServer } from "../server.ts";
import { killed, lastingServer, untilListed } from "../survival/lasting.ts";

export const name = "restart";
export const about =
  "a hundred rooms with a player each: the server killed, or asked to end, and started again: until rooms are offered, until everybody is back, what is lost";
export const runs = 3;
export const groups = ["survival"];

const ROOMS = 100;
const TICK_HZ = 60;
/** Before the end, so that there is a past to come back to, ms. */
const BEFORE_MS = 6000;
const WITHIN_MS = 60_000;

interface Seat {
  player: Player;
  /** Of the newest frame before the end. */
  tick: number;
  member: number;
  /** As it came back: the first frame's tick. */
  back?: { member: number; tick: number };
}

/** Opens the rooms and lets everybody push. */
async function play(url: string, prefix: string): Promise<Seat[]> {
  const counts = noCounts();
  const seats: Seat[] = [];
  for (let i = 0; i < ROOMS; i++) {
    const { room } = await createRoom(url, "cube", `${prefix}-${i}`);
    const seat = { tick: 0, member: 0 } as Seat;
    seat.player = new Player({
      url,
      room,
      decodes: false,
      counts,
      onEvent: (event) => {
        if (event.type === "welcome") {
          if (seat.member === 0) seat.member = event.welcome.member;
          else seat.back = { member: event.welcome.member, tick: 0 };
        } else if (event.type === "keyframe" || event.type === "delta") {
          if (!seat.back) seat.tick = event.tick;
          else if (seat.back.tick === 0) seat.back.tick = event.tick;
        }
      },
    });
    seats.push(seat);
  }
  await Promise.all(seats.map(({ player }) => player.joined()));
  for (let pushed = 0; pushed < BEFORE_MS; pushed += 500) {
    for (const { player } of seats) player.impulse({ body: 0, triangle: 0, u: 0.3, v: 0.3 }, [0, 0.1, 0]);
    await sleep(500);
  }
  return seats;
}

export async function run(): Promise<Row[]> {
  const { url, start, forget } = await lastingServer("cube");
  const rows: Row[] = [];
  const row = (what: string, value: number, unit: string, more: Partial<Row> = {}): void =>
    void rows.push({ what: `${ROOMS} rooms, ${what}`, value, unit, absolute: true, ...more });
  let server: RunningServer | undefined;
  try {
    for (const how of ["killed", "asked to end"] as const) {
      server = await start();
      const seats = await play(url, how.replaceAll(" ", "-"));
      const back = seats.map((seat) => seat.player.back().then(() => performance.now()));
      const begunMs = performance.now();
      if (how === "killed") await killed(server);
      else {
        const ended = server.stop();
        const unready = (async () => {
          for (;;)
            if (
              !(await fetch(`${url}/readyz`).then(
                ({ ok }) => ok,
                () => false,
              ))
            )
              return performance.now() - begunMs;
        })();
        row(`${how}, until it is not ready`, await unready, "ms");
        if ((await ended) !== 0) throw new Error(`the server ended with ${await ended}`);
        row(`${how}, until it has ended`, (performance.now() - begunMs) / 1000, "s", { target: { atMost: 25 } });
      }
      const startMs = performance.now();
      server = await start();
      const readyMs = performance.now();
      await untilListed(url, ROOMS, WITHIN_MS);
      row(`${how}, from the start until all are offered`, (performance.now() - startMs) / 1000, "s", {
        target: { atMost: 5 },
        note: `ready after ${((readyMs - startMs) / 1000).toFixed(1)} s`,
      });
      row(
        `${how}, from the end until everybody has a frame`,
        (Math.max(...(await Promise.all(back))) - begunMs) / 1000,
        "s",
        { note: "players wait 0.25 s, 0.5 s, 1 s ... between attempts" },
      );
      row(
        `${how}, most that a room stands behind what was seen`,
        Math.max(0, ...seats.map(({ tick, back }) => tick - back!.tick)) / TICK_HZ,
        "s",
        { target: { atMost: how === "killed" ? 0.5 : 0 } },
      );
      row(
        `${how}, players that are another member`,
        seats.filter(({ member, back }) => member !== back!.member).length,
        "",
        { target: { atMost: 0 } },
      );
      for (const { player } of seats) player.leave();
      await killed(server);
      forget();
    }
    return rows;
  } finally {
    if (server) await killed(server);
    forget();
  }
}
