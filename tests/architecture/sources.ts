/** Reads the repository's own source files and their imports. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";

export interface Import {
  /** As written in the source: "./x.ts", "node:fs", "three". */
  specifier: string;
  /** Repository path of a relative import. */
  target: string | undefined;
  /** `import type`: gone at run time. */
  typeOnly: boolean;
  /** `new URL("x.ts", import.meta.url)`: the entry file of a thread or process, which loads its own imports. */
  thread: boolean;
}

export interface Source {
  /** Relative to the repository root, with forward slashes. */
  path: string;
  text: string;
  imports: Import[];
}

/**
 * Files that git tracks, and untracked files that git does not ignore.
 * @throws Error outside of a git work tree
 */
export function repositoryFiles(): string[] {
  const { status, stdout, stderr } = spawnSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    { encoding: "utf8", maxBuffer: 1 << 26 },
  );
  if (status !== 0) throw new Error(`git ls-files: ${stderr}`);
  return stdout.split("\0").filter((path) => path !== "" && existsSync(path));
}

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");

/**
 * Finds `import x from`, `export x from`, `import "x"`, `import("x")` with a literal, and `new URL("x.ts",
 * import.meta.url)`.
 */
export function importsOf(path: string, text: string): Import[] {
  const code = withoutComments(text);
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean, thread = false): void => {
    const named = specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined;
    // AssemblyScript imports omit the extension.
    const target = named !== undefined && isAssembly(path) && !named.endsWith(".ts") ? `${named}.ts` : named;
    found.push({ specifier, target, typeOnly, thread });
  };
  for (const [, keyword, specifier] of code.matchAll(
    /\b(import type|import|export type|export)\s[^"';()]*?from\s*["']([^"']+)["']/g,
  ))
    add(specifier, keyword.endsWith("type"));
  for (const [, specifier] of code.matchAll(/\bimport\s*\(?\s*["']([^"']+)["']/g)) add(specifier, false);
  for (const [, specifier] of code.matchAll(/new URL\(\s*["'](\.[^"']+\.[mc]?[jt]s)["']/g)) add(specifier, false, true);
  return found;
}

/** Sources of the kernel and the codec are AssemblyScript. */
const isAssembly = (path: string): boolean => /^(server\/kernel|shared\/snapshot)\/assembly\//.test(path);

/** Reads all TypeScript sources, including those in AssemblyScript. */
export function readSources(): Source[] {
  return repositoryFiles()
    .filter((path) => /^(server|client|shared|tests|load-tests)\/.*\.ts$/.test(path))
    .map((path) => {
      const text = readFileSync(path, "utf8");
      return { path, text, imports: importsOf(path, text) };
    });
}
