/** Times the decoder in a headless Chromium, on the frames of a trajectory as clients receive them. */
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";
import { createSnapshotModel, encodeDelta, encodeKeyframe } from "../../shared/snapshot/index.ts";
import { chromiumFlags, findChromium } from "../../tests/support/chromium.ts";
import { quantized } from "./measure.ts";
import type { DecodingTask, DecodingTimes } from "./page.ts";
import type { Trajectory } from "./trajectory.ts";

const ORIGIN = "https://codec.test/";
const entry = fileURLToPath(new URL("./page.ts", import.meta.url));

async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      target: "es2022",
      lib: { entry, formats: ["es"], fileName: "page" },
      // One script: the page's origin serves no further files.
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  const outputs = (Array.isArray(built) ? built : [built]) as { output: { type: string; code?: string }[] }[];
  const code = outputs[0]?.output.find(({ type }) => type === "chunk")?.code;
  if (code === undefined) throw new Error("vite built no chunk of load-tests/codec/page.ts");
  return code;
}

/**
 * @param trajectory of one body
 * @param frames number of its deltas, from the first on
 * @throws Error if there is no Chromium, or if the decoded integers differ from the encoded ones
 */
export async function timeInChromium(
  trajectory: Trajectory,
  frames: number,
  passes = 6,
): Promise<Omit<DecodingTimes, "last">> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("no Chromium on PATH; set CHROMIUM_PATH");
  const [body] = trajectory.bodies;
  const model = createSnapshotModel(trajectory.bodies);
  const integers = quantized(trajectory).slice(0, frames + 1);
  const bytes = integers.map((frame, f) =>
    f === 0 ? encodeKeyframe(model, frame) : encodeDelta(model, integers[f - 1]!, frame),
  );
  const task: DecodingTask = {
    count: body!.count,
    quantum: body!.quantum,
    triangles: [...body!.triangles],
    frames: bytes.map((frame) => Buffer.from(frame).toString("base64")),
    passes,
  };
  const code = await bundle();
  const browser = await chromium.launch({ executablePath, args: [...chromiumFlags] });
  try {
    const page = await browser.newPage();
    // The route below answers for this origin. Isolated pages have a clock resolution of 5 us, others 100 us.
    await page.route(ORIGIN, (route) =>
      route.fulfill({
        contentType: "text/html",
        body: "<!doctype html>",
        headers: { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" },
      }),
    );
    await page.goto(ORIGIN);
    await page.addScriptTag({ type: "module", content: code });
    await page.waitForFunction(() => window.timeDecoding !== undefined);
    const { last, ...times } = await page.evaluate((given) => window.timeDecoding!(given), task);
    if (last.some((x, i) => x !== integers.at(-1)![i]))
      throw new Error("the integers decoded in Chromium differ from the encoded ones");
    return times;
  } finally {
    await browser.close();
  }
}
