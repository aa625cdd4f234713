/** Checks a whole recording, run by run on several threads. The findings do not depend on the number of threads. */
import { Worker } from "node:worker_threads";
import type { FrameFindings } from "./findings.ts";
import { RecordingError, type Recording } from "./recording.ts";
import type { Reply, Task } from "./worker.ts";

/**
 * Intervals per run: trees are built once per run, and one separation direction can clear a pair for the whole run.
 * Measured: 1,441 substeps of the drape took 24, 19, 14, 12 s in runs of 4, 8, 16, 32; 801 of the funnel took 8.2, 6.3,
 * 3.8, 4.1 s.
 */
const RUN = 16;
/** Bytes of positions that a thread holds at a time. */
const MOST_BYTES = 2 ** 28;

export interface CheckOptions {
  threads: number;
  /** Maximum number of stored findings per frame. */
  most: number;
  /**
   * Called with the frames that have findings, in order, once all earlier frames are checked; `judged` is the number of
   * checked frames.
   */
  onFrames?: (findings: FrameFindings[], judged: number) => void;
}

/** @throws RecordingError */
export async function checkRecording(recording: Recording, { threads, most, onFrames }: CheckOptions): Promise<void> {
  const length = Math.max(1, Math.min(RUN, Math.floor(MOST_BYTES / (12 * recording.particles)) - 1));
  const tasks: Task[] = [];
  for (let from = 0; from === 0 || from < recording.frames - 1; from += length)
    tasks.push({ run: tasks.length, from, to: Math.min(from + length, recording.frames - 1) });
  const done = new Map<number, FrameFindings[]>();
  let next = 0;
  let told = 0;
  const tell = (run: number, findings: FrameFindings[]): void => {
    done.set(run, findings);
    for (let ready = done.get(told); ready; ready = done.get(++told)) {
      done.delete(told);
      onFrames?.(ready, tasks[told]!.to + 1);
    }
  };
  const workers = Array.from(
    { length: Math.min(threads, tasks.length) },
    () => new Worker(new URL("./worker.ts", import.meta.url), { workerData: { recording, most } }),
  );
  try {
    await Promise.all(
      workers.map(
        (worker) =>
          new Promise<void>((finish, fail) => {
            const give = (): void => (next < tasks.length ? worker.postMessage(tasks[next++]) : finish());
            worker.on("error", fail).on("message", (reply: Reply) => {
              if ("error" in reply) return fail(new RecordingError(reply.error));
              tell(reply.run, reply.findings);
              give();
            });
            give();
          }),
      ),
    );
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}
