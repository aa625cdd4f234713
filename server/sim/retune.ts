/**
 * Constraint rows of a body whose material is not the scene's any more. Every row is made from the scene's own one, in
 * the template that the room's memory began as, by the same writers (memory/blocks): what a room has does not depend on
 * the way there, and a body that is as the scene says has the scene's very bits.
 *
 *   modulus, Poisson's ratio, rigidity, yield   compliances and flow; remembered stress stays, because under the same
 *                                               forces stress at rest is the same
 *   density    inverse masses, and K and W of the rows, which are sums of them; velocities stay, so momentum goes with
 *              the mass, as if matter came with the body's motion
 *   pins       inverse masses of what the scene pins: off, they are free where they are; on, they stay where they are
 * A change of masses makes the body forget its remembered stress, whose unit is made of them (blocks/tet.ts).
 */
import * as L from "../kernel/assembly/layout/layout.ts";
import { ELEMENT_KINDS, type ElementKind, type Elements, type HyperElements } from "./constraints/elements.ts";
import type { Views } from "./grabs.ts";
import { statusAt } from "./inactive.ts";
import type { SimLayout } from "./layout.ts";
import { lameCoefficients, type OrthotropicCompliance } from "./materials.ts";
import { BLOCK_KINDS } from "./memory/blocks/kinds.ts";
import type { MaterialRun } from "./memory/writeBlocks.ts";
import { hyperModuli, type TunableBody } from "./tunable.ts";

/** What makes a body's rows; all as the scene says where it is equal to `scene`. */
export type Material = Omit<TunableBody["scene"], "damping" | "friction">;

/** A lane of a block in the template. */
interface Row {
  read: (offset: number, row?: number) => number;
  scene: Material;
  now: Material;
  elasticity: TunableBody["elasticity"];
  /** kg: the memory's unit of mass. */
  massUnit: number;
}

const rowsFrom = (read: Row["read"], offset: number, count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, row) => read(offset, row));

/** Compliances of what is isotropic or not, from those of the scene, in the order of OrthotropicCompliance. */
function compliances({ read, scene, now, elasticity }: Row): OrthotropicCompliance {
  const softer = scene.youngsModulus! / now.youngsModulus!;
  const was = [L.TET_ORTHO_S, L.TET_S_COUPLING, L.TET_S_SHEAR].flatMap((offset) => [...rowsFrom(read, offset, 3)]);
  if (elasticity === "orthotropic") return was.map((s) => s * softer) as unknown as OrthotropicCompliance;
  const s = was[0]! * softer;
  const nu = now.poissonsRatio!;
  return [s, s, s, -nu * s, -nu * s, -nu * s, 2 * (1 + nu) * s, 2 * (1 + nu) * s, 2 * (1 + nu) * s];
}

function sheetCompliances({ read, scene, now, elasticity }: Row): {
  s00: number;
  s01: number;
  s11: number;
  s22: number;
} {
  const softer = scene.youngsModulus! / now.youngsModulus!;
  const [s00, s01, s11, s22] = [...rowsFrom(read, L.TRI_S, 4)].map((s) => s * softer) as [
    number,
    number,
    number,
    number,
  ];
  if (elasticity === "orthotropic") return { s00, s01, s11, s22 };
  const nu = now.poissonsRatio!;
  return { s00, s01: -nu * s00, s11: s00, s22: 2 * (1 + nu) * s00 };
}

function hyper(row: Row, kind: HyperElements["kind"]): Elements {
  const { read, scene, now, massUnit } = row;
  const modulus = (m: Material): ReturnType<typeof hyperModuli> =>
    hyperModuli(kind, m.youngsModulus! / massUnit, m.poissonsRatio!);
  const volume = Float64Array.of(read(L.HYPER_MU) / modulus(scene).mu);
  return { kind, particles: NONE, dmInverse: rowsFrom(read, L.TET_DM, 9), volume, ...modulus(now) };
}

const NONE = new Uint32Array(0);

