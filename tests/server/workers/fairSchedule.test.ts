/**
 * Who runs next on a thread, in virtual time: deadlines within shares, shares by weight, and long ticks that wait for
 * light rooms but not for ever.
 */
import { describe, expect, test } from "vitest";
import { TickClock } from "../../../server/rooms/clock.ts";
import { FairSchedule, Flow } from "../../../server/workers/fairSchedule.ts";

interface Room {
  hz: number;
  tickSeconds: number;
  weight?: number;
}

interface Seen {
  /** Simulated over wall time. */
  rate: number;
  /** Ticks that began more than a period late. */
  late: number;
  /** Seconds of the thread. */
  seconds: number;
}

/** Rooms on one thread for so long; each asks for its next tick when the last is over, as they do. */
function simulate(rooms: readonly Room[], seconds: number): Seen[] {
  const schedule = new FairSchedule<number>();
  const endMs = 1000 * seconds;
  const clocks = rooms.map(({ hz }, i) => new TickClock(hz, (i * 1000) / hz / rooms.length));
  const flows = rooms.map(({ hz, weight = 1 }) => Object.assign(new Flow(1000 / hz), { weight }));
  const late = rooms.map(() => 0);
  const took = rooms.map(() => 0);
  rooms.forEach((_, i) => schedule.submit(flows[i]!, clocks[i]!.nextDueMs(), i));
  for (let nowMs = 0; nowMs < endMs; ) {
    const next = schedule.next(nowMs);
    if ("againMs" in next) {
      if (!(next.againMs > nowMs)) throw new Error(`asked to ask again at ${next.againMs}, at ${nowMs}`);
      nowMs = next.againMs;
      continue;
    }
    const i = next.item;
    const clock = clocks[i]!;
    const { hz, tickSeconds } = rooms[i]!;
    if (nowMs - clock.nextDueMs() > 1000 / hz) late[i]! += 1;
    clock.begin(nowMs);
    nowMs += 1000 * tickSeconds;
    took[i]! += tickSeconds;
    schedule.done(next.flow, tickSeconds, nowMs);
    schedule.submit(flows[i]!, clock.nextDueMs(), i);
  }
  return rooms.map(({ hz }, i) => ({
    rate: clocks[i]!.begun / hz / seconds,
    late: late[i]! / clocks[i]!.begun,
    seconds: took[i]!,
  }));
}

const many = (count: number, room: Room): Room[] => Array.from({ length: count }, () => room);

describe("one thread", () => {
  test("rooms that fit into 95 % of it are all in real time, and never a period late", () => {
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
      // but for the tick that the end cuts off
      expect(rate).toBeGreaterThan(1 - 2 / (30 * 20));
      expect(late).toBe(0);
    }
  });

  test("a room that asks for more than its share goes into slow motion alone, and gets all that is left", () => {
    const seen = simulate([{ hz: 60, tickSeconds: 0.05 }, ...many(10, { hz: 60, tickSeconds: 0.0005 })], 30);
    const [heavy, ...light] = seen;
    for (const { rate } of light) expect(rate).toBeGreaterThan(0.99);
    // lights take 30 %; what they cannot use between two ticks of 50 ms is lost to nobody
    expect(heavy!.seconds).toBeGreaterThan(0.6 * 30);
  });

  test("ticks longer than light rooms can wait for begin rarely, but they begin", () => {
    for (const tickSeconds of [0.5, 3.6, 20]) {
      const [heavy, ...light] = simulate([{ hz: 60, tickSeconds }, ...many(4, { hz: 60, tickSeconds: 0.0005 })], 1000);
      // three ticks pass before the schedule knows what the room's ticks take
      // then it has a stall of 40 ms a second, and waits for 2 s of them at most, which are 50 s
      for (const { rate } of light)
        expect(rate).toBeGreaterThan(1 - Math.max(0.04, tickSeconds / 50) - (3 * tickSeconds) / 1000);
      expect(heavy!.seconds / tickSeconds).toBeGreaterThanOrEqual(Math.floor(1000 / (50 + tickSeconds)));
    }
  });

  test("rooms that all want more than there is get it by weight", () => {
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

  test("two heavy rooms do not wait for each other's sake", () => {
    const seen = simulate(many(2, { hz: 60, tickSeconds: 0.5 }), 60);
    expect(seen[0]!.seconds + seen[1]!.seconds).toBeGreaterThan(59);
    expect(Math.abs(seen[0]!.seconds - seen[1]!.seconds)).toBeLessThanOrEqual(1);
  });

  test("a light room that comes to a thread that is full is in real time at once", () => {
    const seen = simulate([...many(4, { hz: 60, tickSeconds: 0.015 }), { hz: 60, tickSeconds: 0.001 }], 20);
    expect(seen[4]!.rate).toBeGreaterThan(0.99);
  });

  test("one long tick says nothing of the next ones", () => {
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
