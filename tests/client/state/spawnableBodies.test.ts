/** Which bodies a picture between two frames shows, when messages are ahead of it. */
import { describe, expect, test } from "vitest";
import { AbsentBodies } from "../../../client/state/spawnableBodies.ts";

describe("AbsentBodies", () => {
  test("a body is shown between frames that both have it", () => {
    const history = new AbsentBodies();
    history.note(0, [1, 2]);
    history.note(10, [2]);
    const shows = (from: number, to: number): number[] => [0, 1, 2].filter((body) => !history.isAbsent(body, from, to));
    expect(shows(6, 8)).toEqual([0]);
    // The frame at 10 has it, the one before does not.
    expect(shows(8, 10)).toEqual([0]);
    expect(shows(10, 10)).toEqual([0, 1]);
    expect(shows(10, 12)).toEqual([0, 1]);
  });

  test("a body removed and spawned again between two frames is not drawn in between", () => {
    const history = new AbsentBodies();
    history.note(0, []);
    history.note(11, [1]);
    history.note(12, []);
    expect(history.isAbsent(1, 10, 12)).toBe(true);
    expect(history.isAbsent(1, 8, 10)).toBe(false);
    expect(history.isAbsent(1, 12, 14)).toBe(false);
  });

  test("the last message for a tick counts, and after a restart at an earlier tick later entries are dropped", () => {
    const history = new AbsentBodies();
    history.note(5, [1]);
    history.note(20, [2]);
    history.note(20, []);
    expect(history.isAbsent(2, 20, 22)).toBe(false);
    history.note(5, [3]);
    expect(history.isAbsent(3, 30, 32)).toBe(true);
    expect(history.isAbsent(1, 30, 32)).toBe(false);
  });
});
