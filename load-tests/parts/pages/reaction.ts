/**
 * Time from an impulse to the first frame that shows it, decoded by another client: both on the loopback, without the
 * interpolation buffer of a page. Before every push the body is quiet: it moves by at most one grid step (0.5 mm) a
 * frame.
 * A push moves it by several steps from one frame to the next, and the first such frame is the answer. The interval of
 * pushes is not a multiple of the tick, so that they are spread over it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createRoom } from "../../bot.ts";
import { noCounts, Player } from "../../load/player.ts";
import { quantile, type Row } from "../../part.ts";
import { startServer } from "../../measuredServer.ts";
import { fileURLToPath } from "node:url";

export const name = "reaction";
export const about = "an impulse by one client until another has decoded the first frame that shows it, loopback";
export const runs = 3;
export const groups = ["load"];

const PUSHES = 60;
const WARM_UP = 5;
/** Length of the quiet time before a push, ms: more than one heartbeat of a room at rest. */
const STILL_MS = 400;
/** Residual motion that counts as quiet, grid steps per frame. */
const RINGING = 1;
const WITHIN_MS = 20_000;

export async function run(): Promise<Row[]> {
  const scenesDir = fileURLToPath(new URL("../../scenes", import.meta.url));
  const server = await startServer({
    env: { PLIANT_SCENES_DIR: scenesDir, PLIANT_PREWARM: "cube", PLIANT_WORKERS: "1" },
  });
  try {
    const { room } = await createRoom(server.url, "cube");
    const counts = noCounts();
    let changedMs = performance.now();
    let onChange: (() => void) | null = null;
    let last = new Int32Array(0);
    const pushing = new Player({ url: server.url, room, decodes: false, counts });
    const watching = new Player({
      url: server.url,
      room,
      decodes: true,
      counts,
      onFrame: ({ ints }) => {
        const quiet = ints.every((value, i) => Math.abs(value - (last[i] ?? value)) <= RINGING);
        last = ints.slice();
        if (quiet) return;
        changedMs = performance.now();
        onChange?.();
        onChange = null;
      },
    });
    await Promise.all([pushing.joined(), watching.joined()]);
    const times: number[] = [];
    for (let push = 0; push < PUSHES + WARM_UP; push++) {
      const end = performance.now() + WITHIN_MS;
      while (performance.now() - changedMs < STILL_MS) {
        if (performance.now() > end) throw new Error(`the cube was not quiet within ${WITHIN_MS} ms`);
        await sleep(20);
      }
      await sleep(17 * Math.sqrt(2) * (push % 7));
      const seen = new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`an impulse was not seen within ${WITHIN_MS} ms`)), WITHIN_MS);
        onChange = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      const sentMs = performance.now();
      pushing.impulse({ body: 0, triangle: push % 20, u: 0.3, v: 0.3 }, [0, push % 2 === 0 ? 1 : -1, 0]);
      await seen;
      if (push >= WARM_UP) times.push(changedMs - sentMs);
    }
    if (counts.failures > 0) throw new Error(`${counts.failures} frames could not be decoded`);
    pushing.leave();
    watching.leave();
    const row = (q: string, at: number): Row => ({
      what: `force to another client's decoded frame, ${q}`,
      value: quantile(times, at),
      unit: "ms",
      absolute: true,
    });
    return [row("p50", 0.5), { ...row("p95", 0.95), target: { atMost: 60 } }, row("worst", 1)];
  } finally {
    await server.stop();
  }
}
