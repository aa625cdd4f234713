/**
 * Finds which parts of the code an input executes, with V8's own precise coverage (the inspector's Profiler domain): no
 * instrumented build, no package.
 */
import { type Profiler, Session } from "node:inspector";

/** Range of characters of a source, from and to. */
type Span = readonly [number, number];

/** A function that ran. */
export interface Ran {
  name: string;
  whole: Span;
  /** Its blocks that did not run. */
  missed: Span[];
}

export class Blocks {
  readonly #session = new Session();
  readonly #watched: RegExp;

  /** @param watched URLs of the scripts to count, among those compiled from now on */
  constructor(watched: RegExp) {
    this.#watched = watched;
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** @returns functions that ran since the last call */
  take(): Ran[] {
    let taken: Profiler.ScriptCoverage[] = [];
    // In the thread's own session the answer comes before `post` returns.
    this.#session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      if (error) throw error;
      taken = result;
    });
    return taken
      .filter(({ url }) => this.#watched.test(url))
      .flatMap(({ url, functions }) =>
        functions
          .filter(({ ranges }) => ranges[0]!.count > 0)
          .map(({ ranges: [whole, ...inner] }) => {
            const span = ({ startOffset, endOffset }: Profiler.CoverageRange): Span => [startOffset, endOffset];
            const missed = inner.filter(({ count }) => count === 0).map(span);
            return { name: `${url} ${whole!.startOffset} ${whole!.endOffset}`, whole: span(whole!), missed };
          }),
      );
  }
}

/** Coverage of all inputs together. */
export class Reached {
  /** Blocks that did not run, for each function that ran. */
  readonly #missed = new Map<string, Span[]>();

  /** @returns whether the function adds coverage */
  grows({ name, missed }: Ran): boolean {
    const known = this.#missed.get(name);
    return known === undefined || length(common(known, missed)) < length(known);
  }

  add({ name, whole, missed }: Ran): void {
    this.#missed.set(name, common(this.#missed.get(name) ?? [whole], missed));
    this.#length.set(name, whole[1] - whole[0]);
  }

  /** Characters of source that ran; characters in two functions count twice. */
  get size(): number {
    let size = 0;
    for (const [name, missed] of this.#missed) size += this.#length.get(name)! - length(missed);
    return size;
  }

  readonly #length = new Map<string, number>();
}

const length = (spans: readonly Span[]): number => spans.reduce((sum, [from, to]) => sum + to - from, 0);

/** Intersection of two lists. Spans of one list do not overlap. */
function common(a: readonly Span[], b: readonly Span[]): Span[] {
  return a.flatMap(([from, to]) =>
    b.map(([other, end]): Span => [Math.max(from, other), Math.min(to, end)]).filter(([start, end]) => start < end),
  );
}