/** One constraint as the scene's loader would make it now; undefined: it has nothing that changes but its masses. */
const REMADE: Partial<Record<ElementKind, (row: Row) => Elements>> = {
  tet: ({ read, scene, now, massUnit }) => {
    const of = (m: Material): { youngsModulus: number; poissonsRatio: number } => ({
      youngsModulus: m.youngsModulus! / massUnit,
      poissonsRatio: m.poissonsRatio!,
    });
    const volume = Float64Array.of(read(L.TET_UNIT) / read(L.TET_S) / of(scene).youngsModulus);
    return {
      kind: "tet",
      particles: NONE,
      dmInverse: rowsFrom(read, L.TET_DM, 9),
      volume,
      ...lameCoefficients(of(now)),
    };
  },
  "tet-ortho": (row) => ({
    kind: "tet-ortho",
    particles: NONE,
    dmInverse: rowsFrom(row.read, L.TET_DM, 9),
    volume: Float64Array.of(1),
    compliance: compliances(row),
  }),
  "tet-plastic": (row) => {
    const [, creep, max] = [...rowsFrom(row.read, L.TET_FLOW, 3)] as [number, number, number];
    return {
      kind: "tet-plastic",
      particles: NONE,
      dmInverse: rowsFrom(row.read, L.TET_DM, 9),
      volume: Float64Array.of(1),
      compliance: compliances(row),
      flow: { yield: row.now.yield!, creep, max },
      plasticStrain: new Float64Array(6),
    };
  },
  "neo-hookean": (row) => hyper(row, "neo-hookean"),
  "stable-neo-hookean": (row) => hyper(row, "stable-neo-hookean"),
  triangle: (row) => ({
    kind: "triangle",
    particles: NONE,
    dmInverse: rowsFrom(row.read, L.TRI_DM, 4),
    volume: Float64Array.of(1),
    compliance: sheetCompliances(row),
  }),
  bend: ({ read, scene, now }) => ({
    kind: "bend",
    particles: NONE,
    K: rowsFrom(read, L.BEND_K, 4),
    alpha: Float64Array.of((read(L.BEND_ALPHA) * scene.bendingStiffness!) / now.bendingStiffness!),
    rest: Float64Array.of(read(L.BEND_REST)),
  }),
};
/** Byte offset of the compliance of constraints that know no masses, springs of a hexahedron. */
const SPRINGS: Partial<Record<ElementKind, number>> = {
  distance: L.DISTANCE_REST + L.GEOMETRIC_ALPHA,
  hexahedron: L.HEXAHEDRON_ALPHA,
};

export class BodyMaterials {
  private readonly views: Views;
  private readonly layout: SimLayout;
  private readonly template: () => Float32Array;

  /** @param template the memory that the room's began as, never stepped */
  constructor(views: Views, layout: SimLayout, template: () => Float32Array) {
    this.views = views;
    this.layout = layout;
    this.template = template;
  }

  /** Writes the rows of body b. @param masses whether its masses, or which of its particles have one, have changed */
  write(b: number, now: Material, masses: boolean): void {
    const tunable = this.layout.tunable[b]!;
    const asScene = Object.entries(now).every(([field, value]) => value === tunable.scene[field as keyof Material]);
    if (masses) this.writeMasses(b, now);
    for (const run of runsOf(this.layout.materialRuns)) {
      if (run.body !== b) continue;
      if (asScene) this.copyRun(run);
      else this.writeRun(run, tunable, now);
      if (masses && run.memory) this.forget(run);
    }
    this.writePressure(b, now);
    new DataView(this.views.f32.buffer).setFloat32(this.layout.bodyRows + b * L.BODY_BYTES + L.BODY_SHARE, 0, true);
  }

  /** Inverse masses of the particles, and of the copies that they go back to. */
  private writeMasses(b: number, { density, pins = true }: Material): void {
    const { layout, views } = this;
    const { first, count } = layout.bodies[b]!;
    const { scene, pinned, pinnedMass } = layout.tunable[b]!;
    const heavier = density! / scene.density!;
    const from = this.template();
    const inverse = Float32Array.from(
      { length: count },
      (_, i) => from[layout.initial / 4 + 4 * (first + i) + 3]! / heavier,
    );
    if (!pins) pinned.forEach((i, n) => (inverse[i] = layout.massUnit / (pinnedMass[n]! * heavier)));
    const there = views.i32[statusAt(layout, b)] === 0;
    for (const rows of there ? [layout.x, layout.initial, layout.good] : [layout.initial, layout.good])
      for (let i = 0; i < count; i++) views.f32[rows / 4 + 4 * (first + i) + 3] = inverse[i]!;
    if (!pins) return;
    for (const i of pinned)
      for (const v of [layout.v, layout.good + this.savedBytes])
        views.f32.fill(0, v / 4 + 4 * (first + i), v / 4 + 4 * (first + i) + 3);
  }

