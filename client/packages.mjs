/**
 * Builds the client packages into build/packages: a tarball for npm (pliant-client), a wheel and a source package for
 * pip (pliant). Nothing is downloaded. The files install offline into any project:
 *
 *     npm install build/packages/pliant-client-0.1.0.tgz
 *     pip install --no-index build/packages/pliant-0.1.0-py3-none-any.whl
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const out = at("build/packages");

function run(what, command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  console.error(`${what} failed: ${error?.code === "ENOENT" ? `${command} is not installed` : `exit code ${status}`}`);
  process.exit(1);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const built = join(out, "pliant-client");
run("building pliant-client", process.execPath, [at("client/sdk/build.mjs"), built]);
const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ["npm"];
run("packing pliant-client", npm[0], [...npm.slice(1), "pack", built, "--pack-destination", out, "--offline"]);
rmSync(built, { recursive: true });
run("building pliant for Python", "python3", ["-B", at("client/python/build_backend/backend.py"), out]);
