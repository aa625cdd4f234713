/**
 * PROTOCOL.md and docs/CODEC.md match the code: every number, name, code and byte in their tables is compared with
 * shared/. Links of all documents work.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { HttpErrors, Notices } from "../../shared/errors.ts";
import { ClientMessage, CloseCode, Limits, PROTOCOL_VERSION, ServerMessage } from "../../shared/protocol/protocol.ts";
import { describeVariables } from "../../server/config.ts";
import { ENVIRONMENT_PAGE, environmentPage, ROWS } from "./environmentPage.ts";
import { between, codecPath, exampleBlock, formatBlock, MARKERS } from "./protocolBlocks.ts";

const page = readFileSync(fileURLToPath(new URL("../../PROTOCOL.md", import.meta.url)), "utf8");
const codec = readFileSync(codecPath, "utf8");

/** Cells of all table rows whose first cells match the pattern, without backticks. */
function rows(...pattern: RegExp[]): string[][] {
  return page
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", "")),
    )
    .filter((cells) => pattern.every((part, i) => part.test(cells[i] ?? "")));
}

const table = (...pattern: RegExp[]): Record<string, string> =>
  Object.fromEntries(rows(...pattern).map(([key, value]) => [value!, key!]));
const strings = (numbers: Record<string, number>): Record<string, string> =>
  Object.fromEntries(Object.entries(numbers).map(([key, value]) => [key, String(value)]));

describe("PROTOCOL.md", () => {
  test("is of this version", () => {
    expect(page).toContain(`# The Pliant protocol, version ${PROTOCOL_VERSION}`);
  });

  test("lists every message with its number", () => {
    const both = (messages: Record<string, number>, isServer: boolean): Record<string, string> =>
      Object.fromEntries(Object.entries(messages).map(([name, type]) => [isServer ? `${name}<` : name, String(type)]));
    // `reset` is a name in both directions, so the tables are distinguished by the numbers.
    const named = Object.fromEntries(
      rows(/^\d{1,2}$/, /^[a-zA-Z]+$/).map(([type, name]) => [Number(type) >= 64 ? `${name}<` : name, type]),
    );
    expect(named).toEqual({ ...both(ClientMessage, false), ...both(ServerMessage, true) });
  });

  test("lists every close code", () => {
    expect(table(/^\d{4}$/, /^[a-zA-Z]+$/)).toEqual(strings(CloseCode));
  });

  test("lists every limit with its value", () => {
    const limits = rows(/^[a-z][a-zA-Z]+$/, /^\d+$/, /[a-z]/).filter(([, value]) => Number(value) > 1);
    expect(Object.fromEntries(limits.map(([name, value]) => [name, value]))).toEqual(strings(Limits));
  });

  test("lists every error with status and text", () => {
    const listed = rows(/^[A-Z_]+$/, /^\d{3}$/).map(([code, status, text]) => [code, { status: Number(status), text }]);
    expect(Object.fromEntries(listed)).toEqual(HttpErrors);
  });

  test("lists every notice with its text", () => {
    const listed = rows(/^[A-Z_]+$/, /[a-z]/).map(([code, text]) => [code, { text }]);
    expect(Object.fromEntries(listed)).toEqual(Notices);
  });

  test("repeats the frame format word for word", () => {
    expect(between(codec, MARKERS.format)).toBe(formatBlock());
  });

  test("shows an example with the codec's bytes", () => {
    expect(between(codec, MARKERS.example)).toBe(exampleBlock());
  });
});

describe("docs/ENVIRONMENT.md", () => {
  test("lists every variable with its default and limits; `node tests/server/writeEnvironment.ts` rewrites it", () => {
    expect(Object.keys(ROWS).sort()).toEqual([...describeVariables().keys()].sort());
    expect(readFileSync(ENVIRONMENT_PAGE, "utf8")).toBe(environmentPage());
  });

  test("repeats the limits of config.ts where it has some, and the fixed defaults", () => {
    for (const [name, { limits, fallback }] of describeVariables()) {
      const own = ROWS[name]!;
      if (limits !== "") expect([name, own.limits]).toEqual([name, undefined]);
      if (own.fallback !== undefined && !/PORT|WORKERS|THREADS|DIR$/.test(name))
        expect([name, own.fallback.split(",")[0]]).toEqual([name, fallback]);
    }
  });
});

describe("documents", () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const documents = globSync("**/*.md", {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|build|artifacts|\.[^/]*)(\/|$)/.test(path),
  });

  /** GitHub's anchors of the headings. */
  const anchors = (text: string): string[] =>
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    );

  test.each(documents)("%s: every link leads to an existing file and heading", (document) => {
    const text = readFileSync(join(root, document), "utf8").replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, "");
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
    const lost = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [path, anchor] = link.split("#") as [string, string?];
      const file = path === "" ? join(root, document) : join(root, dirname(document), path);
      if (!existsSync(file)) return true;
      return anchor !== undefined && file.endsWith(".md") && !anchors(readFileSync(file, "utf8")).includes(anchor);
    });
    expect(lost).toEqual([]);
  });

  test("README.md is short: at most 900 words", () => {
    expect(readFileSync(join(root, "README.md"), "utf8").split(/\s+/).length).toBeLessThanOrEqual(900);
  });
});
