/** Shared by plasticity tests and figures: plastic strains read from the kernel's blocks. */
import { strainNorm } from "../../../server/sim/reference/orthotropic.ts";
import type { Laboratory } from "../laboratory.ts";

/** Six plastic strains (shears gamma, material axes) of every element of a body, in the kernel's order. */
export function plasticStrains(lab: Laboratory, body = 0): number[][] {
  const f32 = new Float32Array(lab.created.memory.buffer);
  const out: number[][] = [];
  for (const s of lab.created.layout.states) {
    if (s.body !== body || s.rows !== 6) continue;
    for (let lane = s.firstLane; lane < s.lastLane; lane++) {
      const at = (s.address + (lane >> 2) * s.stride + s.offset) / 4 + (lane & 3);
      out.push([0, 1, 2, 3, 4, 5].map((k) => f32[at + 4 * k]!));
    }
  }
  return out;
}

/** Mean |eps_plastic| over the elements. */
export function meanPlasticStrain(lab: Laboratory, body = 0): number {
  const all = plasticStrains(lab, body);
  return all.reduce((sum, s) => sum + strainNorm(s), 0) / all.length;
}
