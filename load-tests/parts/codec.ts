/**
 * Bytes and time of the snapshot codec on inputs that do not move with the solver: a cloth of the size of `drape` that falls over spheres and is
 * pulled, and a wobbling surface. The same on recorded scenes: load-tests/codec/bench.ts.
 */
import { clothTrajectory } from "../codec/clothTrajectory.ts";
import { measure } from "../codec/measure.ts";
import { wobbleTrajectory } from "../codec/wobbleTrajectory.ts";
import type { Row } from "../part.ts";

export const name = "codec";
export const about = "snapshot bytes per particle and frame, and encoding and decoding time, on a falling cloth and a wobbling surface";
export const runs = 2;

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [label, trajectory] of [["cloth 61 x 61", clothTrajectory()], ["bunny surface", wobbleTrajectory()]] as const) {
    const { phases, keyframeBytesPerParticle } = measure(trajectory);
    const moving = phases.find(({ phase }) => phase === "moving");
    if (moving === undefined) throw new Error(`${label}: no frame moves`);
    rows.push(
      { what: `${label}, moving, per particle and frame`, value: moving.bytesPerParticle, unit: "bytes", target: { atMost: 1.3 } },
      { what: `${label}, keyframe, per particle`, value: keyframeBytesPerParticle, unit: "bytes" },
      { what: `${label}, encode a moving frame`, value: moving.encodeMs, unit: "ms" },
      { what: `${label}, decode a moving frame`, value: moving.decodeMs, unit: "ms" },
    );
  }
  return rows;
}