  private get savedBytes(): number {
    return 16 * this.views.i32[(L.HEADER + L.H_PARTICLES) / 4]!;
  }

  private copyRun(run: MaterialRun): void {
    const from = this.template();
    const { f32 } = this.views;
    const { state } = BLOCK_KINDS[run.kind];
    eachLane(run, (at) => {
      for (let row = 0; row < BLOCK_KINDS[run.kind].bytes / 16; row++) {
        const kept = state && 16 * row >= state.offset && row < state.offset / 16 + state.rows;
        if (!kept) f32[at + 4 * row] = from[at + 4 * row]!;
      }
    });
  }

  private writeRun(run: MaterialRun, { scene, elasticity }: TunableBody, now: Material): void {
    const { f32, i32 } = this.views;
    const { layout } = this;
    const from = this.template();
    const remake = REMADE[run.kind];
    const spring = elasticity === "hexahedral" ? SPRINGS[run.kind] : undefined;
    const { write, state } = BLOCK_KINDS[run.kind];
    const strain = new Float32Array(6);
    // as the scene has it: who waits or is held has no inverse mass now
    const toInitial = (layout.initial - layout.x) / 4;
    eachLane(run, (at) => {
      if (spring !== undefined)
        f32[at + spring / 4] = (from[at + spring / 4]! * scene.youngsModulus!) / now.youngsModulus!;
      if (!remake) return;
      const read = (offset: number, row = 0): number => from[at + offset / 4 + 4 * row]!;
      const made = remake({ read, scene, now, elasticity, massUnit: layout.massUnit });
      if (state) strain.forEach((_, k) => (strain[k] = f32[at + state.offset / 4 + 4 * k]!));
      write(f32, at, made, 0, (corner) => f32[i32[at + 4 * corner]! / 4 + toInitial + 3]!);
      if (state) strain.forEach((value, k) => (f32[at + state.offset / 4 + 4 * k] = value));
    });
  }

  /** Remembered stress, lane by lane. */
  private forget(run: MaterialRun): void {
    const { i32 } = this.views;
    for (let lane = run.firstLane; lane < run.lastLane; lane++) {
      const at = (run.memory + Math.floor(lane / 4) * L.WARM_START_BYTES) / 4 + (lane % 4);
      for (let row = 0; row < L.WARM_START_BODY / 16; row++) i32[at + 4 * row] = 0;
    }
  }

  private writePressure(b: number, { pressure }: Material): void {
    const { enclosed, tunable } = this.layout;
    const at = enclosed[b];
    if (at === undefined || pressure === undefined) return;
    const was = new DataView(this.template().buffer).getFloat64(at + L.ENCLOSED_REST, true);
    new DataView(this.views.f32.buffer).setFloat64(
      at + L.ENCLOSED_REST,
      pressure === tunable[b]!.scene.pressure ? was : (was * pressure) / tunable[b]!.scene.pressure!,
      true,
    );
  }
}

/** @param each float32 index of a lane in its block's first row */
function eachLane(run: MaterialRun, each: (at: number) => void): void {
  const { bytes } = BLOCK_KINDS[run.kind];
  for (let lane = run.firstLane; lane < run.lastLane; lane++)
    each((run.address + Math.floor(lane / 4) * bytes) / 4 + (lane % 4));
}

/** Integers of a run in `SimLayout.materialRuns`: body, kind, address, lanes from and to, address of its memory. */
const RUN_INTEGERS = 6;

export function packRuns(runs: readonly MaterialRun[]): Int32Array {
  return Int32Array.from(
    runs.flatMap(({ body, kind, address, firstLane, lastLane, memory }) => [
      body,
      ELEMENT_KINDS.indexOf(kind),
      address,
      firstLane,
      lastLane,
      memory,
    ]),
  );
}

function* runsOf(packed: Int32Array): Generator<MaterialRun> {
  for (let n = 0; n < packed.length; n += RUN_INTEGERS) {
    const [body, kind, address, firstLane, lastLane, memory] = packed.subarray(n, n + RUN_INTEGERS) as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    yield { body, kind: ELEMENT_KINDS[kind]!, address, firstLane, lastLane, memory };
  }
}
