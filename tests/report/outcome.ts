/** Outcome of a figure: its result, or the reason why there is none. */
import { allowed, short, type FigureResult } from "./figures/figure.ts";

export type Outcome = { id: string; title: string; source: string; seconds: number } & (
  | FigureResult
  | { error: string }
);

/** Failures of a figure, one line each; empty if all checks hold. */
export function failures(outcome: Outcome): string[] {
  if ("error" in outcome) return [outcome.error.split("\n")[0]!];
  if (outcome.checks.length === 0) return ["the figure has no checks"];
  return outcome.checks
    .filter(({ pass }) => !pass)
    .map((c) => `${c.what}: ${short(c.value)} ${c.unit}, allowed ${allowed(c)}`);
}
