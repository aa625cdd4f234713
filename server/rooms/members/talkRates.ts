/** Rates of reactions and lines of chat. */
import { TokenBucket } from "./tokenBucket.ts";

export type Kind = "react" | "say";

/** Reactions and lines that a member may send per second, and at once. */
export const PER_SECOND = { react: 2, say: 0.5 } as const;
export const BURST = { react: 6, say: 4 } as const;
/** Reactions and lines that a room passes on per second. */
export const ROOM_PER_SECOND = { react: 60, say: 10 } as const;

/** Budgets of a member. */
export function talkBudgets(nowMs: number): Record<Kind, TokenBucket> {
  return {
    react: new TokenBucket(PER_SECOND.react, BURST.react, nowMs),
    say: new TokenBucket(PER_SECOND.say, BURST.say, nowMs),
  };
}
