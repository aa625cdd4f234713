/**
 * Runs a scene, records every substep, and checks the recording as `npm run check:collisions` does: exactly, and
 * without code of the simulation.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { KINDS, type FrameFindings } from "../../../server/tools/check/findings.ts";
import { FrameReader, openRecording } from "../../../server/tools/check/recording.ts";
import { Run } from "../../../server/tools/check/run.ts";
import { Recorder } from "../../../server/sim/world/record.ts";
import type { SimEvent } from "../../../server/sim/types.ts";
import type { ContactScene } from "./contactScenes.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";

/** Frames checked together. */
const RUN = 16;
/** Most findings to keep of a frame. */
const MOST = 3;

/** Counts of contact handling over the room's life. */
export interface Tally {
  lists: number;
  impulses: number;
  zones: number;
  stops: number;
}

export interface Watched {
  lab: Laboratory;
  events: SimEvent[];
  /** Number of checked frames: the start and every substep. */
  frames: number;
  /** Findings as text. */
  findings: string[];
  tally: Tally;
}

export function tallyOf({ created: { memory } }: Laboratory): Tally {
  const u32 = new Uint32Array(memory.buffer);
  const word = (offset: number): number => u32[(L.HEADER + offset) / 4]!;
  return {
    lists: word(L.H_COUNT_LISTS),
    impulses: word(L.H_COUNT_IMPULSES),
    zones: word(L.H_COUNT_ZONES),
    stops: word(L.H_COUNT_STOPS),
  };
}

const told = ({ frame, counts, list }: FrameFindings): string =>
  `frame ${frame}: ${KINDS.filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${kind}`)
    .join(
      ", ",
    )}; ${list.map(({ kind, between, particles, depth }) => `${kind} ${between.join("/")} ${particles.join(" ")} by ${depth} m`).join("; ")}`;

export async function watch({ scene: parts, ticks, inputs = () => [] }: ContactScene): Promise<Watched> {
  const lab = await laboratory(parts);
  const dir = mkdtempSync(join(tmpdir(), "pliant-contact-"));
  try {
    const recorder = new Recorder(
      dir,
      validateScene({ version: 1, title: "contact", ...parts }),
      lab.created,
      lab.world,
      "substep",
    );
    recorder.write();
    lab.world.watchSubsteps(() => recorder.write());
    const events: SimEvent[] = [];
    for (let tick = 0; tick < ticks; tick++) events.push(...lab.run(1, inputs(lab, tick)));
    recorder.close({});
    const recording = openRecording(dir);
    const reader = new FrameReader(recording);
    const findings: string[] = [];
    const last = recording.frames - 1;
    for (let from = 0; from < last; from += RUN)
      findings.push(...new Run(recording, reader.read(from, Math.min(from + RUN, last)), from, MOST).judge().map(told));
    reader.close();
    return { lab, events, frames: recording.frames, findings, tally: tallyOf(lab) };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
