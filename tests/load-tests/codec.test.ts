/** The benchmark part `codec` in small: its page runs in Chromium and decodes what was encoded. */
import { expect, test } from "vitest";
import { timeInChromium } from "../../load-tests/codec/chromium.ts";
import { clothTrajectory } from "../../load-tests/codec/clothTrajectory.ts";

test("Chromium decodes every frame with the compiled coder", async () => {
  const trajectory = clothTrajectory({ side: 8, size: 1, seconds: 0.5, quantum: 0.001, wind: true });
  const { decodeMs, withMetresMs, compiled } = await timeInChromium(trajectory, 10, 2);
  expect(compiled).toBe(true);
  expect(decodeMs).toHaveLength(10);
  withMetresMs.forEach((ms, frame) => expect(ms).toBeGreaterThanOrEqual(decodeMs[frame]!));
});
