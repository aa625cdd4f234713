/** A clock of the limits by address that only the test moves: their state does not depend on the time of requests. */
import { vi } from "vitest";
import { Attempts } from "../../../server/auth/addresses.ts";

export function stopClockOfLimits(): { advance(ms: number): void; restore(): void } {
  let nowMs = performance.now();
  const { take, giveBack } = Attempts.prototype;
  const spies = [
    vi.spyOn(Attempts.prototype, "take").mockImplementation(function (this: Attempts, address, _nowMs, amount) {
      return take.call(this, address, nowMs, amount);
    }),
    vi.spyOn(Attempts.prototype, "giveBack").mockImplementation(function (this: Attempts, address) {
      giveBack.call(this, address, nowMs);
    }),
  ];
  return {
    advance: (ms) => void (nowMs += ms),
    restore: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
}
