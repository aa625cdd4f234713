/**
 * No committed file contains a path of a developer's machine, the host of a package registry, or a credential. Every
 * source file has a head comment and a limited length.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";
import { readSources, repositoryFiles } from "./sources.ts";

const MOST_COLUMNS = 120;

/** Text files up to 5 MB; a zero byte means binary. */
const texts = repositoryFiles()
  .filter((path) => statSync(path).isFile() && statSync(path).size < 5e6)
  .map((path) => ({ path, text: readFileSync(path, "latin1") }))
  .filter(({ text }) => !text.includes("\0"));

// Assembled from parts, so that this file does not match its own patterns.
const forbidden: Record<string, RegExp> = {
  "a path of a machine": new RegExp(`(^|[^A-Za-z0-9_.\\-])/${"(work|root|home|farm|Users)"}/\\w`, "m"),
  "a Windows user's path": new RegExp(`[A-Z]:\\\\+${"Users"}\\\\`),
  "a registry's host": new RegExp(
    `${"registry"}\\.[a-z0-9-]+\\.[a-z]{2,}|"${"resolved"}": *"http|${"npm"}\\.pkg\\.github`,
  ),
  "a credential": new RegExp(
    `${"_auth"}(Token)?\\s*=|-----BEGIN [A-Z ]*${"PRIVATE"} KEY|gh[pousr]_[A-Za-z0-9]{30}|AKIA[A-Z0-9]{16}`,
  ),
};

function findings(path: string, text: string): string[] {
  return Object.entries(forbidden).flatMap(([what, pattern]) => {
    const match = pattern.exec(text);
    return match ? [`${path} holds ${what}: ${match[0].trim()}`] : [];
  });
}

test("no committed file names a machine, a registry or a credential", () => {
  expect(texts.length).toBeGreaterThan(50);
  expect(texts.flatMap(({ path, text }) => findings(path, text))).toEqual([]);
});

test("the patterns find samples of what they forbid", () => {
  const samples = [
    `see /${"home"}/me/x`,
    `C:\\${"Users"}\\me`,
    `https://${"registry"}.example.org/x`,
    `//host/:${"_auth"}Token=abc`,
  ];
  for (const sample of samples) expect(findings("x", sample), sample).toHaveLength(1);
  expect(findings("x", "url(/images/home/x.png) a/root/b ./work/x")).toEqual([]);
});

test("every source file begins with its purpose, and stays short enough to read", () => {
  const sources = readSources();
  expect(sources.filter(({ text }) => !/^(#!.*\n)?\/\*\*/.test(text)).map(({ path }) => path)).toEqual([]);
  // The kernel's memory map is a table of numbers to look up, so its length does not count.
  expect(
    sources
      .filter(({ path, text }) => path !== "server/kernel/assembly/layout/layout.ts" && text.split("\n").length > 700)
      .map(({ path }) => path),
  ).toEqual([]);
});

test(`no comment line has more than ${MOST_COLUMNS} columns, because no formatter wraps comments`, () => {
  const long = texts
    .filter(({ path }) => /\.(ts|mjs|css)$/.test(path) && path !== "shared/snapshot/wasm.ts")
    .flatMap(({ path, text }) =>
      Buffer.from(text, "latin1")
        .toString("utf8")
        .split("\n")
        .flatMap((line, n) =>
          line.length > MOST_COLUMNS && /^\s*(\/?\*\*?|\/\/) /.test(line) && !line.includes("://")
            ? [`${path}:${n + 1}`]
            : [],
        ),
    );
  expect(long).toEqual([]);
});

test("every path in a comment ends an existing file's path", () => {
  const files = repositoryFiles().map((path) => `/${path}`);
  const named = readSources().flatMap(({ path, text }) =>
    [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/.*/g)].flatMap(([comment]) =>
      [...comment.matchAll(/(?<![\w./:@*<-])\w[\w.-]*(?:\/[\w.-]+)+\.(?:ts|mjs|md)\b/g)].map(([name]) => ({
        path,
        name,
      })),
    ),
  );
  expect(named.length).toBeGreaterThan(400);
  expect(named.filter(({ name }) => !files.some((file) => file.endsWith(`/${name}`)))).toEqual([]);
});

test("no test is skipped with .skip or isolated with .only", () => {
  const marked = new RegExp(`\\b(test|it|describe)\\.(${"only"}|${"skip"}|${"todo"})\\(`);
  expect(
    readSources()
      .filter(({ path, text }) => path.startsWith("tests/") && marked.test(text))
      .map(({ path }) => path),
  ).toEqual([]);
});

/** GitHub's anchor of a heading: lower case, no punctuation, hyphens for spaces. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

test("every link in a document leads to an existing file and heading", () => {
  const dead = texts
    .filter(({ path }) => path.endsWith(".md"))
    .flatMap(({ path }) => {
      const links = [...readFileSync(path, "utf8").matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g)];
      return links
        .filter(([, file, heading]) => {
          const target = file === "" ? path : posix.join(posix.dirname(path), file);
          if (!existsSync(target)) return true;
          return (
            heading !== undefined &&
            ![...readFileSync(target, "utf8").matchAll(/^#+ (.+)$/gm)].some(([, text]) => anchor(text) === heading)
          );
        })
        .map(([, file, heading]) => `${path} -> ${file}${heading ? `#${heading}` : ""}`);
    });
  expect(dead).toEqual([]);
});
