/** `npm run lint`: formatter, linter, unused files and exports, types. Exits with code 0 only if all of them pass. */
import { CHECKS, runChecks } from "./support/run/checks.ts";

const passed = await runChecks();
process.exitCode = passed === CHECKS.length ? 0 : 1;
