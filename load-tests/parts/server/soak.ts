/**
 * The server for an hour (`--minutes`) while rooms and clients come and go, grabs begin and end, and scenes are reset:
 * does its memory stop growing? The first sixth, ten minutes of an hour, is warm-up: code is compiled, and buffers and
 * heaps reach the size for this load. After that the resident memory may grow by 2 %, from the median of the window
 * after the warm-up to the median of the last window. Medians are used because the saw tooth of the garbage collector
 * is higher.
 */
import { drive, type Second } from "../../load/drive.ts";
import { readScenario } from "../../load/scenario.ts";
import { type PartOptions, quantile, type Row } from "../../part.ts";

export const name = "soak";
export const about =
  "an hour of joins, drops, grabs, resets, rooms opened and deleted: growth of the server's memory after the first ten minutes";
export const runs = 1;
export const onDemand = true;
export const timeoutSeconds = ({ minutes }: PartOptions): number => 60 * minutes + 300;

const WARM_UP = 1 / 6;
/** Length of a window, as a share of the whole. */
const WINDOW = 1 / 12;
const MB = 2 ** 20;

/** Median over a window that begins at this share of the seconds. */
function window(seconds: readonly Second[], from: number, value: (second: Second) => number): number {
  const first = Math.floor(from * seconds.length);
  return quantile(seconds.slice(first, first + Math.max(1, Math.floor(WINDOW * seconds.length))).map(value), 0.5);
}

/** Thins a long series to about sixty values. */
function thin(seconds: readonly Second[], value: (second: Second) => number): number[] {
  const step = Math.max(1, Math.floor(seconds.length / 60));
  return seconds.filter((_, i) => i % step === step - 1).map((second) => Number(value(second).toPrecision(4)));
}

export async function run({ minutes }: PartOptions): Promise<Row[]> {
  const outcome = await drive({ ...readScenario("soak"), seconds: 60 * minutes });
  const { seconds } = outcome;
  const length = `${minutes} min`;
  const growth = (value: (second: Second) => number): number =>
    100 * (window(seconds, 1 - WINDOW, value) / window(seconds, WARM_UP, value) - 1);
  const rss = ({ rssBytes }: Second): number => rssBytes / MB;
  const heap = ({ heapBytes }: Second): number => heapBytes / MB;
  const row = (what: string, value: number, unit: string, more: Partial<Row> = {}): Row => ({
    what: `${length}, ${what}`,
    key: what,
    value,
    unit,
    absolute: true,
    ...more,
  });
  return [
    row("resident memory, growth after the warm-up", growth(rss), "%", { target: { atMost: 2 } }),
    row("resident memory at the end", window(seconds, 1 - WINDOW, rss), "MB", { series: thin(seconds, rss) }),
    row("heap of the main thread, growth after the warm-up", growth(heap), "%", { series: thin(seconds, heap) }),
    row("late ticks", 100 * outcome.lateShare, "%", { series: thin(seconds, ({ lateTicks }) => lateTicks) }),
    row("event loop lag p99", outcome.loopLagMs, "ms", { series: thin(seconds, ({ loopLagMs }) => loopLagMs) }),
    row("CPU of the main thread", (100 * outcome.cpu.main) / outcome.span, "% of a core"),
    row("CPU of the generator", 100 * outcome.generatorCpu, "% of a core"),
    row("frames that clients could not decode, lines lost", outcome.received.failures, "", {
      target: { atMost: 0 },
      note: `${outcome.received.frames} frames received`,
    }),
  ];
}
