/** A room whose threads are lost at the same tick again and again. */
import { expect, test, vi } from "vitest";
import { CheckpointPolicy, RecoveryExhausted } from "../../../server/persistence/checkpointPolicy.ts";
import { SaveTurns } from "../../../server/persistence/saveTurns.ts";
import type { StepResult } from "../../../server/workers/messages.ts";

const HZ = 60;

function stepped(policy: CheckpointPolicy, ticks: number): void {
  for (let n = 0; n < ticks; n++) {
    const tick = policy.history.tick + 1;
    const result = { tick, seconds: { encode: 0 }, wholeSeconds: 0.001 } as StepResult;
    policy.stepped([{ type: "releaseAll", member: tick }], result);
  }
}

function played(beginsAnew: boolean): CheckpointPolicy {
  const policy = new CheckpointPolicy(HZ, 3600, beginsAnew);
  stepped(policy, 90);
  return policy;
}

/** Charged losses, up to the trial. */
function untilAlone(policy: CheckpointPolicy): void {
  expect(policy.afterLoss(true)).toMatchObject({ alone: false });
  expect(policy.takeOutcome()).toBe("again");
  expect(policy.afterLoss(true)).toMatchObject({ alone: false });
  expect(policy.takeOutcome()).toBe("without inputs");
  expect(policy.afterLoss(true)).toMatchObject({ until: policy.history.tick, alone: true });
  expect(policy.takeOutcome()).toBe("without inputs");
}

test("retries, then without inputs, then alone, then gives up; the state is kept", () => {
  const policy = played(false);
  untilAlone(policy);
  for (let more = 0; more < 2; more++) expect(() => policy.afterLoss(true)).toThrow(RecoveryExhausted);
  expect(policy.history.tick).toBe(90);
  expect(policy.history.records(0)).toHaveLength(90);
});

test("any number of uncharged losses changes nothing, and keeps the inputs", () => {
  const policy = played(false);
  for (let losses = 0; losses < 100; losses++) {
    expect(policy.afterLoss(false)).toMatchObject({ until: 90, alone: false });
    expect(policy.takeOutcome()).toBe("again");
  }
  untilAlone(policy);
  // Losses that are not charged do not end the attempt alone on a thread, either.
  expect(policy.afterLoss(false)).toMatchObject({ alone: true });
  expect(policy.takeOutcome()).toBe("again");
});

test("a loss beside other rooms, during a restore, does not revert the consequences of its own loss", () => {
  const policy = played(true);
  untilAlone(policy);
  policy.afterLoss(true);
  expect(policy.afterLoss(false)).toMatchObject({ until: 0, alone: false });
  expect(policy.takeOutcome()).toBe("anew");
  policy.afterLoss(true);
  policy.afterLoss(true);
  policy.afterLoss(false);
  expect(policy.takeOutcome()).toBe("without inputs");
  policy.afterLoss(false);
  expect(policy.takeOutcome()).toBe("again");
});

test("a tick that completes alone clears the room of all charges", () => {
  const policy = played(false);
  untilAlone(policy);
  expect(policy.triedAlone).toBe(true);
  stepped(policy, 1);
  expect(policy.triedAlone).toBe(false);
  untilAlone(policy);
});

test("a completed tick in between restarts the count", () => {
  const policy = played(false);
  policy.afterLoss(true);
  policy.afterLoss(true);
  expect(policy.takeOutcome()).toBe("without inputs");
  stepped(policy, 1);
  expect(policy.afterLoss(true)).toMatchObject({ until: 91, alone: false });
  expect(policy.takeOutcome()).toBe("again");
});

test("four losses in ten seconds of ticks lead to a trial, too; four in a longer time do not", () => {
  const often = played(false);
  for (let losses = 1; losses < 4; losses++, stepped(often, 2 * HZ))
    expect(often.afterLoss(true)).toMatchObject({ alone: false });
  expect(often.afterLoss(true)).toMatchObject({ alone: true });
  const seldom = played(false);
  for (let losses = 0; losses < 20; losses++, stepped(seldom, 4 * HZ))
    expect(seldom.afterLoss(true)).toMatchObject({ alone: false });
});

test("a room that cannot be quarantined restarts its scene, once in ten seconds of ticks", () => {
  const policy = played(true);
  untilAlone(policy);
  expect(policy.afterLoss(true)).toMatchObject({ from: 0, until: 0, records: [], alone: false });
  expect(policy.takeOutcome()).toBe("anew");
  stepped(policy, 30);
  untilAlone(policy);
  expect(() => policy.afterLoss(true)).toThrow(RecoveryExhausted);
  stepped(policy, 10 * HZ);
  untilAlone(policy);
  policy.afterLoss(true);
  expect(policy.takeOutcome()).toBe("anew");
});

test("rooms that began together save one after another, each before its state is overdue", async () => {
  const clock = vi.spyOn(performance, "now");
  let nowMs = 0;
  clock.mockImplementation(() => nowMs);
  const turns = new SaveTurns(1);
  const policies = Array.from({ length: 40 }, () => new CheckpointPolicy(HZ, 3600, false, turns));
  const saves: { room: number; tick: number }[] = [];
  for (let tick = 1; tick <= 600; tick++) {
    nowMs = (tick * 1000) / HZ;
    let saving = 0;
    for (const [room, policy] of policies.entries()) {
      const isTurn = policy.takeTurn();
      stepped(policy, 1);
      if (!isTurn) continue;
      saving += 1;
      saves.push({ room, tick });
      await policy.saved({ tick, state: new Uint8Array(1), stateHash: "", seconds: 0.001 });
    }
    // A save of 1 ms has a turn of 40 ms, which is longer than a tick.
    expect(saving).toBeLessThanOrEqual(1);
  }
  for (let room = 0; room < policies.length; room++) {
    const ticks = saves.filter((save) => save.room === room).map(({ tick }) => tick);
    expect(ticks.length).toBeGreaterThanOrEqual(3);
    for (const [n, tick] of ticks.entries()) expect(tick - (ticks[n - 1] ?? 0)).toBeLessThan(300);
  }
  clock.mockRestore();
});

test("a room does not wait for its turn for more than another interval, nor behind a large state", async () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  const turns = new SaveTurns(1);
  turns.took(1);
  turns.take();
  const policy = new CheckpointPolicy(HZ, 3600, false, turns);
  let ticks = 0;
  for (; !policy.takeTurn(); ticks++) stepped(policy, 1);
  expect(ticks).toBe(300);
  clock.mockReturnValue(499);
  expect(turns.isFree).toBe(false);
  clock.mockReturnValue(500);
  expect(turns.isFree).toBe(true);
  clock.mockRestore();
});
