/**
 * Builds scenes at the start, one after another. A list of scenes is built before the server is ready. All scenes of
 * the folder (the default) are built in the background: the server is ready at once, and a visitor who opens a scene
 * that is not built yet waits for its build, and for at most one other (workers/builders/workLine.ts).
 */
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
  return { ready: choice === "all" ? Promise.resolve() : ended, ended };
}
