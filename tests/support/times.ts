/** Where the time of a test run goes: said at its end, so that whoever makes it shorter knows where to begin. */

export interface TestFile {
  path: string;
  project: string;
  /** From its first import to its last hook. */
  seconds: number;
  /** Seconds of processors (cpuTime.ts): what is to be saved, since two cores are all that a run has. */
  cpu: number;
}

const DEAREST = 15;
/** CPU seconds: what a file takes by the wall says more of what else the machine did. */
const LONG_SECONDS = 10;

/**
 * Of `unit`, `pure` and `alone`: what takes most of a processor, longest first. They are begun first; `times` says
 * which are missing here.
 */
export const LONGEST = [
  "determinism/golden",
  "report/figures/figures",
  "simulation/histories",
  "simulation/moreHistories",
  "workers/taskScheduler",
  "physics/recovery",
  "server/tools/simulate",
  "methods/boundaryElements",
  "physics/handsExact",
  "objects/prepareSurface",
  "server/meshing/tetrahedralize",
  "methods/eulerianFluid",
  "methods/reference",
  "physics/retune",
  "physics/scenes/scenes",
  "fuzz/scenes",
  "simulation/mutations",
  "parity/hyperelastic",
  "parity/contactSolver",
  "parity/collide",
  "parity/front",
  "parity/pairs",
  "physics/plasticScenes",
  "physics/spawn",
  "shared/sceneValidator",
  "server/store/postgres",
  "server/tools/check/main",
  "server/workers/builder",
  "server/store/sqliteLog",
];

/** @returns lines: what each project took, its files added up; the dearest files; long ones that are begun too late */
export function times(files: readonly TestFile[]): string[] {
  const byProject = Map.groupBy(files, ({ project }) => project);
  const projects = [...byProject].map(([project, its]) => {
    const sum = (what: "seconds" | "cpu"): string => its.reduce((total, file) => total + file[what], 0).toFixed(0);
    return `${project} ${sum("cpu")} CPU s, ${sum("seconds")} s in ${its.length} files`;
  });
  const dearest = files.toSorted((a, b) => b.cpu - a.cpu);
  const late = files.filter(
    ({ project, cpu, path }) =>
      ["unit", "pure", "alone"].includes(project) &&
      cpu > LONG_SECONDS &&
      !LONGEST.some((name) => path.endsWith(`/${name}.test.ts`)),
  );
  return [
    `files, added up: ${projects.join(", ")}`,
    ...dearest
      .slice(0, DEAREST)
      .map(({ project, path, seconds, cpu }) => `${cpu.toFixed(1)} CPU s, ${seconds.toFixed(1)} s ${project} ${path}`),
    ...late.map(({ path }) => `${path} belongs among the first (LONGEST in tests/support/times.ts)`),
  ];
}
