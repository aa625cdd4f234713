/**
 * The order of rooms on a thread, in virtual time: deadlines within shares, shares by weight. Long ticks wait for light
 * rooms, but not forever.
 */
import { describe, expect, test } from "vitest";
import { TickClock } from "../../../../server/rooms/ticks/tickClock.ts";
import { Account, FairSchedule, Flow } from "../../../../server/workers/schedule/fairSchedule.ts";

interface Room {
  hz: number;
  tickSeconds: number;
  /** Length of a piece after which its ticks can be preempted; equal to a tick: never. */
  pieceSeconds?: number;
  weight?: number;
  /** Rooms of one account have one share together; absent: an account of its own. */
  account?: Account;
  /** Start of the room, s. */
  from?: number;
}

interface Seen {
  /** Simulated over wall time. */
  rate: number;
  /** Ticks that began more than a period late. */
  late: number;
  /** Largest lateness of a tick's begin, s, in the second half of the time. */
  latest: number;
  /** Seconds of the thread. */
  seconds: number;
}

/** Runs rooms on one thread; each requests its next tick when the last one ends, as real rooms do. */
function simulate(rooms: readonly Room[], seconds: number): Seen[] {
  const schedule = new FairSchedule<number>();
  const endMs = 1000 * seconds;
  const clocks = rooms.map(({ hz, from = 0 }, i) => new TickClock(hz, 1000 * from + (i * 1000) / hz / rooms.length));
  const flows = rooms.map(({ hz, weight = 1, account = new Account() }) =>
    Object.assign(new Flow(1000 / hz), { weight, account }),
  );
  const late = rooms.map(() => 0);
  const latest = rooms.map(() => 0);
  const took = rooms.map(() => 0);
  let nowMs = 0;
  const run = (i: number): void => {
    const { hz, tickSeconds, pieceSeconds = tickSeconds } = rooms[i]!;
    const lateMs = nowMs - clocks[i]!.nextDueMs();
    if (lateMs > 1000 / hz) late[i]! += 1;
    if (nowMs > endMs / 2) latest[i] = Math.max(latest[i]!, lateMs / 1000);
    clocks[i]!.begin(nowMs);
    for (let own = pieceSeconds; ; own += pieceSeconds) {
      nowMs += 1000 * pieceSeconds;
      if (own > tickSeconds - 1e-9) break;
      for (let next = schedule.preempting(flows[i]!, own, nowMs); next; ) {
        run(next.item);
        next = schedule.preempting(flows[i]!, own, nowMs);
      }
    }
    took[i]! += tickSeconds;
    schedule.done(flows[i]!, tickSeconds, nowMs, pieceSeconds);
    schedule.submit(flows[i]!, clocks[i]!.nextDueMs(), i);
  };
  rooms.forEach((_, i) => schedule.submit(flows[i]!, clocks[i]!.nextDueMs(), i));
  while (nowMs < endMs) {
    const next = schedule.next(nowMs);
    if ("item" in next) run(next.item);
    else if (next.againMs > nowMs) nowMs = next.againMs;
    else throw new Error(`the schedule asked for another call at ${next.againMs}, but it is ${nowMs}`);
  }
  return rooms.map(({ hz, from = 0 }, i) => ({
    rate: clocks[i]!.begun / hz / (seconds - from),
    late: late[i]! / clocks[i]!.begun,
    latest: latest[i]!,
    seconds: took[i]!,
  }));
}

const many = (count: number, room: Room): Room[] => Array.from({ length: count }, () => room);

