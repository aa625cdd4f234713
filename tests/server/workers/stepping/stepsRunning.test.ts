/** Work without a deadline lets steps go first, and continues later. */
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { lettingStepsGoFirst, StepsRunning } from "../../../../server/workers/stepping/stepsRunning.ts";

const CORES = 2;
/** Longer than the test may take. */
const FOR_EVER_MS = 3_600_000;

/** Works until the next yield point. */
function work(): void {
  for (const fromMs = performance.now(); performance.now() - fromMs < 2; );
}

test("busy threads are counted; a lost one is not", () => {
  const running = new StepsRunning();
  running.begin(0);
  running.begin(31);
  expect(new StepsRunning(running.words).count).toBe(2);
  running.end(0);
  running.end(0);
  expect(running.count).toBe(1);
  running.begin(31);
  running.end(31);
  expect(running.count).toBe(0);
});

test("while a core is free nothing waits", () => {
  const running = new StepsRunning();
  const yields = lettingStepsGoFirst(running, { cores: CORES, mostWaitMs: FOR_EVER_MS });
  running.begin(5);
  work();
  yields();
});

test("it waits while steps need all cores, until one has ended", async () => {
  const running = new StepsRunning();
  const yields = lettingStepsGoFirst(running, { cores: CORES, mostWaitMs: FOR_EVER_MS });
  running.begin(0);
  running.begin(1);
  const about = {
    words: running.words,
    module: new URL("../../../../server/workers/stepping/stepsRunning.ts", import.meta.url).href,
  };
  const source = `
    const { workerData } = require("node:worker_threads");
    import(workerData.module).then(({ StepsRunning }) => new StepsRunning(workerData.words).end(1));
  `;
  const thread = new Worker(source, { eval: true, workerData: about });
  try {
    work();
    // This thread waits until the other one has ended its step.
    yields();
    expect(running.count).toBe(1);
  } finally {
    await thread.terminate();
  }
});

test("it continues after a while even if steps need all cores all the time", () => {
  const running = new StepsRunning();
  const mostWaitMs = 30;
  const yields = lettingStepsGoFirst(running, { cores: CORES, mostWaitMs });
  running.begin(0);
  running.begin(1);
  work();
  const fromMs = performance.now();
  yields();
  expect(performance.now() - fromMs).toBeGreaterThanOrEqual(mostWaitMs);
});
