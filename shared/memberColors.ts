/**
 * Colours that tell the members of a room apart: eight that colour-blind people tell apart, too, alone or with a second
 * of them around it, which makes as many as a room has members. A pair travels as one colour: the first one with 1 to 7
 * more of blue, which nobody sees. Who knows nothing of pairs draws the first one.
 */

/** Okabe and Ito's palette (2008, https://jfly.uni-koeln.de/color/) with violet for its black. */
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

/** Two of "#rrggbb"; without a second one they are the same. */
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

/** All that look different; those of one colour come first. */
export const MEMBER_COLORS: readonly string[] = [...LOOKS.keys()];

/** @param color as it travels; one that is not of these is drawn as it is */
export const lookOf = (color: string): Look => LOOKS.get(color) ?? { first: color, second: color };

/** One that is not taken, or where all are, one of those that fewest have. */
export function freeColor(taken: readonly string[]): string {
  const having = (wanted: string): number => taken.reduce((sum, color) => sum + Number(color === wanted), 0);
  return MEMBER_COLORS.reduce((best, color) => (having(color) < having(best) ? color : best));
}
