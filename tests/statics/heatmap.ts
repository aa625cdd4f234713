/**
 * Prints a table of errors over substeps per second and iterations, for work on the solver:
 *   node tests/statics/heatmap.ts --case beam --nu 0.3,0.49 --grid 60,240,960 x 1,5
 */
import { parseArgs } from "node:util";
import { lacksData } from "../support/dataFolder.ts";
import { CASE_NAMES, caseOf, type CaseOptions } from "./cases.ts";
import { fidelity, referenceOf, type Fidelity } from "./fidelity.ts";

const USAGE = `node tests/statics/heatmap.ts [--case ${CASE_NAMES.join(",")}] [--nu 0.3,0.45,0.49] [--grid 60,240 x 1,5]
  --case names   bodies, default beam
  --nu list      Poisson's ratios, default 0.3
  --grid s x i   substeps per second x iterations, default 60,120,240,480,960 x 1,2,5,10,20
  --k Pa         Young's modulus instead of the case's
  --model name   stvk (default), neo-hookean, stable-neo-hookean
  --solver name  compliant (default), paper
  --sweep name   gauss-seidel (default), symmetric, jacobi
  --exact        without refined substeps (server/sim/scene/substeps.ts)
  --rest         with the room's own resting: calming and sleep
  --json         only the result, as JSON; without it both`;

const list = (name: string, text: string): number[] =>
  text.split(",").map((part) => {
    const value = Number(part);
    if (!(value > 0)) throw new Error(`--${name}: ${part}, limit: numbers above 0, separated by commas`);
    return value;
  });

const round = (v: number): string => (v >= 1000 ? v.toExponential(0) : v >= 100 ? v.toFixed(0) : v.toPrecision(2));

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      case: { type: "string", default: "beam" },
      nu: { type: "string", default: "0.3" },
      grid: { type: "string", default: "60,120,240,480,960x1,2,5,10,20" },
      k: { type: "string" },
      model: { type: "string" },
      solver: { type: "string" },
      sweep: { type: "string" },
      rest: { type: "boolean", default: false },
      exact: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const [substeps = "", iterations = ""] = [values.grid, ...positionals].join("").split("x");
  const results: object[] = [];
  const say = (line: string): void => {
    if (!values.json) console.log(line);
  };
  for (const name of values.case.split(","))
    for (const nu of list("nu", values.nu)) {
      const loaded = caseOf(name, {
        poissonsRatio: nu,
        ...(values.k && { youngsModulus: list("k", values.k)[0]! }),
        model: values.model,
        solver: values.solver,
        exact: values.exact,
        ...(values.sweep && { sweep: { order: values.sweep } }),
      } as CaseOptions);
      if (lacksData(...loaded.data)) continue;
      const r = await referenceOf(loaded);
      say(
        `\n${name}, ${values.model ?? "stvk"}, k ${loaded.body.material.youngsModulus} Pa, nu ${nu}, ${values.solver ?? "compliant"}: ${r.tetrahedra} tetrahedra, moves ${r.displacement.toPrecision(4)} m, stretches ${r.smallestStretch.toFixed(3)} to ${r.largestStretch.toFixed(3)}, reference in ${r.seconds.toFixed(2)} s and ${r.newtonSteps} Newton steps`,
      );
      if ((values.model ?? "stvk") === "stvk" && r.smallestStretch < 1 / Math.sqrt(3))
        say("! compressed below 1/sqrt 3, where the simulation continues the energy and the reference does not");
      say("substeps/s x iterations  error %   rms %  fastest m/s  undamped m/s  simulated s  ms per s");
      const cells: Omit<Fidelity, "x">[] = [];
      for (const s of list("grid", substeps))
        for (const i of list("grid", iterations)) {
          const { x: _, ...f } = await fidelity(loaded, s, i, values.rest);
          cells.push(f);
          say(
            `${String(s).padStart(10)} x ${String(i).padEnd(10)} ${round(f.error).padStart(8)} ${round(f.rms).padStart(7)} ${round(f.fastest).padStart(12)} ${round(f.undamped).padStart(13)} ${f.simulated.toFixed(1).padStart(10)}${f.settled ? " " : "*"} ${round(f.wallMs).padStart(9)}`,
          );
        }
      if (cells.some((f) => !f.settled)) say("* not settled when the run ended");
      results.push({
        case: name,
        model: values.model ?? "stvk",
        solver: values.solver ?? "compliant",
        youngsModulus: loaded.body.material.youngsModulus,
        poissonsRatio: nu,
        rest: values.rest,
        tetrahedra: r.tetrahedra,
        displacement: r.displacement,
        cells,
      });
    }
  console.log(JSON.stringify(results));
}

main().catch((error: unknown) => {
  console.error(`${(error as Error).message}\n\n${USAGE}`);
  process.exitCode = 2;
});
