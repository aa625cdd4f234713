/**
 * A single server with a hundred rooms, one player in each, is killed during operation, or asked to end, and restarted
 * at once on the same port. Players are the browser client's own network code and reconnect automatically, so the waits
 * between their attempts are part of the time until all are back. Lost inputs are measured as the number of ticks that
 * a room is behind the newest frame of its player. tests/integration/survival checks that rooms continue with the same
 * bits.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createRoom } from "../../bot.ts";
import { noCounts, Player } from "../../load/player.ts";
import type { Row } from "../../part.ts";
import type { RunningServer } from "../../measuredServer.ts";
import { killed, lastingServer, untilListed } from "../../survival/lasting.ts";

export const name = "restart";
export const about =
  "a hundred rooms with a player each: the server killed, or asked to end, and started again: time until rooms are offered, time until all players are back, lost ticks";
export const runs = 3;
export const groups = ["survival"];

const ROOMS = 100;
const TICK_HZ = 60;
/** Time before the end, so that there is a history to restore, ms. */
const BEFORE_MS = 6000;
const WITHIN_MS = 60_000;

interface Seat {
  player: Player;
  /** Tick of the newest frame before the end. */
  tick: number;
  member: number;
  /** Member number after the reconnection, and tick of its first frame. */
  back?: { member: number; tick: number };
}

/** Opens the rooms and lets all players push. */
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
