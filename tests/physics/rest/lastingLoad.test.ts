/**
 * Pairs under a lasting load keep their pushes (kernel/assembly/contact/solve/piles.ts), so the load lies at its
 * thickness. Without that it lay at half of it, and crept.
 */
import { expect, test } from "vitest";
import { packedPairs } from "../../parity/contact/contactLists.ts";
import { CREEP, floor, G, Stage } from "../pairs/act.ts";
import { block, FRICTION, massOf, SIZE } from "../pairs/kinds.ts";

test("a soft block of ten times a sheet's mass lies at its thickness on the sheet, and rests", async () => {
  const factor = (10 * massOf("compliant cloth")) / massOf("compliant solid");
  const stage = await Stage.open(
    [
      block("compliant solid", { name: "block", center: [0, 0.012 + SIZE / 2, 0], factor }),
      block("compliant cloth", { name: "sheet", center: [0, 0.006, 0] }),
    ],
    { gravity: G, rests: true, damping: 1, colliders: [floor(FRICTION)] },
  );
  stage.run(3);
  const thickness = Math.max(...packedPairs(stage.lab.created.memory).map((pair) => pair.thickness));
  const heights = stage.lab.positions(0).filter((_, k) => k % 3 === 1);
  const gap = Math.min(...heights) - stage.center(1)[1];
  expect(gap).toBeGreaterThan(0.95 * thickness);
  expect(gap).toBeLessThan(1.05 * thickness);
  expect(stage.creep(1).value).toBeLessThan(0.1 * CREEP);
});
