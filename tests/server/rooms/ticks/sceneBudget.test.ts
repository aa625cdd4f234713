/**
 * A scene exceeds its budget if half of a room's first ticks took longer than a tick's period; the log reports it once.
 */
import { expect, test } from "vitest";
import { RecentTimes } from "../../../../server/rooms/ticks/recentTimes.ts";
import { SceneBudget } from "../../../../server/rooms/ticks/sceneBudget.ts";

const BUDGET = 1 / 50;

function judged(): { budget: SceneBudget; said: object[] } {
  const said: object[] = [];
  return { budget: new SceneBudget("jelly", 50, { warn: (fields: object) => void said.push(fields) }), said };
}

/** A room with these tick times, s. */
function room(budget: SceneBudget, ...ticks: number[]): void {
  const times = new RecentTimes(600);
  for (const seconds of ticks) {
    times.add(seconds);
    budget.ticked(times);
  }
}
const ticks = (count: number, seconds: number): number[] => Array.from({ length: count }, () => seconds);

test("a few long ticks are not the scene's fault: half of the first 120 have to be long", () => {
  const { budget, said } = judged();
  room(budget, ...ticks(60, 3 * BUDGET), ...ticks(60, 0.5 * BUDGET));
  expect(budget.exceeded).toBeNull();
  room(budget, ...ticks(61, 3 * BUDGET), ...ticks(58, 0.5 * BUDGET));
  expect(budget.exceeded).toBeNull();
  expect(said).toEqual([]);
  room(budget, ...ticks(61, 3 * BUDGET), ...ticks(59, 0.5 * BUDGET));
  expect(budget.exceeded).toEqual({ medianSeconds: 3 * BUDGET, budgetSeconds: BUDGET });
  expect(said).toEqual([{ scene: "jelly", medianMs: 60, budgetMs: 20 }]);
});

test("a scene that becomes expensive only after its bodies have fallen is found by the first 600 ticks", () => {
  const { budget, said } = judged();
  room(budget, ...ticks(200, 0.5 * BUDGET), ...ticks(400, 2 * BUDGET));
  expect(budget.exceeded).toMatchObject({ medianSeconds: 2 * BUDGET });
  expect(said).toHaveLength(1);
});

test("further rooms do not report it again; the room that was judged last is shown", () => {
  const { budget, said } = judged();
  for (let i = 0; i < 3; i++) room(budget, ...ticks(120, 2 * BUDGET));
  expect(said).toHaveLength(1);
  room(budget, ...ticks(120, 0.5 * BUDGET));
  expect(budget.exceeded).toBeNull();
  room(budget, ...ticks(120, 4 * BUDGET));
  expect(budget.exceeded).toMatchObject({ medianSeconds: 4 * BUDGET });
  expect(said).toHaveLength(1);
});

test("a tick that takes exactly its period is within the budget", () => {
  const { budget } = judged();
  room(budget, ...ticks(120, BUDGET));
  expect(budget.exceeded).toBeNull();
});
