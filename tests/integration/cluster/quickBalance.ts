/**
 * Loaded before the server (--import): balancing waits only briefly, and every room that ticks reports a tenth of a
 * thread. So a test knows how many rooms will move.
 */
import { BALANCE } from "../../../server/cluster/balanceRules.ts";
import { TickStats } from "../../../server/rooms/ticks/tickStats.ts";

Object.assign(BALANCE, {
  busy: 0.35,
  calm: 0.3,
  gap: 0.15,
  sustainedMs: 1000,
  // Longer than the averaging time of loads.
  pauseMs: 4000,
  residenceMs: 1500,
} satisfies Partial<typeof BALANCE>);

const { share } = TickStats.prototype;
TickStats.prototype.share = function (nowMs) {
  return share.call(this, nowMs) > 0 ? 0.1 : 0;
};
