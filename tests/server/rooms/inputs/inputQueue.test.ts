/** Coalescing: a tick's inputs have the effect of all requests, and the list is as short as possible. */
import { beforeEach, describe, expect, test } from "vitest";
import { InputQueue } from "../../../../server/rooms/inputs/inputQueue.ts";
import type { Input } from "../../../../server/sim/types.ts";

const grab = (member: number, id: number, x = 0): Input => ({
  type: "grab",
  member,
  grab: id,
  body: 0,
  triangle: 0,
  u: 0,
  v: 0,
  target: [x, 0, 0],
});
const move = (member: number, id: number, x: number): Input => ({ type: "move", member, grab: id, target: [x, 0, 0] });
const release = (member: number, id: number): Input => ({ type: "release", member, grab: id });

describe("InputQueue", () => {
  let queue: InputQueue;
  beforeEach(() => {
    queue = new InputQueue();
  });
  const pushAll = (...inputs: Input[]): Input[] => {
    for (const input of inputs) queue.push(input);
    return queue.take();
  };

  test("-0 is 0, also within lists and maps and in a coalesced move, because the journal keeps no -0", () => {
    const tune: Input = {
      type: "tune",
      member: 1,
      gravity: [-0, -9.81, -0],
      wind: { velocity: [-0, 1, -0], drag: -0 },
    };
    const zeros = pushAll(grab(1, 1, -0), move(1, 1, -0), move(1, 2, 5), move(1, 2, -0), tune);
    expect(zeros).toEqual([
      grab(1, 1, 0),
      move(1, 2, 0),
      { ...tune, gravity: [0, -9.81, 0], wind: { velocity: [0, 1, 0], drag: 0 } },
    ]);
    // A request is answered by the identity of its input.
    expect(zeros[2]).toBe(tune);
  });

  test("the last of several moves wins", () => {
    expect(pushAll(move(1, 1, 1), move(1, 1, 2), move(1, 1, 3))).toEqual([move(1, 1, 3)]);
  });

  test("moves of different grabs and members are separate", () => {
    expect(pushAll(move(1, 1, 1), move(1, 2, 2), move(2, 1, 3), move(1, 1, 4))).toEqual([
      move(1, 1, 4),
      move(1, 2, 2),
      move(2, 1, 3),
    ]);
  });

  test("a move of a queued grab changes the grab's target", () => {
    expect(pushAll(grab(1, 1, 0), move(1, 1, 5))).toEqual([grab(1, 1, 5)]);
  });

  test("a release ends the grab for later moves", () => {
    expect(pushAll(grab(1, 1, 0), release(1, 1), grab(1, 1, 7), move(1, 1, 8))).toEqual([
      grab(1, 1, 0),
      release(1, 1),
      grab(1, 1, 8),
    ]);
  });

  test("one reset per tick, and moves are not merged across it", () => {
    const reset: Input = { type: "reset", member: 1 };
    expect(pushAll(move(1, 1, 1), reset, { type: "reset", member: 2 }, move(1, 1, 2))).toEqual([
      move(1, 1, 1),
      reset,
      move(1, 1, 2),
    ]);
  });

  test("releaseAll ends only that member's grabs", () => {
    const all: Input = { type: "releaseAll", member: 1 };
    expect(pushAll(move(1, 1, 1), move(11, 1, 1), all, move(11, 1, 2), move(1, 1, 9))).toEqual([
      move(1, 1, 1),
      move(11, 1, 2),
      all,
      move(1, 1, 9),
    ]);
  });

  test("a taken queue is empty, and returned inputs come first", () => {
    queue.push(move(1, 1, 1));
    const taken = queue.take();
    expect(queue.length).toBe(0);
    queue.push(release(1, 1));
    queue.putBack(taken);
    expect(queue.take()).toEqual([move(1, 1, 1), release(1, 1)]);
  });

  test("without ticks a member has 120 places, and all members 4,096; taken inputs free their places", () => {
    const impulse = (member: number): Input => ({
      type: "impulse",
      member,
      body: 0,
      triangle: 0,
      u: 0,
      v: 0,
      impulse: [0, 0, 0],
    });
    for (let member = 1; member <= 40; member++) {
      for (let i = 0; i < 200; i++) if (queue.hasPlace(member)) queue.push(impulse(member));
    }
    expect(queue.length).toBe(4096);
    expect(queue.take().filter(({ member }) => member === 1)).toHaveLength(120);
    expect(queue.hasPlace(1)).toBe(true);
  });
});
