/** When an exhibit resets: after a time without input, and which input counts. In virtual time. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { exhibit, reopen } from "../../../../client/ui/room/exhibit.ts";

const SECONDS = 10;

let page: EventTarget;
let held: string;
let renewed: boolean[];
let online: boolean;
let shown: number;
let ended: AbortController;

beforeEach(() => {
  vi.useFakeTimers();
  page = new EventTarget();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("document", { hidden: false });
  held = "";
  renewed = [];
  online = true;
  shown = 0;
  ended = new AbortController();
  exhibit({
    seconds: SECONDS,
    others: () => held,
    renew: (touched) => {
      renewed.push(touched);
      return online;
    },
    attract: () => shown++,
    signal: ended.signal,
  });
});
afterEach(() => {
  ended.abort();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const pass = (seconds: number): void => void vi.advanceTimersByTime(1000 * seconds);
const move = (buttons: number, movementX: number): void =>
  void page.dispatchEvent(Object.assign(new Event("pointermove"), { buttons, movementX, movementY: 0 }));

test("without input it resets once, counts as untouched, and repeats the hint", () => {
  pass(SECONDS + 1);
  expect(renewed).toEqual([false]);
  expect(shown).toBe(1);
  pass(60);
  expect(renewed).toEqual([false]);
  expect(shown).toBeGreaterThanOrEqual(7);
});

test("a continuing pull counts as input; an abandoned press and a passing mouse do not", () => {
  page.dispatchEvent(new Event("pointerdown"));
  for (let second = 0; second < 3 * SECONDS; second++) {
    pass(1);
    move(1, 4);
  }
  expect(renewed).toEqual([]);
  for (let second = 0; second < SECONDS + 1; second++) {
    pass(1);
    move(1, 0);
    move(0, 4);
  }
  expect(renewed).toEqual([true]);
});

test("after a visitor left during a lost connection, it resets as soon as the connection is back", () => {
  page.dispatchEvent(new Event("pointerdown"));
  online = false;
  pass(3 * SECONDS);
  expect(renewed.every((touched) => touched)).toBe(true);
  expect(shown).toBe(0);
  online = true;
  renewed = [];
  pass(2 * SECONDS);
  expect(renewed).toEqual([true]);
  expect(shown).toBeGreaterThan(0);
});

test("other members' cursors count as input while they move, not while they are still", () => {
  for (let second = 0; second < 3 * SECONDS; second++) {
    held = `0,${second},0`;
    pass(1);
  }
  expect(renewed).toEqual([]);
  pass(SECONDS + 1);
  expect(renewed).toEqual([true]);
  held = "";
  pass(SECONDS + 1);
  expect(renewed).toEqual([true]);
});

test("while it is hidden, and after its end, it does nothing", () => {
  vi.stubGlobal("document", { hidden: true });
  pass(3 * SECONDS);
  expect(renewed).toEqual([]);
  vi.stubGlobal("document", { hidden: false });
  ended.abort();
  pass(3 * SECONDS);
  expect(renewed).toEqual([]);
});

/** The page has been open for more than half an hour, without visitors. */
async function openFor(minutes: number, fetched: () => Promise<{ ok: boolean }>): Promise<() => void> {
  const reload = vi.fn();
  vi.stubGlobal("location", { href: "http://127.0.0.1/r/exhibit?exhibit=10", reload });
  vi.stubGlobal("fetch", fetched);
  await vi.advanceTimersByTimeAsync(60_000 * minutes);
  return reload;
}

test("after half an hour without visitors the page reloads if the server answers; until then it continues", async () => {
  const fetched = vi.fn(async () => ({ ok: false }));
  expect(await openFor(29, fetched)).not.toHaveBeenCalled();
  expect(fetched).not.toHaveBeenCalled();
  expect(await openFor(2, fetched)).not.toHaveBeenCalled();
  expect(fetched).toHaveBeenCalled();
  const before = shown;
  expect(await openFor(1, fetched)).not.toHaveBeenCalled();
  expect(shown).toBeGreaterThan(before);
  expect(await openFor(1, async () => ({ ok: true }))).toHaveBeenCalled();
});

test("it does not reload during a visitor's input, nor if input begins while the server is asked", async () => {
  const touch = setInterval(() => page.dispatchEvent(new Event("pointerdown")), 5000);
  const fetched = vi.fn(async () => {
    page.dispatchEvent(new Event("pointerdown"));
    return { ok: true };
  });
  const reload = await openFor(40, fetched);
  expect(fetched).not.toHaveBeenCalled();
  clearInterval(touch);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(fetched).toHaveBeenCalled();
  expect(reload).not.toHaveBeenCalled();
});

test("it reloads when the server answers, not before", async () => {
  const answers = [new Error("refused"), { ok: false }, { ok: true }];
  const reload = vi.fn();
  vi.stubGlobal("location", { href: "http://127.0.0.1/r/exhibit?exhibit=10", reload });
  vi.stubGlobal("fetch", async () => {
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  });
  reopen(SECONDS);
  await vi.advanceTimersByTimeAsync(1000 * (2 * SECONDS + 1));
  expect(answers).toHaveLength(1);
  expect(reload).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1000 * SECONDS);
  expect(reload).toHaveBeenCalledTimes(1);
});
