/** The committed compiled coder matches its source, and is small enough to be part of every page. */
import { expect, test } from "vitest";
import { compileCodec } from "../../../shared/snapshot/build.mjs";
import { WASM_BASE64 } from "../../../shared/snapshot/wasm.ts";

test("wasm.ts is up to date (npm run build:codec)", async () => {
  const bytes = await compileCodec();
  expect(bytes.length).toBeLessThan(20_000);
  expect(Buffer.from(bytes).toString("base64") === WASM_BASE64, "wasm.ts differs from the compiled assembly/").toBe(
    true,
  );
});
