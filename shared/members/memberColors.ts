/**
 * Colors of a room's members: eight colors that color-blind people can distinguish, alone or surrounded by a second
 * one, which is enough for all members of a room. A pair is sent as one color: the first one with 1 to 7 added to blue,
 * which is invisible. Clients without support for pairs draw the first color.
 */

/** Okabe and Ito's palette (2008, https://jfly.uni-koeln.de/color/) with violet instead of black. */
export const PALETTE = [
  "#d55e00",
  "#0072b2",
  "#009e73",
  "#4b2a7b",
  "#e69f00",
  "#cc79a7",
  "#56b4e9",
  "#f0e442",
] as const;

/** Two colors "#rrggbb"; a single color has both equal. */
export interface Look {
  first: string;
  second: string;
}

const LOOKS = new Map<string, Look>();
for (let step = 0; step < PALETTE.length; step++)
  for (const [at, first] of PALETTE.entries())
    LOOKS.set(`#${(parseInt(first.slice(1), 16) + step).toString(16).padStart(6, "0")}`, {
      first,
      second: PALETTE[(at + step) % PALETTE.length]!,
    });

/** All combinations; single colors come first. */
export const MEMBER_COLORS: readonly string[] = [...LOOKS.keys()];

/** @param color as sent; other colors are drawn unchanged */
export const lookOf = (color: string): Look => LOOKS.get(color) ?? { first: color, second: color };

/** A free color, or if all are taken, one with the fewest members. */
export function freeColor(taken: readonly string[]): string {
  const having = (wanted: string): number => taken.reduce((sum, color) => sum + Number(color === wanted), 0);
  return MEMBER_COLORS.reduce((best, color) => (having(color) < having(best) ? color : best));
}
