/** The build of the kernel and of the codec refuses what would overwrite their memory. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compileAssembly } from "../../shared/compileAssembly.mjs";
import { testFolder } from "../support/testFolder.ts";

const compile = (source: string): Promise<Uint8Array> => {
  const folder = testFolder("assembly");
  writeFileSync(join(folder, "index.ts"), source);
  return compileAssembly(folder, ["--importMemory", "--initialMemory", "1"]);
};

test("a power needs tables, which each new instance would write into the memory of a running step", async () => {
  await expect(compile("export function f(x: f32): f32 { return x ** 2.5; }")).rejects.toThrow("static data");
  await expect(compile("export function f(x: f32): f32 { return x * x; }")).resolves.toBeInstanceOf(Uint8Array);
});
