/** Shares and times that decide when rooms move from a busy process to a less busy one. */

export interface BalanceRules {
  /** Load, as a share of the threads' time, above which a process is too busy, and below which it no longer is. */
  busy: number;
  calm: number;
  /** Least difference in load for moving a running room, and for placing a new room. */
  gap: number;
  placeGap: number;
  /** Rooms below this share of the threads' time are not moved, because that would relieve no process. */
  leastShare: number;
  /** A process must be too busy for this time before it hands rooms over, ms. */
  sustainedMs: number;
  /** Pause after a hand-over, ms, until the loads show its effect. */
  pauseMs: number;
  /** Most rooms in one hand-over. */
  atOnce: number;
  /** Least time that a room stays at a process, ms. */
  residenceMs: number;
  /** Time for which a handed-over room is left to its receiver, s. */
  offerSeconds: number;
  /** Assumed load of a new room until its process reports, as a share of the threads' time. */
  newRoomShare: number;
}

export const BALANCE: BalanceRules = {
  busy: 0.75,
  calm: 0.6,
  gap: 0.25,
  placeGap: 0.15,
  leastShare: 0.01,
  sustainedMs: 10_000,
  pauseMs: 10_000,
  atOnce: 2,
  residenceMs: 120_000,
  offerSeconds: 3,
  newRoomShare: 0.05,
};
