/**
 * Reads the Dockerfile and replays it without a Docker engine: every stage becomes an empty folder, in which COPY and
 * RUN are executed. It cannot test the base image itself, the user, and read-only file systems.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";

export interface Stage {
  base: string;
  name: string | undefined;
  workdir: string;
  env: Record<string, string>;
  user: string | undefined;
  expose: string[];
  healthcheck: string[] | undefined;
  command: string[] | undefined;
  steps: (
    | { type: "copy"; from: string | undefined; sources: string[]; target: string }
    | { type: "run"; command: string }
  )[];
}

/** @throws Error for an instruction that it cannot replay */
export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .replace(/^\s*#.*$/gm, "")
    .replace(/\\\r?\n/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const stages: Stage[] = [];
  for (const line of lines) {
    const [, word, rest] = /^(\S+)\s+(.*)$/.exec(line) ?? [line, line, ""];
    const stage = stages[stages.length - 1];
    if (word === "FROM") {
      const [base, , name] = rest.split(/\s+/);
      stages.push({
        base,
        name,
        workdir: "/",
        env: {},
        user: undefined,
        expose: [],
        healthcheck: undefined,
        command: undefined,
        steps: [],
      });
    } else if (word === "WORKDIR") stage.workdir = rest;
    else if (word === "ENV") for (const [, key, value] of rest.matchAll(/(\w+)=(\S+)/g)) stage.env[key] = value;
    else if (word === "USER") stage.user = rest;
    else if (word === "EXPOSE") stage.expose.push(...rest.split(/\s+/));
    else if (word === "HEALTHCHECK") stage.healthcheck = JSON.parse(rest.slice(rest.indexOf("["))) as string[];
    else if (word === "CMD") stage.command = JSON.parse(rest) as string[];
    else if (word === "RUN") stage.steps.push({ type: "run", command: rest });
    else if (word === "COPY") {
      const words = rest.split(/\s+/);
      const from = words[0].startsWith("--from=") ? words.shift()?.slice("--from=".length) : undefined;
      const target = words.pop() as string;
      stage.steps.push({ type: "copy", from, sources: words, target });
    } else throw new Error(`Dockerfile: the replay does not know ${word}`);
  }
  return stages;
}

/**
 * Names that .dockerignore excludes from the context. Its patterns here are names with `*`, matched against the top
 * level, as Docker matches them.
 */
export function ignoredByDocker(text: string): (topLevelName: string) => boolean {
  const patterns = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const tests = patterns.map((pattern) => {
    if (!/^[\w.*-]+$/.test(pattern)) throw new Error(`.dockerignore: the replay does not know the pattern ${pattern}`);
    return new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  });
  return (name) => tests.some((test) => test.test(name));
}

export interface Replayed {
  stage: Stage;
  /** Folder that represents the stage's `/`. */
  root: string;
  workdir: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Replays all stages below a new temporary folder.
 * @param context folder of the Dockerfile
 * @param commandFor the command to run in place of a RUN's command, in the same folder
 * @returns the stages in order; the last is the image
 * @throws Error with the output of a failing RUN, or with the name of a COPY source that is missing or excluded by
 *   .dockerignore
 */
export function replay(
  context: string,
  commandFor: (command: string, workdir: string) => string = (command) => command,
): { folder: string; stages: Replayed[] } {
  const folder = mkdtempSync(join(tmpdir(), "pliant-image-"));
  const ignored = ignoredByDocker(readFileSync(join(context, ".dockerignore"), "utf8"));
  const done: Replayed[] = [];
  for (const [index, stage] of parseDockerfile(readFileSync(join(context, "Dockerfile"), "utf8")).entries()) {
    const root = join(folder, stage.name ?? `stage${index}`);
    const workdir = join(root, stage.workdir);
    mkdirSync(workdir, { recursive: true });
    const replayed: Replayed = { stage, root, workdir, env: stageEnvironment(stage) };
    done.push(replayed);
    for (const step of stage.steps) {
      if (step.type === "run") run(commandFor(step.command, workdir), replayed);
      else copy(step, context, ignored, done, replayed);
    }
  }
  return { folder, stages: done };
}

/**
 * The base image is `node:26-slim`: its `node` is the Node that runs this, and this repository's node_modules is not on
 * PATH.
 */
function stageEnvironment(stage: Stage): NodeJS.ProcessEnv {
  const outside = (process.env.PATH ?? "").split(delimiter).filter((entry) => !entry.includes("node_modules"));
  // The download cache of the machine may be used: an image build would fetch the same bytes.
  const kept = Object.entries(process.env).filter(([key]) =>
    /^(HOME|LANG|TMPDIR|https?_proxy|no_proxy|npm_config_(registry|cache|userconfig|globalconfig))$/i.test(key),
  );
  return {
    ...Object.fromEntries(kept),
    npm_config_prefer_offline: "true",
    PATH: [dirname(process.execPath), ...outside].join(delimiter),
    ...stage.env,
  };
}

function run(command: string, { workdir, env }: Replayed): void {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { cwd: workdir, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`RUN ${command} ended with ${status}\n${stdout}${stderr}`);
}

function copy(
  step: Extract<Stage["steps"][number], { type: "copy" }>,
  context: string,
  ignored: (name: string) => boolean,
  done: readonly Replayed[],
  into: Replayed,
): void {
  const source = step.from === undefined ? undefined : done.find(({ stage }) => stage.name === step.from);
  if (step.from !== undefined && source === undefined)
    throw new Error(`COPY --from=${step.from}: there is no such stage`);
  const target = step.target.startsWith("/") ? join(into.root, step.target) : resolve(into.workdir, step.target);
  for (const name of step.sources) {
    const from = source ? join(source.root, name) : join(context, name);
    if (!source && ignored(name.split("/")[0])) throw new Error(`COPY ${name}: .dockerignore excludes it`);
    if (!existsSync(from)) throw new Error(`COPY ${name}: missing`);
    // As Docker does: a folder's contents go into the target. A file goes into a target that ends in a slash, or
    // becomes the target.
    const isFolder = statSync(from).isDirectory();
    const to =
      !isFolder && (step.target.endsWith("/") || step.sources.length > 1) ? join(target, basename(name)) : target;
    mkdirSync(isFolder ? to : dirname(to), { recursive: true });
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  }
}
