/**
 * Current materials and plastic strains of a room: elastic energy depends on them, and they are stored in the kernel's
 * blocks.
 */
import type { PlasticTetElements } from "../constraints/elements.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { Tuning } from "../../../shared/members/tuningLimits.ts";
import type { CreatedWorld } from "../world/createWorld.ts";
import type { TunableBody } from "../tuning/tunable.ts";
import { tunedBody } from "./tunedElements.ts";

export class PlasticStrains {
  /** The world's bodies. Plastic ones have copies of their plastic strains here, which `refresh` updates. */
  bodies: readonly BodyTemplate[];
  private readonly asScene: readonly BodyTemplate[];
  private readonly tunable: readonly TunableBody[];
  /** Bodies with plastic flow. */
  readonly flowing: readonly number[];
  private readonly f32: Float32Array;
  private readonly sources: { strain: Float64Array; index: number; word: number }[] = [];

  constructor({ memory, layout, bodies }: CreatedWorld) {
    this.f32 = new Float32Array(memory.buffer);
    const lanes = lanesOf(new Int32Array(memory.buffer));
    const flowing: number[] = [];
    this.bodies = bodies.map((body, b) => {
      if (!body.elements.some((e) => e.kind === "tet-plastic")) return body;
      flowing.push(b);
      return {
        ...body,
        elements: body.elements.map((e) =>
          e.kind === "tet-plastic" ? this.follow(e, layout.x + 16 * layout.bodies[b]!.first, lanes) : e,
        ),
      };
    });
    this.flowing = flowing;
    this.asScene = this.bodies;
    this.tunable = layout.tunable;
    this.refresh();
  }

  /** Sets the tuned materials of the bodies. */
  tune({ bodies }: Tuning): void {
    this.bodies = this.asScene.map((body, b) => tunedBody(body, this.tunable[b]!, bodies[b]!));
  }

  /** Reads the strains of all elements. */
  refresh(): void {
    for (const { strain, index, word } of this.sources)
      for (let k = 0; k < 6; k++) strain[6 * index + k] = this.f32[word + 4 * k]!;
  }

  private follow(e: PlasticTetElements, first: number, lanes: ReadonlyMap<string, number>): PlasticTetElements {
    const strain = Float64Array.from(e.plasticStrain);
    for (let i = 0; i < e.volume.length; i++)
      this.sources.push({
        strain,
        index: i,
        word: lanes.get([0, 1, 2, 3].map((c) => first + 16 * e.particles[4 * i + c]!).join())!,
      });
    return { ...e, plasticStrain: strain };
  }
}

/** Map from the addresses of the four corners to the word of that lane's first plastic strain. */
function lanesOf(i32: Int32Array): Map<string, number> {
  const lanes = new Map<string, number>();
  const header = (field: number): number => i32[(L.HEADER + field) / 4]!;
  for (let p = 0, phase = header(L.H_PROGRAM) / 4; p < header(L.H_PHASES); p++, phase += L.PHASE_BYTES / 4) {
    if (i32[phase + L.PHASE_KIND / 4] !== L.KIND_PLASTIC) continue;
    for (
      let n = 0, block = i32[phase + L.PHASE_DATA / 4]! / 4;
      n < i32[phase + L.PHASE_COUNT / 4]!;
      n++, block += L.TET_PLASTIC_BYTES / 4
    ) {
      for (let lane = 0; lane < 4; lane++)
        lanes.set([0, 1, 2, 3].map((c) => i32[block + 4 * c + lane]!).join(), block + L.TET_PLASTIC_STRAIN / 4 + lane);
    }
  }
  return lanes;
}
