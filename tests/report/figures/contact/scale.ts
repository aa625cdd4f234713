/** The same scene in millimeters and in tens of meters: no threshold is in meters. */
import { run, swing } from "../../../physics/laws/scaled.ts";
import { check, short, type Figure, type Picture, type Progress } from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { curves } from "../drawing/plots.ts";

/** Limit relative to the size, for motions that differ only by rounding. */
const LIMIT = 1e-3;

/** Largest distance between the ends of two motions over the size of the scene, 1 m at s = 1. */
const apart = (a: readonly Float64Array[], sa: number, b: readonly Float64Array[]): number =>
  Math.max(...a.flatMap((body, k) => [...body.map((v, i) => Math.abs(v / sa - b[k]![i]!))]));

export const figure: Figure = {
  id: "scale",
  title: "Millimeters and tens of meters: one physics",
  source: "a rule of the solver: no threshold in meters",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const exact = full ? [2 ** -17, 2 ** -14, 2 ** -12, 2 ** -10, 2 ** -7, 2 ** -3, 4, 16, 64] : [2 ** -10, 64];
    const other = full ? [1e-3, 0.003, 0.01, 0.1, 0.3, 3, 10, 30, 50] : [1e-3, 10];
    const base = await run(1);
    const swung = await swing(1);
    const pictures: Picture[] = [];
    const checks = [];
    const rest: [number, number][] = [];
    for (const [n, s] of exact.entries()) {
      progress(n / (exact.length + other.length), `times ${short(s)}`);
      const { x, events, lab } = await run(s);
      const named = s < 1 ? `1/${(1 / s).toLocaleString("en")} of the size` : `${s} times the size`;
      checks.push(
        check(`${named}: largest distance from the scene at full size, over its size`, apart(x, s, base.x), {
          high: 0,
          basis: "a power of two: to the last bit",
        }),
      );
      checks.push(check(`${named}: bodies held or rolled back`, events.length, { high: 0 }));
      const unit = { 0.0009765625: "about a millimeter", 64: "64 m" }[s];
      if (unit)
        pictures.push(
          photograph(lab, {
            caption: `The scene at its end, with ${unit} as its unit of length. Grid lines follow the size.`,
            from: [0.6, 0.45, 1],
            width: 480,
            height: 340,
          }),
        );
    }
    for (const [n, s] of other.entries()) {
      progress((exact.length + n) / (exact.length + other.length), `times ${s}`);
      rest.push([s, apart(await swing(s), s, swung)]);
    }
    checks.push(
      check(
        `${other.join(", ")} times the size, free of contact: largest distance from the motion at full size after 1 s, over the size`,
        Math.max(...rest.map(([, v]) => v)),
        { high: LIMIT, basis: "target" },
      ),
    );
    const still = Math.max(
      ...base.x.map((body, b) =>
        Math.max(...body.map((v, i) => Math.abs(v - base.lab.created.bodies[b]!.positions[i]!))),
      ),
    );
    checks.push(
      check("the scene moves: largest displacement of a coordinate at full size", still, { unit: "m", low: 0.1 }),
    );
    return {
      text: `A cube of jelly of 0.25 m falls on another and a sheet of cloth on both, onto a floor, a ball, a box and a capsule; one is pulled by a grab and one is hit (90 ticks of 6 x 2). The same scene then runs s times as large: lengths, gravity and speeds times s, moduli times s^2, bending stiffness times s^5, forces times s^4, compliances over s^3. All numbers without a unit stay the same, so the motion must be the same up to the factor s. If s is a power of two, even rounding is the same, and the motion must agree **to the last bit**: any threshold in meters, in any stage from the broad phase to friction, would show. Sizes go from elements of 0.6 micrometers (s = 1/131,072) to a scene of 64 m, where the grab pulls with the largest force that a scene may allow.

If s is not a power of two, every product rounds differently, and contacts and folds of cloth amplify that until nothing can be compared. So these sizes are compared by a motion that amplifies little: a cantilever of 0.5 m and a sheet of 0.4 m, pinned along one side, swing for a second (1,200 substeps). The limit is a thousandth of the size, a millimeter in a meter.`,
      checks,
      plots: full
        ? [
            {
              caption: "Cantilever and sheet: distance from the motion at full size after a second, over the size.",
              spec: curves(
                { title: "s, size over full size", log: true },
                { title: "largest distance / size", log: true },
                [{ name: "any s", points: rest, style: "points" }],
                [{ y: LIMIT, label: "limit" }],
              ),
            },
          ]
        : [],
      pictures,
    };
  },
};
