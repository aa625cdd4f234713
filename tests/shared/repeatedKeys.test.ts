/** A name that stands twice in a JSON object is found with its path and lines, in scenes with all other errors. */
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { repeatedKeys } from "../../shared/repeatedKeys.ts";
import type { SceneError } from "../../shared/scene/sceneError.ts";
import { sceneOf } from "../../shared/scene/sceneValidator.ts";

test.each([
  ['{"a":1,"a":2}', ["/a"]],
  ['{"a":{"b":[{"c":1},{"c":1,"d":2,"c":3}]}}', ["/a/b/1/c"]],
  ['{"a":1,"\\u0061":2}', ["/a"]],
  ['{"a/~":1,"a/~":2}', ["/a~1~0"]],
  ['{"__proto__":1,"__proto__":2}', ["/__proto__"]],
  ['{"a":1,"a":2,"a":3}', ["/a", "/a"]],
  ['[{"a":1},{"a":2},["a","a"]]', []],
  ['{"a":"\\"a\\":","b":"{\\"a\\":1,\\"a\\":2}","c":"\\\\"}', []],
  ['{"a":{"a":{"a":1}},"b":["a"]}', []],
  ['"a"', []],
])("%s has %j", (text, paths) => {
  expect(repeatedKeys(text).map(({ path }) => path)).toEqual(paths);
});

test("lines are those of the text", () => {
  expect(repeatedKeys('{\n "a": [\n1, 2],\r\n "b": "\\n",\n\n "a": 3\n}')).toEqual([
    { path: "/a", firstLine: 2, line: 6 },
  ]);
});

test("property: no text that was written by JSON.stringify has one, and each inserted one is found", () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 4 }), fc.string(), (value, name) => {
      const text = JSON.stringify([value]);
      expect(repeatedKeys(text)).toEqual([]);
      const twice = `{${JSON.stringify(name)}:0,"other ${text.length}":${text},${JSON.stringify(name)}:1}`;
      expect(repeatedKeys(twice)).toHaveLength(1);
    }),
  );
});

test("deep and long texts take linear work", () => {
  const deep = 200_000;
  expect(repeatedKeys(`${'{"a":['.repeat(deep)}${"]}".repeat(deep)}`)).toEqual([]);
  expect(repeatedKeys(JSON.stringify(["\\".repeat(1e6), '"'.repeat(1e6)]))).toEqual([]);
  expect(repeatedKeys(`{${'"a":1,'.repeat(200_000)}"a":1}`).length).toBeLessThanOrEqual(100);
});

test("a scene with one is refused, together with its other errors", () => {
  const text = readFileSync("tests/integration/scenes/cube.json", "utf8");
  const twice = text.replace('"density":', '"density": 1,\n"density":').replace('"title":', '"titel":');
  const refused = (): SceneError => {
    try {
      return sceneOf(twice) as never;
    } catch (error) {
      return error as SceneError;
    }
  };
  const [first, ...others] = refused().faults;
  expect(first).toMatchObject({ path: "/bodies/0/material/density" });
  expect(refused().message).toMatch(
    /^scene \/bodies\/0\/material\/density: a second one on line \d+ is not allowed, must be there once: the first is on line \d+\n/,
  );
  expect(others.map(({ path }) => path)).toContain("/titel");
});

test("no bundled scene has one", () => {
  for (const file of readdirSync("scenes").filter((name) => name.endsWith(".json")))
    expect([file, repeatedKeys(readFileSync(`scenes/${file}`, "utf8"))]).toEqual([file, []]);
});
