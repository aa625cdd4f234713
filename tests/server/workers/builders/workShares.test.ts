/** Queues that serve the address with the least use. */
import { expect, test } from "vitest";
import { WorkShares } from "../../../../server/workers/builders/workShares.ts";
import { Turns } from "../../../../shared/turns.ts";

test("use is halved every minute, and remembered for a limited number of addresses", () => {
  const shares = new WorkShares();
  shares.charge("a", 1000, 0);
  expect(shares.of("a", 60_000)).toBe(500);
  shares.charge("a", 100, 60_000);
  expect(shares.of("a", 120_000)).toBe(300);
  for (let i = 0; i < 10_000; i++) shares.charge(`other ${i}`, 1, 60_000);
  expect(shares.of("a", 60_000)).toBe(0);
});

test("the address with the least use is next; addresses with equal use take turns", async () => {
  const shares = new WorkShares();
  const turns = new Turns(1, (address) => shares.of(address, 0));
  const done: string[] = [];
  const work = (address: string): Promise<void> =>
    turns.run(address, async () => {
      done.push(address);
      shares.charge(address, address === "heavy" ? 1000 : 10, 0);
    });
  await Promise.all(["heavy", "heavy", "heavy", "light", "light", "late"].map(work));
  expect(done).toEqual(["heavy", "light", "late", "light", "heavy", "heavy"]);
});
