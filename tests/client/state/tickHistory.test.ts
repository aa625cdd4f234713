/** Values by tick: which bodies a picture between two frames shows, when messages are ahead of it. */
import { describe, expect, test } from "vitest";
import { TickHistory } from "../../../client/state/tickHistory.ts";

describe("TickHistory of absent bodies", () => {
  test("a body is shown between frames that both have it", () => {
    const history = new TickHistory<readonly number[]>();
    history.note(0, [1, 2]);
    history.note(10, [2]);
    const shows = (from: number, to: number): number[] =>
      [0, 1, 2].filter((body) => !history.between(from, to).flat().includes(body));
    expect(shows(6, 8)).toEqual([0]);
    // The frame at 10 has it, the one before does not.
    expect(shows(8, 10)).toEqual([0]);
    expect(shows(10, 10)).toEqual([0, 1]);
    expect(shows(10, 12)).toEqual([0, 1]);
  });

  test("a body removed and spawned again between two frames is not drawn in between", () => {
    const history = new TickHistory<readonly number[]>();
    history.note(0, []);
    history.note(11, [1]);
    history.note(12, []);
    expect(history.between(10, 12).flat()).toContain(1);
    expect(history.between(8, 10).flat()).not.toContain(1);
    expect(history.between(12, 14).flat()).not.toContain(1);
  });

  test("the last message for a tick counts, and after a restart at an earlier tick later entries are dropped", () => {
    const history = new TickHistory<readonly number[]>();
    history.note(5, [1]);
    history.note(20, [2]);
    history.note(20, []);
    expect(history.between(20, 22).flat()).not.toContain(2);
    history.note(5, [3]);
    expect(history.between(30, 32).flat()).toContain(3);
    expect(history.between(30, 32).flat()).not.toContain(1);
  });
});
