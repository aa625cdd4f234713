/** The filter of soft shadows replaces three's plain comparison, and nothing else of its shadow code. */
import { ShaderChunk } from "three";
import { expect, test } from "vitest";

test("only the filter of BasicShadowMap changes", async () => {
  const before = ShaderChunk.shadowmap_pars_fragment;
  await import("../../../../client/view/stage/penumbra.ts");
  const after = ShaderChunk.shadowmap_pars_fragment;
  expect(after).not.toBe(before);
  const first = [...before].findIndex((letter, i) => letter !== after[i]);
  const kept = before.slice(0, first);
  // The filters with a comparing sampler and with moments are before it, unchanged.
  expect(kept.split("float getShadow(")).toHaveLength(4);
  const rest = before.slice(before.indexOf("return mix( 1.0, shadow, shadowIntensity );", first));
  expect(after.endsWith(rest)).toBe(true);
  // A filter looks for what casts the shadow before it samples the width of its edge.
  expect(after.slice(first).indexOf("found > 0.0")).toBeLessThan(after.slice(first).indexOf("float wide"));
});
