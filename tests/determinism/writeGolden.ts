/**
 * `npm run golden`: writes golden.json and shortGolden.json. A changed hash is a change of behavior: state it in the
 * CHANGELOG.
 */
import { readdirSync, writeFileSync } from "node:fs";
import {
  build,
  DEAR,
  GOLDEN_PATH,
  hashOf,
  quarterOf,
  SCENES_FOLDER,
  SHORT_GOLDEN_PATH,
  ticksOf,
  type Golden,
} from "./run.ts";

const golden: Golden = {};
const shortGolden: Golden = {};
for (const file of readdirSync(SCENES_FOLDER).sort()) {
  if (!file.endsWith(".json") || file === "schema.json") continue;
  const scene = file.slice(0, -5);
  const built = await build(scene);
  const quarter = quarterOf(scene);
  if (DEAR.includes(scene)) shortGolden[scene] = await hashOf(built, { until: quarter });
  golden[scene] = await hashOf(built, { from: DEAR.includes(scene) ? quarter + 1 : 1, until: ticksOf(scene) });
  console.log(`${scene}: ${golden[scene]}`);
}
writeFileSync(GOLDEN_PATH, `${JSON.stringify(golden, null, 2)}\n`);
writeFileSync(SHORT_GOLDEN_PATH, `${JSON.stringify(shortGolden, null, 2)}\n`);
