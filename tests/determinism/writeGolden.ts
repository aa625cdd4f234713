/**
 * `npm run golden`: writes golden.json and halfGolden.json. A changed hash is a change of behavior: state it in the
 * CHANGELOG.
 */
import { readdirSync, writeFileSync } from "node:fs";
import {
  build,
  DEAR,
  GOLDEN_PATH,
  HALF_GOLDEN_PATH,
  halfOf,
  hashOf,
  SCENES_FOLDER,
  ticksOf,
  type Golden,
} from "./run.ts";

const golden: Golden = {};
const halfGolden: Golden = {};
for (const file of readdirSync(SCENES_FOLDER).sort()) {
  if (!file.endsWith(".json") || file === "schema.json") continue;
  const scene = file.slice(0, -5);
  const built = await build(scene);
  const half = halfOf(scene);
  if (DEAR.includes(scene)) halfGolden[scene] = await hashOf(built, { until: half });
  golden[scene] = await hashOf(built, { from: DEAR.includes(scene) ? half + 1 : 1, until: ticksOf(scene) });
  console.log(`${scene}: ${golden[scene]}`);
}
writeFileSync(GOLDEN_PATH, `${JSON.stringify(golden, null, 2)}\n`);
writeFileSync(HALF_GOLDEN_PATH, `${JSON.stringify(halfGolden, null, 2)}\n`);
