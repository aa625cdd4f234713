/** Rooms that may kill the process, and how many of them are tried at once. */
import { expect, test } from "vitest";
import { Probations } from "../../../../server/rooms/recovery/probation.ts";

test("the number of attempts of a room is limited", () => {
  const trials = new Probations(3);
  expect([0, 1, 3, 4, 5].map((attempts) => trials.isOver(attempts))).toEqual([false, false, false, true, true]);
});

test("last attempts run one after another; earlier attempts do not wait", async () => {
  const trials = new Probations(3);
  const order: string[] = [];
  const first = await trials.turn(3);
  const waiting = [4, 3].map(async (attempts) => {
    const over = await trials.turn(attempts);
    order.push(`last ${attempts}`);
    over();
  });
  for (const attempts of [0, 1, 2]) (await trials.turn(attempts))();
  order.push("the others");
  first();
  await Promise.all(waiting);
  expect(order).toEqual(["the others", "last 4", "last 3"]);
});

test("the first ticks of a last attempt wait for their turn, too, and the store records them before they begin", async () => {
  const trials = new Probations(2);
  const order: string[] = [];
  const counted = async (): Promise<void> => void order.push("counted");
  const over = await trials.turn(2);
  const trial = trials.of(2, counted);
  const begun = trial.begin(() => order.push("on")).then(() => order.push("begun"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  over();
  await begun;
  expect(order).toEqual(["on", "counted", "begun"]);
  const next = trials.turn(2).then(() => order.push("next"));
  trial.end();
  trial.end();
  await next;
  expect(order.at(-1)).toBe("next");
  // An unavailable store does not delay them.
  await trials.of(1, () => Promise.reject(new Error("away"))).begin(() => {});
});
