/**
 * Loaded before the server (--import): nobody waits long, and every room that ticks takes a tenth of a thread, so that
 * it can be told beforehand how many go.
 */
import { BALANCE } from "../../../server/cluster/balanceRules.ts";
import { TickStats } from "../../../server/rooms/tickStats.ts";

Object.assign(BALANCE, {
  busy: 0.35,
  calm: 0.3,
  gap: 0.15,
  sustainedMs: 1000,
  // Longer than loads are the mean of.
  pauseMs: 4000,
  residenceMs: 1500,
} satisfies Partial<typeof BALANCE>);

const { share } = TickStats.prototype;
TickStats.prototype.share = function (nowMs) {
  return share.call(this, nowMs) > 0 ? 0.1 : 0;
};
