/**
 * Programs that are not npm packages and that some tests need: a Chromium, Prometheus, Alertmanager, HAProxy, Python
 * and PostgreSQL. They are searched for, or installed where the system allows it (Debian or Ubuntu, as root). Without
 * them the tests are skipped and say so; with CI set, that is a failure.
 *
 *   const prometheus = findOnPath("prometheus");
 *   describe.skipIf(lacks("Prometheus", prometheus))("...", () => { ... });
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium } from "../chromium.ts";
import { findPostgres } from "../postgres.ts";

/** True if a test that is skipped for a missing program is a failure. */
const inCI = !["", "0", "false"].includes(process.env.CI ?? "");

/** Path of a program on PATH, or undefined. */
export function findOnPath(name: string): string | undefined {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  return (process.env.PATH ?? "")
    .split(delimiter)
    .filter((directory) => directory !== "")
    .map((directory) => join(directory, file))
    .find((path) => existsSync(path));
}

/** Debian's package renames the program. */
export const findAlertmanager = (): string | undefined =>
  findOnPath("alertmanager") ?? findOnPath("prometheus-alertmanager");

/** Debian's package renames the program. */
export const findExporter = (): string | undefined =>
  findOnPath("postgres_exporter") ?? findOnPath("prometheus-postgres-exporter");

/**
 * For `describe.skipIf`: true if a program was not found; then it says so on stderr.
 *
 * @throws Error in CI, so that the test file fails instead of being skipped.
 */
export function lacks(name: string, path: string | undefined): boolean {
  if (path !== undefined) return false;
  const text = `${name} was not found and could not be installed`;
  if (inCI) throw new Error(`${text}; in CI these tests must run`);
  console.warn(`SKIPPING: ${text}. See docs/TESTS.md.`);
  return true;
}

/** Path of a Python that has pip, or undefined. */
export function findPip(): string | undefined {
  const python = findOnPath("python3");
  return python && spawnSync(python, ["-m", "pip", "--version"]).status === 0 ? python : undefined;
}

/** Installs missing programs by tests/support/install-tools.sh, which does nothing without permission. */
export function installTools(): void {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  const monitoring = [findOnPath("prometheus"), findAlertmanager(), findExporter(), findOnPath("haproxy")];
  const found = [findChromium(), ...monitoring, findOnPath("python3"), findPip(), findPostgres()];
  if (!found.includes(undefined)) return;
  spawnSync("bash", [fileURLToPath(new URL("../install-tools.sh", import.meta.url))], { stdio: "inherit" });
}
