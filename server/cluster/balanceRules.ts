/** When rooms go from a busy process to an idle one: all shares and times in one place. */

export interface BalanceRules {
  /** Share of its threads' time from which on a process is too busy, and below which it is so no more. */
  busy: number;
  calm: number;
  /** How much less busy another has to be for a running room, and for a new one. */
  gap: number;
  placeGap: number;
  /** A room below this share of the threads' time makes nobody less busy. */
  leastShare: number;
  /** Too busy for so long before anything is done, ms. */
  sustainedMs: number;
  /** After a hand-over, until loads tell what it has done, ms. */
  pauseMs: number;
  /** Rooms in one go. */
  atOnce: number;
  /** A room stays where it is for so long at least, ms. */
  residenceMs: number;
  /** A room that was given to somebody is left to them for so long, s. */
  offerSeconds: number;
  /** What a new room is taken to need until its process tells, share of its threads' time. */
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
