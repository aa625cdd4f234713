/** The figures of the quick guard (`npm run bench -- --quick`): at most fifteen, chosen to cover all of the product. */
import type { Measured } from "./repeat.ts";

export interface Options {
  /** Do a single repetition, to prove that a figure can be measured. */
  once?: boolean;
}

/** CPU time, ms, with its yardstick, or a number of bytes. */
type Result = (Measured & { hash?: string }) | { bytes: number; note?: string };

export interface Figure {
  /** Name for `--only` and release.json; never renamed. */
  name: string;
  about: string;
  measure(options: Options): Promise<Result>;
}

/** Each figure loads its own module, so that a fault in one does not affect the others. */
export const FIGURES: readonly Figure[] = [
  {
    name: "folded",
    about: "tick of a sheet folded on itself, at rest",
    measure: async (options) => (await import("./contact.ts")).folded(options),
  },
  {
    name: "hands",
    about: "tick of drape under three hands",
    measure: async (options) => (await import("./contact.ts")).hands(options),
  },
  {
    name: "hundred",
    about: "tick of hundred-bodies as most of them land",
    measure: async (options) => (await import("./contact.ts")).hundred(options),
  },
  ...(["tetrahedra", "triangles", "distances"] as const).flatMap((kind): Figure[] => [
    {
      name: kind,
      about: `tick of ${kind} x 5, no damping`,
      measure: async (options) => (await import("./solver.ts")).constraints(kind)(options),
    },
    {
      name: `${kind}-damped`,
      about: `tick of ${kind} x 5, damping 1`,
      measure: async (options) => (await import("./solver.ts")).constraints(kind, true)(options),
    },
  ]),
  {
    name: "implicit-beam",
    about: "tick of an implicit beam in motion",
    measure: async (options) => (await import("./solver.ts")).implicitBeam(options),
  },
  {
    name: "implicit-sheet",
    about: "tick of an implicit sheet in motion",
    measure: async (options) => (await import("./solver.ts")).implicitSheet(options),
  },
  {
    name: "room",
    about: "tick of a light room: 1,024 particles, a hand, frames",
    measure: async (options) => (await import("./room.ts")).lightRoom(options),
  },
  {
    name: "codec",
    about: "a frame of 1,681 particles, encoded and decoded",
    measure: async (options) => (await import("./room.ts")).codec(options),
  },
  {
    name: "first-frame",
    about: "bunny from its file to the first frames of four visitors",
    measure: async (options) => (await import("./room.ts")).firstFrame(options),
  },
  {
    name: "bytes",
    about: "bytes a particle of memory and topology",
    measure: async (options) => (await import("./room.ts")).bytes(options),
  },
];
