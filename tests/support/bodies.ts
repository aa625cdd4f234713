/** Bodies of test scenes by kind and mesh. The rest is the subject of the test. */
import type { BallBody, ClothBody, SoftBody } from "../../shared/scene/scene.ts";

type Size = readonly [number, number, number];
type Rest<B> = Omit<B, "name" | "kind" | "mesh">;

/** A solid box of cells. */
export const softBox = (name: string, size: Size, cells: Size, rest: Rest<SoftBody>): SoftBody => ({
  ...{ name, kind: "soft", mesh: { type: "box", size: [...size], cells: [...cells] } },
  ...rest,
});

/** A flat, rectangular sheet. */
export const clothGrid = (
  name: string,
  size: readonly [number, number],
  cells: readonly [number, number],
  rest: Rest<ClothBody>,
): ClothBody => ({
  ...{ name, kind: "cloth", mesh: { type: "grid", size: [...size], cells: [...cells] } },
  ...rest,
});

/** One rigid sphere. */
export const ballBody = (name: string, radius: number, rest: Rest<BallBody>): BallBody => ({
  ...{ name, kind: "ball", mesh: { type: "ball", radius } },
  ...rest,
});
