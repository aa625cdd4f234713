/**
 * Checks the frames of a recording independently of each other (server/tools/check). For recordings of ticks, between
 * which particles do not move in straight lines.
 */
import { STATIC, sum } from "../../server/tools/check/findings.ts";
import { FrameReader, type Recording } from "../../server/tools/check/recording.ts";
import { Run } from "../../server/tools/check/run.ts";

/** @returns findings of each frame: intersecting pairs of triangles, and particles below a plane. Exact. */
export function standingFindings(recording: Recording): number[] {
  const reader = new FrameReader(recording);
  try {
    return Array.from({ length: recording.frames }, (_, frame) => {
      const [findings] = new Run(frameOf(recording, frame), reader.read(frame, frame), 0, 1).judge();
      return findings ? sum(findings.counts, STATIC) + findings.counts.plane : 0;
    });
  } finally {
    reader.close();
  }
}

/** The recording as if `frame` were its only frame. */
function frameOf(recording: Recording, frame: number): Recording {
  return {
    ...recording,
    frames: 1,
    surfaces: recording.surfaces.map((surface) => ({
      ...surface,
      jumps: new Set(),
      absent: new Set(surface.absent.has(frame) ? [0] : []),
    })),
    planes: recording.planes.map((plane) =>
      plane.rows.length === 4 ? plane : { ...plane, rows: plane.rows.subarray(4 * frame, 4 * frame + 4) },
    ),
  };
}
