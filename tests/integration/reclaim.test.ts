/**
 * Closed rooms release their memory: a real process, many rooms of a scene with 19 MB of memory each (1.5 MB of it
 * touched).
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Bot, createRoom } from "../../load-tests/bot.ts";
import { startServer } from "../../load-tests/measuredServer.ts";
import { inLong } from "../support/run/long.ts";

const ROOMS = inLong(150, 75);
/** Allowance for the rooms that were open at once; 75 rooms that remain would add 110 MB. */
const GROWTH_MB = 60;

test.skipIf(process.platform !== "linux")(
  `${ROOMS} rooms that were opened and closed leave no memory in the process`,
  async () => {
    const server = await startServer({
      env: { PLIANT_PREWARM: "bunny", PLIANT_WORKERS: "1", PLIANT_STORE: "none", PLIANT_ROOMS_PER_MINUTE: "100000" },
    });
    const residentMb = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, "utf8"))![1]) / 1024;
    try {
      const churn = async (from: number, to: number): Promise<void> => {
        for (let i = from; i < to; i++) {
          const { token } = await createRoom(server.url, "bunny", `gone-${i}`);
          const bot = await Bot.join(server.url, `gone-${i}`);
          await bot.leave();
          const answer = await fetch(`${server.url}/api/rooms/gone-${i}`, {
            method: "DELETE",
            headers: { authorization: `Bearer ${String(token)}` },
          });
          expect(answer.status).toBe(204);
        }
      };
      await churn(0, 20);
      const before = residentMb();
      await churn(20, 20 + ROOMS);
      let least = Infinity;
      for (let second = 0; second < 40 && least > before + GROWTH_MB; second++) {
        least = Math.min(least, residentMb());
        await sleep(1000);
      }
      expect(least).toBeLessThan(before + GROWTH_MB);
    } finally {
      await server.stop();
    }
  },
);
