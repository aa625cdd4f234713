/**
 * Builds scenes at the start, one after another. The server waits for a list of scenes, but at most LONGEST_WAIT_MS.
 * All scenes of the folder (the default) and the rest of a long list are built in the background: a visitor who opens a
 * scene that is not built yet waits for its build, and for at most one other (workers/builders/workLine.ts). Builds
 * wait while visitors arrive: beside them, on two cores, the first page of a new server took 16 s until its body moved.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** A pod's startup probe waits for three minutes (ops/kubernetes/pliant.yaml), so a long list must not delay it. */
export const LONGEST_WAIT_MS = 60_000;

/** After the last request of a visitor, pages start for this long, ms. */
const ARRIVES_MS = 4000;
/** Longest wait for visitors before a build, ms. */
const MOST_WAIT_MS = 20_000;

/** Arrivals of visitors. */
export class Arrivals {
  #lastMs = -Infinity;

  /** Records a request of a visitor. */
  note(): void {
    this.#lastMs = performance.now();
  }

  /** Time until no visitor arrives any more, ms. */
  get restMs(): number {
    return Math.max(0, this.#lastMs + ARRIVES_MS - performance.now());
  }

  /** Resolves when no visitor arrives, or after MOST_WAIT_MS, or when the signal is aborted. */
  async over(signal: AbortSignal): Promise<void> {
    const mostMs = performance.now() + MOST_WAIT_MS;
    while (this.restMs > 0 && performance.now() < mostMs && !signal.aborted) {
      const waitMs = Math.min(this.restMs, mostMs - performance.now());
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}

export interface PrewarmOptions {
  /** PLIANT_PREWARM */
  choice: "all" | "none" | readonly string[];
  /** Returns the ids of all scenes. */
  list: () => Promise<string[]>;
  /** Builds a scene; logs its errors. */
  build: (scene: string) => Promise<void>;
  arrivals: Pick<Arrivals, "over">;
  /** Ends the work after the running build. */
  signal: AbortSignal;
}

export interface Prewarm {
  /** Resolves when the server may be ready. Rejects if none of the listed scenes could be built. */
  ready: Promise<void>;
  /** Resolves when the work has ended. Rejects if no scene at all could be built. */
  ended: Promise<void>;
}

export function prewarm({ choice, list, build, arrivals, signal }: PrewarmOptions): Prewarm {
  const run = async (): Promise<void> => {
    const scenes = choice === "all" ? await list() : choice === "none" ? [] : choice;
    let failed = 0;
    for (const scene of scenes) {
      await arrivals.over(signal);
      if (signal.aborted) return;
      // A server without one scene still serves the others.
      await build(scene).catch(() => (failed += 1));
    }
    if (failed > 0 && failed === scenes.length && !signal.aborted) throw new Error("no scene could be built");
  };
  const ended = run();
  if (choice === "all") return { ready: Promise.resolve(), ended };
  let timer: NodeJS.Timeout;
  const elapsed = new Promise<void>((resolve) => (timer = setTimeout(resolve, LONGEST_WAIT_MS)));
  const ready = Promise.race([ended, elapsed]).finally(() => clearTimeout(timer));
  return { ready, ended };
}
