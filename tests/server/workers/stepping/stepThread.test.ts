/** The main thread's end of a stepping thread, with this test in the thread's place. */
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { Piscina } from "piscina";
import { expect, onTestFinished, test } from "vitest";
import type {
  HelpTask,
  RoomHandle,
  ServeTask,
  StepTask,
  ThreadOrder,
  Turn,
} from "../../../../server/workers/messages.ts";
import { StepsRunning } from "../../../../server/workers/stepping/stepsRunning.ts";
import { StepThread } from "../../../../server/workers/stepping/stepThread.ts";

const TURN: Turn = {
  dueMs: 0,
  untilMs: Infinity,
  periodMs: 16,
  share: { account: "a", weight: 1 },
  expectedSeconds: 0,
  ticks: 0,
};

/** @returns the thread, and the port of its other end */
function stepThread(): { thread: StepThread; port: MessagePort } {
  let port!: MessagePort;
  const pool = {
    threads: [],
    run: (task: ServeTask) => {
      port = task.port;
      return new Promise(() => {});
    },
  } as unknown as Piscina;
  const thread = new StepThread({ pool, running: new StepsRunning(), slot: 0, deadlineMs: 1000, onLost: () => {} });
  onTestFinished(() => {
    thread.close();
    port.close();
  });
  return { thread, port };
}

const room = { key: "a", memory: new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }) } as RoomHandle;
const helpTask = (generation: number): HelpTask => ({ room, generation, slot: 1 });

async function nextOrder(port: MessagePort): Promise<Extract<ThreadOrder, { name: "help" | "step" }>> {
  let entry = receiveMessageOnPort(port);
  for (; !entry; entry = receiveMessageOnPort(port)) await new Promise(setImmediate);
  return (entry.message as ThreadOrder[])[0] as never;
}

test("a room's memory is posted to a thread once, for steps and for help; a thread that forgot the room gets it again", async () => {
  const { thread, port } = stepThread();
  void thread.run("help", helpTask(1));
  expect((await nextOrder(port)).task).toMatchObject({ room: { memory: expect.any(WebAssembly.Memory) } });

  const helped = thread.run<number>("help", helpTask(2));
  const byKey = await nextOrder(port);
  expect(byKey.task).toEqual({ ...helpTask(2), room: { key: "a" } });
  port.postMessage([{ id: byKey.id, result: { unknown: "a" } }]);
  const again = await nextOrder(port);
  expect(again.task).toMatchObject({ generation: 2, room: { memory: expect.any(WebAssembly.Memory) } });
  port.postMessage([{ id: again.id, result: 3 }]);
  expect(await helped).toBe(3);

  thread.step({ room } as StepTask, TURN, () => {}).done.catch(() => {});
  expect((await nextOrder(port)).task).toEqual({ room: { key: "a" } });
});
