/**
 * three's own controls with a mouse and fingers in every order: they receive one kind of pointer at a time, and never
 * throw.
 */
import fc from "fast-check";
import { PerspectiveCamera } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { expect, test } from "vitest";
import { oneKindOfPointer, ViewControls } from "../../../../client/view/grabs/pointerKinds.ts";

const TYPES = ["mouse", "touch", "touch"] as const;

/** An element and its document, with the features that the controls use. */
function canvasOf(guarded: boolean) {
  const ownerDocument = new EventTarget();
  const canvas = Object.assign(new EventTarget(), {
    ownerDocument,
    style: {},
    clientWidth: 300,
    clientHeight: 200,
    getRootNode: () => ownerDocument,
    setPointerCapture: () => {},
    releasePointerCapture: () => {},
  });
  if (guarded) oneKindOfPointer(canvas as unknown as HTMLCanvasElement);
  const camera = new PerspectiveCamera(38, 1.5, 0.01, 100);
  camera.position.set(0, 1, 3);
  const controls = new (guarded ? ViewControls : OrbitControls)(camera, canvas as unknown as HTMLElement);
  // An error in a listener is an uncaught exception in Node, so this calls listeners one after another, as the browser
  // does.
  /** @param lost the document does not receive it */
  const send = (type: string, pointerId: number, x: number, y: number, lost = false): void => {
    let stopped = false;
    const event = Object.assign(new Event(type, { cancelable: true }), {
      pointerId,
      pointerType: TYPES[pointerId]!,
      button: 0,
      pageX: x,
      pageY: y,
      clientX: x,
      clientY: y,
    });
    const stop = event.stopImmediatePropagation.bind(event);
    event.stopImmediatePropagation = () => {
      stopped = true;
      stop();
    };
    canvas.dispatchEvent(event);
    if (!stopped && !lost) ownerDocument.dispatchEvent(event);
  };
  return { controls, camera, send };
}

/** Runs it; returns the errors that listeners threw meanwhile, which Node reports one by one. */
async function faultsOf(act: () => void): Promise<string[]> {
  const faults: string[] = [];
  const others = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => faults.push(error.message));
  act();
  await new Promise((resolve) => setImmediate(resolve));
  process.removeAllListeners("uncaughtException");
  for (const listener of others) process.on("uncaughtException", listener);
  return faults;
}

const step = [
  fc.constantFrom("pointerdown", "pointermove", "pointerup", "pointercancel"),
  fc.nat({ max: TYPES.length - 1 }),
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 200 }),
] as const;
const steps = fc.array(fc.tuple(...step), { minLength: 1, maxLength: 20 });

/** Sequences that a browser may send: no second press of the same pointer, and no release without a press. */
function play(send: ReturnType<typeof canvasOf>["send"], list: readonly (readonly [string, number, number, number])[]) {
  const down = new Set<number>();
  for (const [type, pointer, x, y] of list) {
    if ((type === "pointerdown") === down.has(pointer) && type !== "pointermove") continue;
    if (type === "pointerdown") down.add(pointer);
    else if (type !== "pointermove") down.delete(pointer);
    send(type, pointer, x, y);
  }
}

test("no order of a mouse and two fingers makes the controls throw", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const { send } = canvasOf(true);
      expect(await faultsOf(() => play(send, list))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("missing presses and releases do not make them throw either", async () => {
  const raw = fc.array(fc.tuple(...step, fc.boolean()), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(raw, async (list) => {
      const { send } = canvasOf(true);
      const all = (): void => {
        for (const [type, pointer, x, y, lost] of list) send(type, pointer, x, y, lost);
      };
      expect(await faultsOf(all)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("without the guard they do throw; with it the first pointer keeps turning the view", async () => {
  const order = [
    ["pointerdown", 0, 50, 50],
    ["pointerdown", 1, 200, 50],
    ["pointermove", 1, 180, 60],
    ["pointerup", 1, 180, 60],
    ["pointermove", 0, 120, 60],
  ] as const;
  const bare = canvasOf(false);
  expect(await faultsOf(() => play(bare.send, order))).not.toEqual([]);
  const { controls, camera, send } = canvasOf(true);
  const before = camera.position.clone();
  expect(await faultsOf(() => play(send, order))).toEqual([]);
  controls.update();
  expect(camera.position.distanceTo(before)).toBeGreaterThan(0.1);
});
