/** Displacements of moving colliders at the moment of a picture, when messages are ahead of it. */
import { expect, test } from "vitest";
import { MoverYields } from "../../../client/state/moverYields.ts";

test("a mover is where the tick's message says, and between two ticks in between", () => {
  const yields = new MoverYields();
  yields.note(10, [[0, 0, 1, 0]]);
  yields.note(11, [
    [0, 0, 2, 0],
    [2, 4, 0, 0],
  ]);
  yields.note(20, []);
  expect(yields.at(9)).toEqual([]);
  expect(yields.at(9.5)).toEqual([[0, 0, 0.5, 0]]);
  expect(yields.at(10.25)).toEqual([
    [0, 0, 1.25, 0],
    [2, 1, 0, 0],
  ]);
  // It stands until the tick before the next change.
  expect(yields.at(19)).toEqual(yields.at(11));
  expect(yields.at(19.5)).toEqual([
    [0, 0, 1, 0],
    [2, 2, 0, 0],
  ]);
  expect(yields.at(30)).toEqual([]);
});

test("after a restart at an earlier tick later entries are dropped, and old ones are forgotten", () => {
  const yields = new MoverYields(2);
  for (const tick of [10, 11, 12]) yields.note(tick, [[0, tick, 0, 0]]);
  expect(yields.at(10.1)).toEqual([[0, expect.closeTo(1.1, 9), 0, 0]]);
  yields.note(5, [[0, 1, 0, 0]]);
  expect(yields.at(12)).toEqual([[0, 1, 0, 0]]);
});
