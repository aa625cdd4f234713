/** Standing waves along bars and across strips: their speed against the material's and the mesh's. */
import { laboratory } from "../../../physics/laboratory.ts";
import { bdf2 } from "../../../physics/bars/barModes.ts";
import { BAR, bar, barMesh, barWave, chain, STRIP, stripWave, type Wave } from "../../../physics/bars/standingWaves.ts";
import { bookCheck } from "../books.ts";
import { check, short, type Check, type Figure, type FigureSize, type Plot, type Progress } from "../figure.ts";
import { curves } from "../drawing/plots.ts";

/** The report's usual limit, for the speed. */
const LIMIT = 0.01;
/** Zeros are interpolated linearly between two samples: this is the error for periods of 20 steps and more. */
const READING = 2e-4;
const CONVERGED = { bar: { substeps: 160, iterations: 2 }, strip: { substeps: 80, iterations: 4 } } as const;

interface Pair {
  usual: Wave;
  converged: Wave;
  /** Hz of the same mesh: by velocity Verlet (bars), or converged (strips) */
  mesh: number;
}

/** Waves of the same stiffness, with a growing number of half waves. */
type Row = Pair[];

const over = (value: number, reference: number): number => value / reference - 1;
const most = (values: readonly number[]): number =>
  values.reduce((far, value) => (Math.abs(value) > Math.abs(far) || Number.isNaN(value) ? value : far), 0);
const stiffness = (row: Row): string => `${short(row[0]!.usual.youngsModulus)} Pa`;
const counts = (row: Row): string => row.map(({ usual }) => usual.n).join(", ");

async function measure(size: FigureSize, progress: Progress) {
  const full = size === "full";
  const numbers = full ? [1, 2, 4] : [1, 2];
  const meshes = new Map<number, number>();
  for (const n of numbers) meshes.set(n, await barMesh(n));
  const bars: Row[] = [];
  const moduli = full ? [4e3, 1e5, 5e5, 1.6e6, 1e7] : [1.6e6, 1e7];
  for (const [i, k] of moduli.entries()) {
    const row: Row = [];
    for (const n of numbers) {
      progress((0.8 * (i + n / 5)) / moduli.length, `along a bar of ${k} Pa, n = ${n}`);
      const usual = await barWave(k, n);
      row.push({ usual, converged: await barWave(k, n, CONVERGED.bar), mesh: meshes.get(n)! * usual.c });
    }
    bars.push(row);
  }
  const strips: Row[] = [];
  for (const k of full ? [1e4, 1e5, 1e6] : [1e4, 1e6]) {
    progress(0.8, `across a strip of ${k} Pa`);
    const row: Row = [];
    for (const n of full ? [1, 3] : [1]) {
      const converged = await stripWave(k, n, CONVERGED.strip);
      row.push({ usual: await stripWave(k, n), converged, mesh: converged.measured });
    }
    strips.push(row);
  }
  return { bars, strips };
}

type Measured = Awaited<ReturnType<typeof measure>>;

/**
 * (h c/a)^2/2: relative deficit in speed of a chain that is solved once a step, first its even, then its odd elements.
 */
const onePass = ({ h, c }: Wave): number => (h * c * (BAR.cells / BAR.length)) ** 2 / 2;

/** Tolerance beyond BDF2's own error: conjugate gradients leave a tenth of what a step adds, of order (w h)^2. */
const slack = ({ h }: Wave, hz: number): number => 0.1 * (2 * Math.PI * hz * h) ** 2 + READING;

function checksOf({ bars, strips }: Measured): Check[] {
  const converged = (row: Row, what: string): Check =>
    check(
      `${what}, ${stiffness(row)}, n = ${counts(row)}, converged: speed over theory minus 1`,
      most(row.map((p) => over(p.converged.measured, p.converged.theory))),
      { low: -LIMIT, high: LIMIT, basis: "target" },
    );
  const usual = (row: Row, what: string, limit: { low: number; basis: string }): Check[] =>
    row[0]!.usual.implicit
      ? row.map(({ usual: wave, mesh }) =>
          check(
            `${what}, ${stiffness(row)}, n = ${wave.n}, default (implicit): speed over the mesh's minus 1, minus BDF2's error of ${short(100 * bdf2(mesh, wave.h))} %`,
            over(wave.measured, mesh) - bdf2(mesh, wave.h),
            { low: -slack(wave, mesh), high: slack(wave, mesh), basis: "a tenth of (w h)^2" },
          ),
        )
      : [
          check(
            `${what}, ${stiffness(row)}, n = ${counts(row)}, default (compliant): speed over the mesh's minus 1`,
            most(row.map((p) => over(p.usual.measured, p.mesh))),
            { high: READING, ...limit },
          ),
        ];
  return [
    ...bars.flatMap((row) => [
      converged(row, "along a bar"),
      check(
        `along a bar, ${stiffness(row)}, n = ${counts(row)}, converged: over the mesh's minus 1`,
        most(row.map((p) => over(p.converged.measured, p.mesh))),
        { low: -LIMIT / 5, high: LIMIT / 5, basis: "a fifth of the target" },
      ),
      ...usual(row, "along a bar", { low: -onePass(row[0]!.usual) - READING, basis: "(h c/a)^2/2, see text" }),
    ]),
    ...strips.flatMap((row) => [
      converged(row, "across a strip"),
      ...usual(row, "across a strip", { low: -LIMIT, basis: "target" }),
    ]),
  ];
}

