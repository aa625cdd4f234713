/** Scenes that are built at the start: which of them the server waits for, failures, and the end of the work. */
import { afterEach, expect, test, vi } from "vitest";
import { Arrivals, LONGEST_WAIT_MS, prewarm, type PrewarmOptions } from "../../../server/rooms/prewarm.ts";

/** Builds that end when the test says so. */
function builds() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const waiting = new Map<string, () => void>();
  const build = (scene: string): Promise<void> => {
    begun.push(scene);
    waiting.get(scene)?.();
    return new Promise((resolve, reject) => ends.set(scene, (error) => (error ? reject(error) : resolve())));
  };
  const hasBegun = (scene: string): Promise<void> =>
    begun.includes(scene) ? Promise.resolve() : new Promise((resolve) => waiting.set(scene, resolve));
  return { begun, build, hasBegun, end: (scene: string, error?: Error) => ends.get(scene)!(error) };
}

const start = (choice: PrewarmOptions["choice"], arrivals: PrewarmOptions["arrivals"] = new Arrivals()) => {
  const work = builds();
  const closing = new AbortController();
  const list = async (): Promise<string[]> => ["a", "b", "c"];
  return { ...work, closing, ...prewarm({ choice, list, build: work.build, arrivals, signal: closing.signal }) };
};

const settled = async (promise: Promise<void>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);

afterEach(() => void vi.useRealTimers());

test("with all scenes the server is ready at once, and they are built one after another", async () => {
  const { ready, ended, begun, hasBegun, end } = start("all");
  await ready;
  await hasBegun("a");
  expect(begun).toEqual(["a"]);
  end("a");
  await hasBegun("b");
  end("b", new Error("a broken scene"));
  await hasBegun("c");
  expect(await settled(ended)).toBe(false);
  end("c");
  await ended;
});

test("with a list the server is ready when they are built", async () => {
  const { ready, begun, hasBegun, end } = start(["b", "a"]);
  await hasBegun("b");
  expect(await settled(ready)).toBe(false);
  end("b");
  await hasBegun("a");
  expect(await settled(ready)).toBe(false);
  end("a");
  await ready;
  expect(begun).toEqual(["b", "a"]);
});

test("a long list delays the server by a minute at most: the rest is built in the background", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { ready, ended, begun, hasBegun, end } = start(["b", "a"]);
  await hasBegun("b");
  vi.advanceTimersByTime(LONGEST_WAIT_MS - 1);
  expect(await settled(ready)).toBe(false);
  vi.advanceTimersByTime(1);
  await ready;
  end("b", new Error("broken"));
  await hasBegun("a");
  expect(begun).toEqual(["b", "a"]);
  expect(await settled(ended)).toBe(false);
  end("a");
  await ended;
  expect(vi.getTimerCount()).toBe(0);
});

test("a list that is built early leaves no timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { ready, hasBegun, end } = start(["b"]);
  await hasBegun("b");
  end("b");
  await ready;
  expect(vi.getTimerCount()).toBe(0);
});

test("none builds none", async () => {
  const { ready, ended, begun } = start("none");
  await Promise.all([ready, ended]);
  expect(begun).toEqual([]);
});

test.each<PrewarmOptions["choice"]>(["all", ["a", "b", "c"]])(
  "with %s, it fails if every scene fails",
  async (choice) => {
    const { ready, ended, hasBegun, end } = start(choice);
    ready.catch(() => {});
    for (const scene of ["a", "b", "c"]) {
      await hasBegun(scene);
      end(scene, new Error("broken"));
    }
    await expect(ended).rejects.toThrow("no scene could be built");
  },
);

test("a server that closes begins no further build", async () => {
  const { ended, begun, hasBegun, closing, end } = start("all");
  await hasBegun("a");
  closing.abort();
  end("a", new Error("the pool is closed"));
  await ended;
  expect(begun).toEqual(["a"]);
});

test("a build waits until visitors have arrived, a server that closes meanwhile begins none", async () => {
  const waits: (() => void)[] = [];
  const arrivals = { over: () => new Promise<void>((resolve) => waits.push(resolve)) };
  const { begun, hasBegun, end, ended, closing } = start(["a", "b"], arrivals);
  expect(await settled(hasBegun("a"))).toBe(false);
  waits[0]!();
  await hasBegun("a");
  end("a");
  expect(await settled(hasBegun("b"))).toBe(false);
  closing.abort();
  waits[1]!();
  await ended;
  expect(begun).toEqual(["a"]);
});

test("a visitor arrives for four seconds after the last request", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const arrivals = new Arrivals();
  expect(arrivals.restMs).toBe(0);
  arrivals.note();
  vi.advanceTimersByTime(1000);
  arrivals.note();
  expect(arrivals.restMs).toBe(4000);
  vi.advanceTimersByTime(4000);
  expect(arrivals.restMs).toBe(0);
  await arrivals.over(new AbortController().signal);
});
