/** Thread of main.ts: runs one figure and sends its outcome. */
import { parentPort, workerData } from "node:worker_threads";
import type { FigureSize } from "./figures/figure.ts";
import { FIGURES } from "./figures/index.ts";
import type { Outcome } from "./outcome.ts";

export interface Order {
  id: string;
  size: FigureSize;
}

export type Said = { type: "progress"; done: number; stage: string } | { type: "outcome"; outcome: Outcome };

const say = (said: Said): void => parentPort!.postMessage(said);
const { id, size } = workerData as Order;
const from = performance.now();
const { figure } = await FIGURES[id]!();
const { title, source } = figure;
const seconds = (): number => (performance.now() - from) / 1000;
try {
  const result = await figure.run(size, (done, stage) => say({ type: "progress", done, stage }));
  say({ type: "outcome", outcome: { id, title, source, seconds: seconds(), ...result } });
} catch (error) {
  say({
    type: "outcome",
    outcome: { id, title, source, seconds: seconds(), error: (error as Error).stack ?? String(error) },
  });
}
