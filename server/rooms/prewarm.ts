/**
 * Builds scenes at the start, one after another. The server waits for a list of scenes, but at most LONGEST_WAIT_MS.
 * All scenes of the folder (the default) and the rest of a long list are built in the background: a visitor who opens a
 * scene that is not built yet waits for its build, and for at most one other (workers/builders/workLine.ts).
 */

/** A pod's startup probe waits for three minutes (ops/kubernetes/pliant.yaml), so a long list must not delay it. */
export const LONGEST_WAIT_MS = 60_000;

export interface PrewarmOptions {
  /** PLIANT_PREWARM */
  choice: "all" | "none" | readonly string[];
  /** Returns the ids of all scenes. */
  list: () => Promise<string[]>;
  /** Builds a scene; logs its errors. */
  build: (scene: string) => Promise<void>;
  /** Ends the work after the running build. */
  signal: AbortSignal;
}

export interface Prewarm {
  /** Resolves when the server may be ready. Rejects if none of the listed scenes could be built. */
  ready: Promise<void>;
  /** Resolves when the work has ended. Rejects if no scene at all could be built. */
  ended: Promise<void>;
}

export function prewarm({ choice, list, build, signal }: PrewarmOptions): Prewarm {
  const run = async (): Promise<void> => {
    const scenes = choice === "all" ? await list() : choice === "none" ? [] : choice;
    let failed = 0;
    for (const scene of scenes) {
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