describe("one thread", () => {
  test("rooms that fit into 95 % of it are all in real time, and at most a period late", () => {
    for (const { rate, late } of simulate(many(57, { hz: 60, tickSeconds: 0.95 / 57 / 60 }), 20)) {
      expect(rate).toBeGreaterThan(0.999);
      expect(late).toBe(0);
    }
  });

  test("rooms of different rates fit side by side", () => {
    for (const { rate, late } of simulate(
      [...many(10, { hz: 120, tickSeconds: 0.0005 }), ...many(10, { hz: 30, tickSeconds: 0.0008 })],
      20,
    )) {
      // Except for the tick that the end cuts off.
      expect(rate).toBeGreaterThan(1 - 2 / (30 * 20));
      expect(late).toBe(0);
    }
  });

  test("a room that needs more than its share is the only one in slow motion, and gets all the remaining time", () => {
    const seen = simulate([{ hz: 60, tickSeconds: 0.05 }, ...many(10, { hz: 60, tickSeconds: 0.0005 })], 30);
    const [heavy, ...light] = seen;
    for (const { rate } of light) expect(rate).toBeGreaterThan(0.99);
    // Light rooms take 30 %. The heavy room can also use their gaps between two ticks of 50 ms.
    expect(heavy!.seconds).toBeGreaterThan(0.6 * 30);
  });

  test("ticks that are too long for light rooms begin rarely, but they begin", () => {
    for (const tickSeconds of [0.5, 3.6, 20]) {
      const [heavy, ...light] = simulate([{ hz: 60, tickSeconds }, ...many(4, { hz: 60, tickSeconds: 0.0005 })], 1000);
      // Three ticks pass before the schedule knows the length of the room's ticks.
      // Then it has a stall of 40 ms a second, and waits for at most 2 s of them, which are 50 s.
      for (const { rate } of light)
        expect(rate).toBeGreaterThan(1 - Math.max(0.04, tickSeconds / 50) - (3 * tickSeconds) / 1000);
      expect(heavy!.seconds / tickSeconds).toBeGreaterThanOrEqual(Math.floor(1000 / (50 + tickSeconds)));
    }
  });

  test.each([0.05, 0.5, 3.6])("during ticks of %f s light rooms wait only for one piece of them", (tickSeconds) => {
    const piece = 0.002;
    const heavy = { hz: 60, tickSeconds, pieceSeconds: piece };
    const seen = simulate([heavy, ...many(10, { hz: 60, tickSeconds: 0.0005 })], 60);
    for (const { rate, latest } of seen.slice(1)) {
      // The schedule first has to learn how long heavy ticks are. Until then light rooms wait for whole ones.
      expect(rate).toBeGreaterThan(0.8);
      // A light tick waits at most for the rest of a heavy piece and for the other light rooms.
      expect(latest).toBeLessThan(piece + 10 * 0.0005);
    }
    // No time of the thread is lost.
    expect(seen.reduce((sum, { seconds }) => sum + seconds, 0)).toBeGreaterThan(0.99 * 60);
  });

  test("much shorter ticks that are not light run during long ones, and light ones during theirs", () => {
    const [, medium, light] = simulate(
      [
        { hz: 60, tickSeconds: 0.06, pieceSeconds: 0.001 },
        { hz: 60, tickSeconds: 0.008, pieceSeconds: 0.001 },
        { hz: 60, tickSeconds: 0.0005 },
      ],
      60,
    );
    expect(medium!.latest).toBeLessThan(0.001 + 0.0005 + 1e-6);
    expect(light!.latest).toBeLessThan(0.001 + 1e-6);
  });

  test("a room within its share waits for a piece of another room's long tick, not for its end", () => {
    const piece = 0.002;
    const own = { hz: 60, tickSeconds: 0.005, pieceSeconds: 0.0025 };
    // One of three addresses has three rooms, with a third of its share each, which ask for five times the thread.
    const greedy = { hz: 60, pieceSeconds: piece, weight: 1 / 3, account: new Account() };
    const seen = simulate(
      [
        own,
        own,
        { ...greedy, tickSeconds: 0.006 },
        { ...greedy, tickSeconds: 0.018 },
        { ...greedy, tickSeconds: 0.07 },
      ],
      60,
    );
    for (const { rate, latest } of seen.slice(0, 2)) {
      expect(rate).toBeGreaterThan(0.99);
      // Plus waits for each other, and until they have had less again: 4 ms ahead still count as within a share.
      expect(latest).toBeLessThan(piece + own.tickSeconds + 0.004 + 1e-6);
    }
    // The rooms of the heavy address get the remaining time, each some of it.
    expect(seen.reduce((sum, { seconds }) => sum + seconds, 0)).toBeGreaterThan(0.99 * 60);
    for (const { seconds } of seen.slice(2)) expect(seconds / 60).toBeGreaterThan(0.05);
  });

  test("a room without known tick times is preempted, too", () => {
    const schedule = new FairSchedule<string>();
    const own = new Flow(1000 / 60, 0.006, 1000);
    const unknown = new Flow(1000 / 60);
    schedule.submit(unknown, 0, "unknown");
    schedule.next(0);
    schedule.submit(own, 1, "own");
    expect(schedule.preempting(unknown, 0.005, 5)).toBeUndefined();
    expect(schedule.preempting(unknown, 0.007, 7)).toMatchObject({ item: "own" });
  });

  test("a preempting room gets at most its share: light rooms that want the whole thread leave the long tick its part", () => {
    const seen = simulate(
      [{ hz: 60, tickSeconds: 0.05, pieceSeconds: 0.001 }, ...many(9, { hz: 60, tickSeconds: 0.003 })],
      60,
    );
    for (const { seconds } of seen) expect(seconds / 60).toBeCloseTo(0.1, 1);
    expect(seen[0]!.seconds / 60).toBeGreaterThan(0.09);
  });

  test("a new or moved room preempts no tick until enough of its own have completed", () => {
    const schedule = new FairSchedule<string>();
    const long = new Flow(1000 / 60, 0.049);
    const light = new Flow(1000 / 60);
    let ticks = 0;
    const preempts = (): boolean => {
      schedule.submit(light, 0, "light");
      const next = schedule.preempting(long, 0, 0);
      if (!next) schedule.withdraw(light);
      schedule.done(light, 1e-6, 0);
      ticks += 1;
      return next !== undefined;
    };
    while (!preempts()) expect(ticks).toBeLessThan(100);
    expect(ticks).toBe(61);
  });

  test("a new room does not wait for the end of a very long tick, and known long ticks let it go first", () => {
    const schedule = new FairSchedule<string>();
    const [hostile, other] = [new Flow(1000 / 60, 3, 1000), new Flow(1000 / 60, 2, 1000)];
    const stranger = new Flow(1000 / 60);
    schedule.submit(hostile, 0, "hostile");
    schedule.next(0);
    schedule.submit(other, 0, "other");
    schedule.submit(stranger, 10, "stranger");
    expect(schedule.preempting(hostile, 2.5, 2500)).toMatchObject({ item: "stranger" });
    schedule.done(stranger, 0.001, 2501);
    expect(schedule.preempting(hostile, 2.5, 2501)).toMatchObject({ item: "other" });
    // At most two long ticks and two of unknown rooms are nested,
    const unknown = [1, 2, 3].map(() => new Flow(1000 / 60));
    for (const flow of unknown) schedule.submit(flow, 2510, "unknown");
    expect(schedule.preempting(other, 0.5, 3000)).toMatchObject({ item: "unknown" });
    expect(schedule.preempting(other, 0.5, 3000)).toMatchObject({ item: "unknown" });
    expect(schedule.preempting(other, 0.5, 3000)).toBeUndefined();
    // but three ticks are enough to know a light room.
    for (let tick = 2; tick < 4; tick++) stranger.took(0.001, 0.001);
    schedule.submit(stranger, 3000, "stranger");
    expect(schedule.preempting(other, 0.5, 3000)).toMatchObject({ item: "stranger" });
  });

  test("if all rooms want more than there is, they get time by weight", () => {
    const seen = simulate(
      [
        { hz: 60, tickSeconds: 0.02, weight: 1 },
        { hz: 60, tickSeconds: 0.03, weight: 1 },
        { hz: 60, tickSeconds: 0.02, weight: 2 },
      ],
      60,
    );
    const [one, other, two] = seen.map(({ seconds }) => seconds / 60);
    expect(one).toBeCloseTo(0.25, 1);
    expect(other).toBeCloseTo(0.25, 1);
    expect(two).toBeCloseTo(0.5, 1);
    expect(one! + other! + two!).toBeCloseTo(1, 2);
  });

  test("two heavy rooms do not wait for each other", () => {
    const seen = simulate(many(2, { hz: 60, tickSeconds: 0.5 }), 60);
    expect(seen[0]!.seconds + seen[1]!.seconds).toBeGreaterThan(59);
    expect(Math.abs(seen[0]!.seconds - seen[1]!.seconds)).toBeLessThanOrEqual(1);
  });

  test("a light room that joins a full thread is in real time at once", () => {
    const seen = simulate([...many(4, { hz: 60, tickSeconds: 0.015 }), { hz: 60, tickSeconds: 0.001 }], 20);
    expect(seen[4]!.rate).toBeGreaterThan(0.99);
  });

  test("light rooms beyond their share, however many, do not delay another address's long tick", () => {
    const greedy = { hz: 60, tickSeconds: 0.003, weight: 1 / 20, account: new Account() };
    const [own] = simulate([{ hz: 60, tickSeconds: 0.006, pieceSeconds: 0.002 }, ...many(20, greedy)], 60);
    expect(own!.rate).toBeGreaterThan(0.99);
    expect(own!.latest).toBeLessThan(greedy.tickSeconds + 0.006 + 0.004);
  });

  test("a light room that has gone, or is late for another reason, does not stop long ticks from beginning", () => {
    const schedule = new FairSchedule<string>();
    const light = new Flow(1000 / 60);
    const long = new Flow(1000 / 60, 0.01);
    schedule.submit(light, 0, "light");
    schedule.next(0);
    schedule.done(light, 0.001, 1);
    schedule.submit(long, 100, "long");
    expect(schedule.next(100)).toMatchObject({ item: "long" });
  });

  test("a single long tick does not predict later ones", () => {
    const schedule = new FairSchedule<string>();
    const light = new Flow(1000 / 60);
    const room = new Flow(1000 / 60);
    let nowMs = 0;
    for (const seconds of [0.01, 0.01, 0.01, 0.4]) {
      schedule.submit(room, nowMs, "room");
      expect(schedule.next(nowMs)).toMatchObject({ item: "room" });
      nowMs += 1000 * seconds;
      schedule.done(room, seconds, nowMs);
    }
    schedule.submit(light, nowMs, "light");
    expect(schedule.next(nowMs)).toMatchObject({ item: "light" });
    schedule.done(light, 0.001, nowMs);
    schedule.submit(room, nowMs, "room");
    expect(schedule.next(nowMs)).toMatchObject({ item: "room" });
  });
});
