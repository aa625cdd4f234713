/**
 * `npm run build:packages`: its files install without a network into new projects, where they join a room, and nothing
 * is left in the sources.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPip, lacks } from "../../support/run/tools.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { inLong } from "../../support/run/long.ts";
import { testFolder } from "../../support/testFolder.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const packages = join(root, "build/packages");
const python = findPip();
const run = promisify(execFile);

let folder: string;
let server: TestServer;
/** Files of the sources before and after all builds. */
const filesOf = (path: string): string[] => readdirSync(join(root, path), { recursive: true }).map(String).sort();
const before = { python: filesOf("client/python"), sdk: filesOf("client/sdk") };
/** No registry answers here. */
const offline = { ...process.env, npm_config_registry: "http://127.0.0.1:9", npm_config_offline: "true" };

beforeAll(async () => {
  folder = testFolder("packages");
  await run(process.execPath, ["client/packages.mjs"], { cwd: root, env: offline });
  server = await startTestServer({ scenesDir: join(root, "scenes") });
});
afterAll(() => server?.close());

const file = (ending: string): string => join(packages, readdirSync(packages).find((name) => name.endsWith(ending))!);

describe("the npm package", () => {
  test("is packed with code, types, readme and licence, and the sources refuse to be packed", async () => {
    const { stdout } = await run("tar", ["tzf", file(".tgz")]);
    const names = stdout.trim().split("\n");
    for (const name of ["index.js", "three.js", "react.js", "element.js", "README.md", "LICENSE", "package.json"])
      expect(names).toContain(`package/${name}`);
    expect(names.filter((name) => name.endsWith(".d.ts")).length).toBeGreaterThan(10);
    const packing = run("npm", ["pack", "--dry-run"], { cwd: join(root, "client/sdk"), env: offline });
    await expect(packing).rejects.toThrow("npm run build:packages");
  });

  test("has a readme whose links lead to packed files", async () => {
    const { stdout: readme } = await run("tar", ["xzOf", file(".tgz"), "package/README.md"]);
    const { stdout: names } = await run("tar", ["tzf", file(".tgz")]);
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, path]) => `package/${path}`);
    expect(links.length).toBeGreaterThan(2);
    expect(links.filter((path) => !names.split("\n").includes(path))).toEqual([]);
  });

  test("passes publint and every way that TypeScript resolves modules", async () => {
    const data = readFileSync(file(".tgz"));
    const tarball = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) as ArrayBuffer;
    expect((await publint({ pack: { tarball }, strict: true })).messages).toEqual([]);
    const result = await checkPackage(createPackageFromTarballData(data));
    // It is an ES module only; `require` of one works from Node 22 on.
    const problems = result.types === false ? ["no types"] : result.problems;
    expect(problems.filter((one) => typeof one === "string" || one.kind !== "CJSResolvesToESM")).toEqual([]);
  });

  test("installs offline into a new project, and joins a room there", async () => {
    const project = join(folder, "page");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "page", private: true, type: "module" }));
    await run("npm", ["install", "--no-audit", "--no-fund", file(".tgz")], { cwd: project, env: offline });
    const program = `
      import { joinRoom } from "pliant-client";
      const room = await joinRoom(process.argv[2], { scene: "one-cube", timeoutMs: 300_000 });
      console.log(room.bodies[0].name, room.positions(room.bodies[0].name).length > 0);
      room.leave();
      process.exit(0);`;
    writeFileSync(join(project, "join.js"), program);
    const { stdout } = await run(process.execPath, ["join.js", `${server.url}/r/page`], { cwd: project });
    expect(stdout).toMatch(/ true\n$/);
    // Its types need no other package.
    const typed = 'import { joinRoom } from "pliant-client";\nexport const at: number = (await joinRoom("")).tick;\n';
    writeFileSync(join(project, "typed.ts"), typed);
    const flags =
      "--noEmit --strict --skipLibCheck false --module nodenext --target es2022 --lib es2022,esnext.disposable,dom";
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [compiler, ...flags.split(" "), "typed.ts"], { cwd: project });
    // A mistake points to a readable line.
    writeFileSync(join(project, "wrong.js"), `import { joinRoom } from "pliant-client";\nawait joinRoom("nowhere");\n`);
    const { stderr } = await run(process.execPath, ["wrong.js"], { cwd: project }).catch((error) => error);
    expect(stderr).toContain("BAD_ARGUMENT");
    expect(
      Math.max(
        ...String(stderr)
          .split("\n")
          .map((line) => line.length),
      ),
    ).toBeLessThan(1000);
    const entry = createRequire(join(project, "join.js")).resolve("pliant-client");
    const lines = readFileSync(entry, "utf8").split("\n");
    expect(lines.length).toBeGreaterThan(1000);
  });
});

describe.skipIf(lacks("pip of Python 3", python))("the Python package", () => {
  const isolated = { ...process.env, PYTHONPATH: "", PIP_NO_INDEX: "1", PIP_DISABLE_PIP_VERSION_CHECK: "1" };
  /** An empty project, whose packages are those that pip installs there. */
  async function project(name: string, source: string): Promise<string> {
    const path = join(folder, name);
    await run(python!, ["-m", "venv", "--without-pip", path]);
    const inside = join(path, "bin", "python");
    await run(python!, ["-m", "pip", "--python", inside, "install", source], { env: isolated });
    return inside;
  }

  test.each<[string, () => string]>([
    ["wheel", () => file(".whl")],
    ["source-package", () => file(".tar.gz")],
    ...inLong<[string, () => string][]>([["folder", () => join(root, "client/python")]], []),
  ])("installs offline from its %s, under the name that is imported", async (name, source) => {
    const inside = await project(name, source());
    const { stdout: listed } = await run(python!, ["-m", "pip", "--python", inside, "list", "--format", "json"]);
    expect((JSON.parse(listed) as { name: string }[]).map((one) => one.name)).toEqual(["pliant"]);
    const program = `import pliant, sys
with pliant.join(sys.argv[1], scene="one-cube", timeout=300) as room: print(pliant.__file__, len(room.bodies))`;
    const { stdout } = await run(inside, ["-c", program, `${server.url}/r/${name}`], { env: isolated });
    expect(stdout).toContain(join(folder, name));
    expect(stdout).toMatch(/ [1-9]\d*\n$/);
  });

  test("is the same, byte for byte, when it is built again", async () => {
    const first = readFileSync(file(".whl"));
    const again = join(folder, "again");
    mkdirSync(again);
    await run(python!, ["-B", "client/python/build_backend/backend.py", again], { cwd: root });
    expect(readFileSync(join(again, readdirSync(again).find((name) => name.endsWith(".whl"))!))).toEqual(first);
  });

  test("building and installing leave nothing in the sources", () => {
    expect({ python: filesOf("client/python"), sdk: filesOf("client/sdk") }).toEqual(before);
    expect(existsSync(join(root, "client/python/build"))).toBe(false);
  });
});
