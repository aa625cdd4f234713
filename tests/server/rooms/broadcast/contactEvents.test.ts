/** Conditions for a new contact. */
import { expect, test } from "vitest";
import { ContactEvents } from "../../../../server/rooms/broadcast/contactEvents.ts";
import { Limits } from "../../../../shared/protocol/protocol.ts";

const TICK_HZ = 60;

test("pairs that touch when the first member subscribes are not new, later ones are", () => {
  const events = new ContactEvents(TICK_HZ);
  expect(events.begun(100, [0, 1])).toEqual([]);
  expect(events.begun(102, [0, 1, 1, 2])).toEqual([[1, 2]]);
  expect(events.begun(104, [0, 1, 1, 2])).toEqual([]);
});

test("a pair that separates for less than a quarter of a second does not begin again", () => {
  const events = new ContactEvents(TICK_HZ);
  const at = (tick: number, touching: boolean): boolean => events.begun(tick, touching ? [0, 1] : []).length > 0;
  expect([at(0, false), at(2, true)]).toEqual([false, true]);
  for (let tick = 4; tick <= 16; tick += 2) expect(at(tick, false)).toBe(false);
  expect(at(17, true)).toBe(false);
  for (let tick = 18; tick <= 32; tick += 2) expect(at(tick, false)).toBe(false);
  expect(at(33, true)).toBe(true);
});

test("a reset, an undo and a time without subscribers cause no new contacts", () => {
  const events = new ContactEvents(TICK_HZ);
  events.begun(100, []);
  events.forget();
  expect(events.begun(102, [0, 1])).toEqual([]);
  expect(events.begun(50, [0, 2])).toEqual([]);
  expect(events.begun(52, [0, 2, 0, 3])).toEqual([[0, 3]]);
  expect(events.begun(152, [0, 4])).toEqual([]);
});

test("the rate of contact events is limited", () => {
  const events = new ContactEvents(TICK_HZ);
  events.begun(0, []);
  let told = 0;
  for (let tick = 1; tick <= 10 * TICK_HZ; tick++) {
    const fresh = [...Array(10).keys()].flatMap((n) => [tick, 1000 + n]);
    told += events.begun(tick, fresh).length;
  }
  // The burst and ten seconds at the rate; rounding may cost one at either end.
  expect(told).toBeLessThanOrEqual(11 * Limits.contactsPerSecond);
  expect(told).toBeGreaterThanOrEqual(11 * Limits.contactsPerSecond - 2);
});
