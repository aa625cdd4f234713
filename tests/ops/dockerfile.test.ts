/**
 * The Dockerfile's steps, replayed in an empty folder: they work, and the last stage is enough to serve and has no
 * build tools. `npm test` copies the results of RUN from this repository, where the same commands have made them, and
 * meshes two scenes. `npm run test:long` runs all of them.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer } from "../../load-tests/measuredServer.ts";
import type { RunningServer } from "../../load-tests/measuredServer.ts";
import { inLong } from "../support/run/long.ts";
import { ignoredByDocker, parseDockerfile, replay } from "./dockerfile.ts";
import type { Replayed } from "./dockerfile.ts";

/** Copies installed packages except development dependencies, according to package-lock.json. */
function copyProductionPackages(workdir: string): void {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  for (const [path, { dev, devOptional }] of Object.entries(packages))
    if (path !== "" && !dev && !devOptional && existsSync(path))
      cpSync(path, join(workdir, path), {
        recursive: true,
        filter: (from) => !from.slice(path.length).includes("node_modules"),
      });
}

const replaced = new Set<string>();
/** The command to run in place of a RUN's. */
function fromHere(command: string, workdir: string): string {
  const stands = (what: string, work: () => void): string => {
    replaced.add(what);
    work();
    return ":";
  };
  if (command.startsWith("npm ci ")) return stands("install", () => copyProductionPackages(workdir));
  if (command.startsWith("npm prune --omit=dev ")) return stands("prune", () => {});
  if (command === "npm run build:kernel && npm run build:client")
    return stands("build", () => {
      for (const made of ["build/kernel.wasm", "build/client"]) cpSync(made, join(workdir, made), { recursive: true });
    });
  return command.replace("scenes/[a-z]*.json", "scenes/bunny.json scenes/funnel.json");
}

describe("the replayed image", () => {
  let folder = "";
  let image: Replayed;
  let server: RunningServer;

  beforeAll(async () => {
    const replayed = replay(process.cwd(), inLong(undefined, fromHere));
    // A Dockerfile that installs or builds differently needs another replacement here.
    expect([...replaced]).toEqual(inLong([], ["install", "build", "prune"]));
    folder = replayed.folder;
    image = replayed.stages[replayed.stages.length - 1];
    // At run time only the last stage exists; any reference to the other stages must fail here.
    for (const { root } of replayed.stages.slice(0, -1)) rmSync(root, { recursive: true });
    server = await startServer({
      folder: image.workdir,
      command: [process.execPath, ...(image.stage.command as string[]).slice(1)],
      env: { ...image.stage.env, PLIANT_PREWARM: inLong("all", "bunny"), PLIANT_OPERATIONS_PORT: "same" },
    });
  });

  afterAll(async () => {
    await server?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  test("runs Node 26, not as root", () => {
    expect(image.stage.base).toBe("node:26-slim");
    expect(image.stage.user).toBe("node");
    expect(image.stage.command?.[0]).toBe("node");
    expect(Number(process.versions.node.split(".")[0])).toBeGreaterThanOrEqual(26);
  });

  test("starts the server as npm start and npm run serve do, with young generations of 16 MB for each thread", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
    const [, ...args] = image.stage.command as string[];
    expect(args).toEqual(["--max-semi-space-size=16", "server/main.ts"]);
    expect(scripts.serve).toBe(`node ${args.join(" ")}`);
    for (const script of ["start", "dev"]) expect(scripts[script]!.endsWith(` ${args.join(" ")}`), script).toBe(true);
  });

  test("has no development dependency and no test", () => {
    const modules = readdirSync(join(image.workdir, "node_modules"));
    for (const name of ["fastify", "piscina", "ws"]) expect(modules).toContain(name);
    for (const name of ["typescript", "vite", "vitest", "assemblyscript", "playwright-core", "node"])
      expect(modules).not.toContain(name);
    for (const name of ["tests", "load-tests", "client", ".git"])
      expect(existsSync(join(image.workdir, name)), name).toBe(false);
  });

  test("has the tetrahedral meshes, so that no container creates them again", () => {
    expect(
      readdirSync(join(image.workdir, "build/cache/meshes")).filter((name) => name.endsWith(".bin")).length,
    ).toBeGreaterThan(1);
  });

  test("serves health, the page and its scenes, and opens a room", async () => {
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    const page = await fetch(server.url);
    expect(page.headers.get("content-type")).toContain("text/html");
    const scenes = await fetch(`${server.url}/api/scenes`);
    expect(scenes.status).toBe(200);
    expect(JSON.stringify(await scenes.json())).toContain("drape");
  });

  test("passes its own health check, which fails without a server", () => {
    const [, ...args] = image.stage.healthcheck as string[];
    const check = (port: number): number | null =>
      spawnSync(process.execPath, args, { env: { ...image.env, PORT: String(port) }, timeout: 300_000 }).status;
    expect(check(server.port)).toBe(0);
    expect(check(1)).toBe(1);
  });

  test("ends on SIGTERM with code 0", async () => {
    expect(await server.stop()).toBe(0);
  });
});

describe("the replay itself", () => {
  test("refuses an instruction that it cannot replay", () => {
    expect(() => parseDockerfile("FROM a\nADD x y")).toThrow("does not know ADD");
  });
  test("reads continued lines, comments and stages", () => {
    const [first, second] = parseDockerfile("# c\nFROM a AS b\nRUN one && \\\n  two\nFROM c\nCOPY --from=b /x y z ./");
    expect(first).toMatchObject({ base: "a", name: "b", steps: [{ type: "run", command: "one &&    two" }] });
    expect(second.steps).toEqual([{ type: "copy", from: "b", sources: ["/x", "y", "z"], target: "./" }]);
  });
  test("matches .dockerignore as Docker does at the top level", () => {
    const ignored = ignoredByDocker(".*\n*.md\nbuild\n# note\n");
    expect([".git", "README.md", "build"].every(ignored)).toBe(true);
    expect(["server", "builder", "package.json"].some(ignored)).toBe(false);
  });
});