function plotsOf({ bars, strips }: Measured): Plot[] {
  const speeds = (rows: Row[], length: number, cells: number) => {
    const numbers = Array.from({ length: 50 }, (_, i) => 1 + (rows[0]!.at(-1)!.usual.n - 1) * (i / 49));
    const stiff = rows.find(([p]) => p!.usual.implicit)![0]!.usual;
    return curves(
      { title: "half waves n" },
      { title: "speed over the material's" },
      [
        { name: "chain", points: numbers.map((n) => [n, 1 + chain(n, cells)] as const), style: "dashed" as const },
        {
          name: `BDF2 at ${short(stiff.youngsModulus)} Pa`,
          points: numbers.map((n) => [n, 1 + bdf2((n * stiff.c) / (2 * length), stiff.h)] as const),
          style: "dashed" as const,
        },
        ...rows.map((row) => ({
          name: `${stiffness(row)}, default`,
          points: row.map(({ usual }) => [usual.n, usual.measured / usual.theory] as const),
          style: "points" as const,
        })),
        {
          name: "converged",
          points: rows.flatMap((row) => row.map(({ converged: w }) => [w.n, w.measured / w.theory] as const)),
          style: "points" as const,
        },
      ],
      [{ y: 1, label: "the material's" }],
    );
  };
  const stiffest = bars.at(-1)![0]!;
  const periods = (wave: Wave) => wave.trace.map(({ t, q }) => [t * wave.theory, q] as const);
  return [
    { caption: "Along a bar: speed by the number of half waves.", spec: speeds(bars, BAR.length, BAR.cells) },
    { caption: "Across a strip under tension.", spec: speeds(strips, STRIP.length, STRIP.cells) },
    {
      caption: `The slowest wave along a bar of ${stiffness(bars.at(-1)!)}: its modal coordinate.`,
      spec: curves({ title: "time over the period" }, { title: "over the amplitude by theory" }, [
        { name: "default (implicit)", points: periods(stiffest.usual) },
        { name: "converged", points: periods(stiffest.converged) },
        {
          name: "theory",
          points: Array.from({ length: 231 }, (_, i) => [i / 100, Math.sin((Math.PI * i) / 50)] as const),
          style: "dashed",
        },
      ]),
    },
  ];
}

const TEXT = `A free bar of ${BAR.length} x ${BAR.width} x ${BAR.width} m (${BAR.cells} cells of five tetrahedra, ${BAR.density} kg/m^3, nu = 0, undamped, no gravity) begins undeformed with the velocity cos(n pi x/L) along its length: n standing half waves. A free strip of cloth of ${STRIP.length} x ${STRIP.width} m (${STRIP.cells} x 2 cells, without contact with itself, ${STRIP.thickness * 1000} mm, ${STRIP.density} kg/m^3) is first stretched to ${STRIP.stretch} times its length by loads at its ends; then its damping is removed, and it begins with that velocity across its surface. Every step samples the modal coordinate sum m cos(n pi X/L) u, and its zeros give two periods. Frequency times 2L/n is the speed, in material coordinates

  along the bar  c^2 = k/rho        across the strip  c^2 = S/rho,  S = k (s^2 - 1)/2

(in space the latter is c s = sqrt(T/mu), with the force T at the ends and the mass mu per stretched length).

There are three errors. **The mesh's**: a chain of N elements is slower by sin(p)/p, p = n pi/2N; the bar's mesh has its own frequencies, measured by velocity Verlet in float64 without code of the simulation (tests/physics/materials/explicit.ts). **The time integrator's**: if default settings choose the implicit solver (5e5 Pa and more along; 1e5 Pa and more across), its BDF2 steps of 1/240 s make 6 Hz slower by 0.7 %, 12.5 Hz by 3.2 % and 25 Hz by 9.8 %: a known function of w h, which no setting of a scene reduces. The check compares the rest. **The solver's**: one iteration carries stress over one element. Consider a chain whose even and then odd elements are solved once each. The even ones lack r = 2 (h c/a)^2 of their stress, with the element length a. The odd ones see that, and lack nothing of first order. So the mean stiffness is lower by r/2 and the speed by r/4 = (h c/a)^2/2. That is the limit for compliant bars at default settings. A compliant sheet is too long at default settings, by less than 1 %, so its wave is slower by half of that.

**Converged** settings are compliant ones, ${CONVERGED.bar.substeps} x ${CONVERGED.bar.iterations} for bars and ${CONVERGED.strip.substeps} x ${CONVERGED.strip.iterations} for strips, and must be within 1 % of the material's speed.

**Limits.** At default settings 1 % holds only for slow waves. Bodies that \`auto\` leaves to the compliant solver are within 0.4 % of their mesh; implicit ones have BDF2's error, 2 % at 10 Hz and 10 % at 25.`;

/** Energy check of four half waves along a bar, for 2 s. */
async function booked(youngsModulus: number): Promise<Check> {
  const lab = await laboratory({ refine: true, bodies: [bar(youngsModulus)] });
  lab.put(
    0,
    (x) => x,
    ([x]) => [0.1 * Math.cos((4 * Math.PI * (x + BAR.length / 2)) / BAR.length), 0, 0],
  );
  return bookCheck(`bar of ${short(youngsModulus)} Pa, 2 s`, lab, 120);
}

export const figure: Figure = {
  id: "waves",
  title: "A wave runs at the speed of its material",
  source: "beyond the paper; d'Alembert's waves, with the dispersion of a lattice and of BDF2",
  async run(size, progress = () => {}) {
    const m = await measure(size, progress);
    const books = size === "full" ? [await booked(1e5), await booked(1e7)] : [];
    return { text: TEXT, checks: [...checksOf(m), ...books], plots: plotsOf(m), pictures: [] };
  },
};
