/** Every kind of constraint that is stored in blocks. */
import type { ElementKind } from "../../constraints/elements.ts";
import { bendBlock } from "./bend.ts";
import { distanceBlock, volumeBlock } from "./geometric.ts";
import { hexahedronBlock } from "./hexahedron.ts";
import { neoHookeanBlock, stableNeoHookeanBlock } from "./hyper.ts";
import type { BlockKind } from "./kind.ts";
import { orthotropicTetBlock, plasticTetBlock, tetBlock } from "./tet.ts";
import { triangleBlock } from "./triangle.ts";

// each entry handles its own kind only; the lookup by kind is what makes that so
export const BLOCK_KINDS = {
  tet: tetBlock,
  "tet-ortho": orthotropicTetBlock,
  "tet-plastic": plasticTetBlock,
  "neo-hookean": neoHookeanBlock,
  "stable-neo-hookean": stableNeoHookeanBlock,
  triangle: triangleBlock,
  bend: bendBlock,
  distance: distanceBlock,
  volume: volumeBlock,
  hexahedron: hexahedronBlock,
} as unknown as Readonly<Record<ElementKind, BlockKind>>;
