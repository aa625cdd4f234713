/** Hexahedron rows: rest volumes and compliance (kernel/assembly/constraints/hexahedron.ts). */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { HexahedronElements } from "../../constraints/elements.ts";
import type { BlockKind } from "./kind.ts";

export const hexahedronBlock: BlockKind<HexahedronElements> = {
  bytes: L.HEXAHEDRON_BYTES,
  phase: L.KIND_HEXAHEDRON,
  stage: L.STAGE_VOLUMES,
  remembers: { rows: 2, offset: L.HEXAHEDRON_LAMBDA },
  write: (f32, at, e, i) => {
    for (let cut = 0; cut < 2; cut++) f32[at + L.HEXAHEDRON_REST / 4 + 4 * cut] = e.rest[2 * i + cut]!;
    f32[at + L.HEXAHEDRON_ALPHA / 4] = e.alpha[i]!;
  },
  // eight corners on four fixed dummies: no multiplier grows there
  pad: (f32, at) => void (f32[at + L.HEXAHEDRON_ALPHA / 4] = 1),
};
