/**
 * Bytes and time of the snapshot codec on inputs that do not depend on the solver: a cloth of 10,201 particles that
 * falls over a sphere and settles, a cloth in the wind, the pulled cloth of `drape`, a wobbling surface. In the same
 * run, general compressors on the same integers, and the decoder's time in a headless Chromium. For recorded scenes see
 * load-tests/codec/bench.ts.
 */
import { timeInChromium } from "../../codec/chromium.ts";
import { clothTrajectory } from "../../codec/clothTrajectory.ts";
import { measure, type PhaseFigures } from "../../codec/measure.ts";
import { wobbleTrajectory } from "../../codec/wobbleTrajectory.ts";
import { quantile, type Row } from "../../part.ts";

export const name = "codec";
export const about =
  "snapshot bytes per particle and frame, and encoding and decoding time, on cloths and a wobbling surface, compared with zlib and zstd; decoding in Chromium";
export const runs = 2;

/** Number of deltas decoded in Chromium: the fall and the first seconds on the sphere. */
const CHROMIUM_FRAMES = 150;

function rowsOf(
  label: string,
  phase: PhaseFigures,
  targets: { bytes?: number; encodeMs?: number; kbps?: number },
): Row[] {
  const atMost = (limit: number | undefined): Pick<Row, "target"> =>
    limit === undefined ? {} : { target: { atMost: limit } };
  const where = `${label}, ${phase.phase}`;
  return [
    {
      what: `${where}: per particle and frame`,
      value: phase.bytesPerParticle,
      unit: "bytes",
      ...atMost(targets.bytes),
    },
    { what: `${where}: zlib 1`, value: phase.zlibBytesPerParticle, unit: "bytes" },
    { what: `${where}: zstd 1`, value: phase.zstdBytesPerParticle, unit: "bytes" },
    ...(targets.kbps === undefined
      ? []
      : [{ what: `${where}: at 30 Hz`, value: phase.kbps, unit: "kbps", ...atMost(targets.kbps) }]),
    { what: `${where}: encode`, value: phase.encodeMs, unit: "ms", ...atMost(targets.encodeMs) },
    { what: `${where}: zstd 1 encodes`, value: phase.zstdMs, unit: "ms" },
    { what: `${where}: decode`, value: phase.decodeMs, unit: "ms" },
  ];
}

export async function run(): Promise<Row[]> {
  const sphere = clothTrajectory({
    side: 101,
    seconds: 12,
    spheres: [[0.03, 0.3, -0.02, 0.3]],
    damping: 2,
    pulled: false,
  });
  const inputs = [
    {
      label: "10,201-particle cloth over a sphere, 0.5 mm",
      trajectory: sphere,
      targets: { bytes: 0.6, encodeMs: 0.5 },
    },
    {
      label: "1,024-particle cloth in wind, 1 mm",
      trajectory: clothTrajectory({ side: 32, size: 1, seconds: 10, quantum: 0.001, wind: true }),
      targets: { kbps: 300 },
    },
    { label: "3,721-particle cloth, pulled", trajectory: clothTrajectory(), targets: {} },
    { label: "bunny surface", trajectory: wobbleTrajectory(), targets: {} },
  ];
  const rows: Row[] = [];
  for (const { label, trajectory, targets } of inputs) {
    const { phases, keyframeBytesPerParticle } = measure(trajectory);
    for (const phase of phases.filter(({ phase }) => ["all", "moving", "settling"].includes(phase)))
      rows.push(...rowsOf(label, phase, phase.phase === "all" ? targets : {}));
    rows.push({ what: `${label}: keyframe, per particle`, value: keyframeBytesPerParticle, unit: "bytes" });
  }
  const { decodeMs, withMetresMs, compiled } = await timeInChromium(sphere, CHROMIUM_FRAMES);
  const note = compiled ? "WebAssembly" : "without WebAssembly";
  rows.push(
    {
      what: "10,201 particles in Chromium: decode",
      value: quantile(decodeMs, 0.5),
      unit: "ms",
      target: { atMost: 1 },
      note,
    },
    { what: "10,201 particles in Chromium: decode, slowest frame", value: Math.max(...decodeMs), unit: "ms", note },
    {
      what: "10,201 particles in Chromium: decode and convert to metres",
      value: quantile(withMetresMs, 0.5),
      unit: "ms",
      note,
    },
  );
  return rows;
}
