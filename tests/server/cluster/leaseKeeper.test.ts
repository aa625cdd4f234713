/** Renewals of leases, in virtual time. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LeaseKeeper } from "../../../server/cluster/leaseKeeper.ts";
import { ClusterMetrics } from "../../../server/metrics/cluster.ts";
import { Maker } from "../../../server/metrics/maker.ts";
import { LEASE_SECONDS, LeaseLost, type Store } from "../../../server/store/store.ts";
import { Registry } from "prom-client";

const TERM_MS = 1000 * LEASE_SECONDS;
const holder = { process: "here", url: "http://here" };
const lease = { room: "room", process: "here", epoch: 1, url: "http://here" };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A keeper with one lease of a store that answers renewals on command. */
async function holding(
  writes: Partial<Store> = {},
): Promise<{ keeper: LeaseKeeper; asked: number[]; answers: (() => void)[] }> {
  const [asked, answers]: [number[], (() => void)[]] = [[], []];
  const store = {
    ...writes,
    leaseSeconds: LEASE_SECONDS,
    claim: () => Promise.resolve(lease),
    renew: () => {
      asked.push(performance.now());
      return new Promise((resolve) => answers.push(() => resolve([])));
    },
  } as unknown as Store;
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const rooms = { serves: () => true, members: () => 0, drop: () => Promise.resolve() };
  const metrics = new ClusterMetrics(new Maker(new Registry()));
  const keeper = new LeaseKeeper({ store, holder, rooms, metrics, log });
  await keeper.store.claim("room", holder, {} as never);
  return { keeper, asked, answers };
}

test("after an answer that took most of a term the next renewal comes before the lease ends", async () => {
  const { keeper, asked, answers } = await holding();
  await vi.advanceTimersByTimeAsync(TERM_MS / 3);
  expect(asked.length).toBe(1);
  await vi.advanceTimersByTimeAsync(0.8 * TERM_MS);
  answers[0]!();
  await vi.advanceTimersByTimeAsync(0.05 * TERM_MS);
  expect(asked.length).toBe(2);
  expect(keeper.ownedUntilMs("room")).toBeGreaterThan(performance.now());
  answers[1]!();
  await vi.advanceTimersByTimeAsync(0.2 * TERM_MS);
  expect(keeper.ownedUntilMs("room")).toBeGreaterThan(performance.now());
  keeper.close();
});

test("with immediate answers renewals are a third of a term apart", async () => {
  const { keeper, asked, answers } = await holding();
  for (let renewal = 0; renewal < 5; renewal++) {
    await vi.advanceTimersByTimeAsync(TERM_MS / 3);
    answers[renewal]!();
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(asked.length).toBe(5);
  expect(asked.map((at) => at - asked[0]!)).toEqual([0, 1, 2, 3, 4].map((third) => (third * TERM_MS) / 3));
  keeper.close();
});

test("a lease that a refused write has shown to be lost is not renewed: a replica might return it without a room", async () => {
  const { keeper, asked } = await holding({ writeSettings: () => Promise.reject(new LeaseLost(lease)) });
  await expect(keeper.store.writeSettings(lease, {})).rejects.toThrow(LeaseLost);
  expect(keeper.lease("room")).toBeUndefined();
  await vi.advanceTimersByTimeAsync(2 * TERM_MS);
  expect(asked).toEqual([]);
  keeper.close();
});

test("a write that failed for another reason, or was refused for an older lease, loses no lease", async () => {
  const { keeper } = await holding({
    writeSettings: () => Promise.reject(new Error("away")),
    writeMembers: () => Promise.reject(new LeaseLost({ ...lease, epoch: 0 })),
  });
  await expect(keeper.store.writeSettings(lease, {})).rejects.toThrow("away");
  await expect(keeper.store.writeMembers({ ...lease, epoch: 0 }, new Uint8Array())).rejects.toThrow(LeaseLost);
  expect(keeper.lease("room")).toEqual(lease);
  keeper.close();
});
