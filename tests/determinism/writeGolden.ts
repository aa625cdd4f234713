/** `npm run golden`: writes golden.json anew. A change of it is a change of behavior; the CHANGELOG says so. */
import { readdirSync, writeFileSync } from "node:fs";
import { build, GOLDEN_PATH, hashOf, SCENES_FOLDER, ticksOf, type Golden } from "./run.ts";

const golden: Golden = {};
for (const file of readdirSync(SCENES_FOLDER).sort()) {
  if (!file.endsWith(".json") || file === "schema.json") continue;
  const scene = file.slice(0, -5);
  golden[scene] = await hashOf(await build(scene), { until: ticksOf(scene) });
  console.log(`${scene}: ${golden[scene]}`);
}
writeFileSync(GOLDEN_PATH, `${JSON.stringify(golden, null, 2)}\n`);
