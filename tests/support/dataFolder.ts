/** The folder of meshes and reference data that tests may read but that is not in the repository. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** `$PLIANT_DATA`, or `../shared/data` beside the checkout. */
export const dataFolder: string =
  process.env.PLIANT_DATA || fileURLToPath(new URL("../../../shared/data", import.meta.url));

/** For `describe.skipIf`: true if the folder lacks any of `files`; then it says so on stderr. */
export function lacksData(...files: string[]): boolean {
  const missing = files.filter((file) => !existsSync(join(dataFolder, file)));
  if (missing.length === 0) return false;
  console.warn(
    `SKIPPING: ${missing.join(", ")} not found in ${process.env.PLIANT_DATA ? "$PLIANT_DATA" : "../shared/data"}; set PLIANT_DATA to the data folder.`,
  );
  return true;
}
