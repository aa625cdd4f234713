/**
 * Remembered stress (warm start): makes the rest shape of a body independent of step size and iterations.
 *
 * A substep's iterations start from zero stress. If the body is stiff or its mesh fine, they end before the stress is
 * built up: they reach only a share r of it, and the body sags 1/r times too far. So while a body is slow, a share of
 * the stress at the end of the last substep is remembered once a tick. Every substep starts from it:
 *   once a tick    L0 += gain (L - L0)
 *   each substep   x = x~ + sum_i w_i F [L0] b_i  ("support", one vector a particle); iterations begin at L = L0
 * Its only fixed point is L0 = L, where iterations change nothing: C + aT S L = 0 in every element and forces in
 * balance. The rest shape is then the static finite-element solution, for any step and any number of iterations.
 * (Neo-Hookean elements remember their nine multipliers L0 instead of F [L0].)
 *
 * Stability. With mass damping d, a mode of true frequency omega and share r obeys  p^3 + (d + g) p^2 + (r omega^2 + d
 * g) p + g omega^2 = 0, g = r gain/tick: stable if g < d r/(1 - r). So gain = d tick / 2 is safe for every r, and the
 * error decays with rate r d / 2. Without damping, memory adds energy (the force lags behind the motion), so a moving
 * body forgets instead (world.ts).
 *
 * Measured (beam 1 x 0.2 x 0.2 m, 20 x 4 x 4 cells, 1e7 Pa, 1000 kg/m^3, own weight, clamped; error of the tip's sag
 * against 1200 substeps a second x 1 iteration): 240 x 5 without memory 630 %, with it 6 % after 4 s and 1 % after 12
 * s; the same beam ten times longer 60 x 5: 63 % without, under 2 % with it.
 * Tried: pulling memory towards -(aT S)^-1 C instead of L (explodes within seconds); alternating forward and backward
 * sweeps (107 % instead of 63 % without memory, slower settling); cloth (a sheet hanging from two corners flutters at 2
 * m/s).
 */
import * as L from "../layout/layout";
import { warmStartNeoHookean, warmStartStableNeoHookean } from "./warmStartHyperelastic";
import { warmStartOrthotropic, warmStartPlastic, warmStartTetrahedra } from "./warmStartStrains";

/** Called once a tick, before the first substep. Serial: the sums over a body are in element order. */
export function warmStart(): void {
  const settled = load<i32>(L.HEADER, L.H_WARM_STARTED);
  store<i32>(L.HEADER, load<i32>(L.HEADER, L.H_WARM_START), L.H_WARM_STARTED);
  if (!load<i32>(L.HEADER, L.H_WARM_START)) return;
  memory.fill(<usize>load<u32>(L.HEADER, L.H_SUPPORT), 0, (<usize>load<i32>(L.HEADER, L.H_PARTICLES)) << 4);
  const bodies = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let b = 0, row = bodies; b < load<i32>(L.HEADER, L.H_BODY_COUNT); b++, row += L.BODY_BYTES)
    memory.fill(row + L.BODY_MISMATCH, 0, 32);
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const inverseH2: f32 = 1 / (h * h);
  for (
    let p = 0, phase = <usize>load<u32>(L.HEADER, L.H_PROGRAM);
    p < load<i32>(L.HEADER, L.H_PHASES);
    p++, phase += L.PHASE_BYTES
  ) {
    if (!(load<i32>(phase, L.PHASE_PASS) & L.PASS_FIRST) || !load<i32>(phase, L.PHASE_WARM_START)) continue;
    const kind = load<i32>(phase, L.PHASE_KIND);
    const block = <usize>load<u32>(phase, L.PHASE_DATA);
    const own = <usize>load<u32>(phase, L.PHASE_OWN);
    const count = load<i32>(phase, L.PHASE_COUNT);
    const kept = <usize>load<u32>(phase, L.PHASE_WARM_START);
    if (kind === L.KIND_TET) warmStartTetrahedra(block, own, count, kept, inverseH2, settled);
    else if (kind === L.KIND_TET_ORTHO) warmStartOrthotropic(block, own, count, kept, inverseH2, settled);
    else if (kind === L.KIND_TET_PLASTIC) warmStartPlastic(block, own, count, kept, inverseH2, settled);
    else if (kind === L.KIND_NEO_HOOKEAN) warmStartNeoHookean(block, own, count, kept, inverseH2, settled);
    else if (kind === L.KIND_STABLE_NEO_HOOKEAN) warmStartStableNeoHookean(block, own, count, kept, inverseH2, settled);
  }
}
