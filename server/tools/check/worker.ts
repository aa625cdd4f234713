/** Thread of the checker: reads and checks runs of frames until no tasks remain. */
import { parentPort, workerData } from "node:worker_threads";
import type { FrameFindings } from "./findings.ts";
import { FrameReader, RecordingError, type Recording } from "./recording.ts";
import { Run } from "./run.ts";

export interface Task {
  run: number;
  /** Frames, both included. The first gets no static test, unless it is the recording's first. */
  from: number;
  to: number;
}

export type Reply = { run: number; findings: FrameFindings[] } | { run: number; error: string };

const { recording, most } = workerData as { recording: Recording; most: number };
const reader = new FrameReader(recording);

parentPort!.on("message", ({ run, from, to }: Task) => {
  try {
    parentPort!.postMessage({
      run,
      findings: new Run(recording, reader.read(from, to), from, most).judge(),
    } satisfies Reply);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    parentPort!.postMessage({ run, error: error.message } satisfies Reply);
  }
});
