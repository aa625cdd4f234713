/**
 * The clients of a scenario, in a process of their own, so that their work is not counted as the server's. Forked by
 * drive.ts, which starts and stops it. Once a second it reports its counts and its CPU time.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { randomStream } from "../../tests/parity/kit.ts";
import { createRoom, deleteRoom } from "../bot.ts";
import { type Counts, noCounts, Player } from "./player.ts";
import type { RoomPlan, Scenario } from "./scenario.ts";

export interface StartOrder {
  type: "start";
  url: string;
  scenario: Scenario;
}

export type Order = StartOrder | { type: "stop" };

export type Report =
  /** All rooms are open and empty. */
  | { type: "opened" }
  /** All clients have received a frame. */
  | { type: "joined" }
  | { type: "sample"; counts: Counts; clients: number; cpuSeconds: number; loopLagMs: number }
  | { type: "stopped" }
  | { type: "failed"; message: string };

/** Clients that join at the same time; more would measure the joining itself. */
const JOINING = 32;
const SAMPLE_MS = 1000;
const LAG_RESOLUTION_MS = 10;

interface Seat {
  player: Player;
  /** Index in its room: the first ones decode, and have grabs. */
  index: number;
}

interface OpenRoom {
  name: string;
  /** Token of the room's owner. */
  token: string | undefined;
  plan: RoomPlan;
  seats: Seat[];
  /** The room is being replaced: no client joins or leaves. */
  busy: boolean;
}

export class Crowd {
  readonly counts = noCounts();
  readonly #url: string;
  readonly #scenario: Scenario;
  readonly #rooms: OpenRoom[] = [];
  readonly #random = randomStream(20261122);
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #onFault: (error: Error) => void;
  #stopped = false;

  constructor(url: string, scenario: Scenario, onFault: (error: Error) => void) {
    this.#url = url;
    this.#scenario = scenario;
    this.#onFault = onFault;
  }

  get clients(): number {
    return this.#rooms.reduce((sum, room) => sum + room.seats.length, 0);
  }

  async open(): Promise<void> {
    for (const plan of this.#scenario.rooms) {
      for (let i = 0; i < plan.count; i++)
        this.#rooms.push({ ...(await openRoom(this.#url, plan.scene)), plan, seats: [], busy: false });
    }
  }

  async join(): Promise<void> {
    const seats = this.#rooms.flatMap((room) =>
      Array.from({ length: room.plan.clients }, (_, index) => ({ room, index })),
    );
    for (let from = 0; from < seats.length; from += JOINING)
      await Promise.all(seats.slice(from, from + JOINING).map(({ room, index }) => this.#seat(room, index)));
    const { churn } = this.#scenario;
    if (!churn) return;
    const every = (perMinute: number, work: () => Promise<void> | void): void => {
      if (perMinute > 0)
        this.#timers.push(setInterval(() => void (async () => work())().catch(this.#onFault), 60_000 / perMinute));
    };
    every(churn.clientsPerMinute, () => this.#replaceClient());
    every(churn.resetsPerMinute, () => this.#pick()?.seats.at(-1)?.player.reset());
    every(churn.roomsPerMinute, () => this.#replaceRoom());
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    for (const { seats } of this.#rooms) for (const { player } of seats) player.leave();
  }

  async #seat(room: OpenRoom, index: number): Promise<void> {
    const { plan } = room;
    const player = new Player({ url: this.#url, room: room.name, decodes: index < plan.decoding, counts: this.counts });
    room.seats.push({ player, index });
    await player.joined();
    if (this.#stopped) return player.leave();
    if (plan.hands && index < plan.hands.players) player.play(plan.hands, this.#random());
  }

  #pick(): OpenRoom | undefined {
    const rooms = this.#rooms.filter(({ busy, seats }) => !busy && seats.length > 0);
    return rooms[Math.floor(this.#random() * rooms.length)];
  }

  /**
   * Half of the clients leave with a closing handshake; the others disappear, and the server keeps their seats for a
   * while.
   */
  async #replaceClient(): Promise<void> {
    const room = this.#pick();
    if (!room) return;
    const [gone] = room.seats.splice(Math.floor(this.#random() * room.seats.length), 1);
    if (this.#random() < 0.5) gone!.player.leave();
    else gone!.player.drop();
    await this.#seat(room, gone!.index);
  }

  async #replaceRoom(): Promise<void> {
    const room = this.#pick();
    if (!room) return;
    room.busy = true;
    const gone = room.seats.splice(0);
    for (const { player } of gone) player.leave();
    const status = await deleteRoom(this.#url, room.name, room.token);
    if (status !== 204) throw new Error(`DELETE /api/rooms/${room.name} answered ${status}`);
    Object.assign(room, await openRoom(this.#url, room.plan.scene));
    await Promise.all(gone.map(({ index }) => this.#seat(room, index)));
    room.busy = false;
  }
}

async function openRoom(url: string, scene: string): Promise<Pick<OpenRoom, "name" | "token">> {
  const { room, token } = await createRoom(url, scene);
  return { name: room, token };
}

function main(): void {
  const say = (report: Report): void => void process.send?.(report);
  const fail = (error: Error): void => say({ type: "failed", message: error.stack ?? error.message });
  let crowd: Crowd | undefined;
  const start = async ({ url, scenario }: StartOrder): Promise<void> => {
    crowd = new Crowd(url, scenario, fail);
    await crowd.open();
    say({ type: "opened" });
    await crowd.join();
    say({ type: "joined" });
    const delay = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
    delay.enable();
    setInterval(() => {
      const { user, system } = process.cpuUsage();
      say({
        type: "sample",
        counts: { ...crowd!.counts },
        clients: crowd!.clients,
        cpuSeconds: (user + system) / 1e6,
        loopLagMs: Math.max(0, delay.percentile(99) / 1e6 - LAG_RESOLUTION_MS),
      });
      delay.reset();
    }, SAMPLE_MS);
  };
  process.on("message", (order: Order) => {
    if (order.type === "start") void start(order).catch(fail);
    else {
      crowd?.stop();
      // The closing messages may still be in the sockets.
      setTimeout(() => process.send?.({ type: "stopped" } satisfies Report, () => process.exit(0)), 300);
    }
  });
  process.once("disconnect", () => process.exit(1));
}

if (process.argv[1] !== undefined && import.meta.filename === process.argv[1]) main();
