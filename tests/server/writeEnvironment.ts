/** `node tests/server/writeEnvironment.ts`: rewrites docs/ENVIRONMENT.md, after a variable was added or changed. */
import { writeFileSync } from "node:fs";
import { ENVIRONMENT_PAGE, environmentPage } from "./environmentPage.ts";

writeFileSync(ENVIRONMENT_PAGE, environmentPage());
