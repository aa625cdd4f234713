/** Thread entry of a helper. */
import { parentPort, workerData } from "node:worker_threads";
import * as L from "../../kernel/assembly/layout/layout.ts";
import { DISMISSED, type StepWorkerTask } from "./stepWorkers.ts";
import { instantiateKernel } from "../world/kernelModule.ts";

const { memory, slot, scratch } = workerData as StepWorkerTask;
const kernel = instantiateKernel(memory);
const words = new Int32Array(memory.buffer);
const active = (L.HEADER + L.H_ACTIVE) / 4;
parentPort!.postMessage("ready");
for (;;) {
  Atomics.wait(words, active, 0);
  const generation = Atomics.load(words, active);
  if (generation === DISMISSED) break;
  if (generation !== 0) kernel.help(generation, slot, scratch);
}
