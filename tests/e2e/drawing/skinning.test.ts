/** GPU skinning gives the result of shared/skinning for each vertex, on a body that is being deformed by a grab. */
import { describe, expect, test } from "vitest";
import { decode } from "@msgpack/msgpack";
import { float32Of, uint32Of } from "../../../shared/bytes.ts";
import { createSkin, evaluateSkinInto } from "../../../shared/skinning/index.ts";
import type { Topology } from "../../../shared/topology.ts";
import { SCENES_FOLDER } from "../../physics/scenes/checkScene.ts";
import { drawn, noBrowser, takeHold, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";
import { inLong } from "../../support/run/long.ts";

describe.skipIf(noBrowser)("GPU skinning", () => {
  const stage = useStage({ scenesDir: SCENES_FOLDER }, { fewPictures: true });

  test.each(inLong(["bunny", "dragon"], ["bunny"]))("%s: positions and normals agree with the CPU's", async (scene) => {
    const { path } = await stage.room(scene);
    const page = await drawn(await stage.visit(path));
    const before = await page.evaluate(() => window.pliant.displayed());
    const held = await takeHold(page);
    await page.mouse.move(held.x + 90, held.y - 70, { steps: 6 });
    await until(page, (first) => window.pliant.displayed().some((x, i) => Math.abs(x - first[i]!) > 0.02), before);
    await page.waitForTimeout(500);
    const gpu = await page.evaluate(() => window.pliant.skinned(0));
    await stage.shoot(page, `skinned-${scene}`);
    await page.mouse.up();

    const hash = await page.evaluate(() => window.pliant.topology);
    const topology = decode(
      new Uint8Array(await (await fetch(`${stage.url}/api/topologies/${hash}`)).arrayBuffer()),
    ) as Topology;
    const body = topology.bodies[0]!;
    const detail = body.detail!;
    const skin = createSkin({
      rest: float32Of(body.rest),
      triangles: uint32Of(body.triangles),
      detailTriangles: uint32Of(detail.triangles),
      attachTriangle: uint32Of(detail.attachTriangle),
      attachCoords: float32Of(detail.attachCoords),
    });
    const vertices = detail.attachTriangle.byteLength / 4;
    const positions = new Float64Array(3 * vertices);
    const normals = new Float64Array(3 * vertices);
    evaluateSkinInto(skin, gpu.particles, positions, normals);
    expect(gpu.positions.length).toBe(3 * vertices);

    let worst = 0;
    for (let i = 0; i < positions.length; i++) worst = Math.max(worst, Math.abs(positions[i]! - gpu.positions[i]!));
    // float32 on both sides of a body of half a metre; a wrong corner, sign or texel would differ by millimetres at
    // least.
    expect(worst).toBeLessThan(2e-6);

    // Normals divide by small areas where a triangle is nearly flat: nearly all are within half a degree, few are
    // further off.
    let apart = 0;
    for (let i = 0; i < normals.length; i += 3) {
      const cosine =
        normals[i]! * gpu.normals[i]! + normals[i + 1]! * gpu.normals[i + 1]! + normals[i + 2]! * gpu.normals[i + 2]!;
      if (!(cosine > 0.99996)) apart++;
    }
    expect(apart / vertices).toBeLessThan(0.002);
  });
});
