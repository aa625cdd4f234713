/** Summary of where the time of a test run went, printed at its end, as a guide for making it shorter. */

export interface TestFile {
  path: string;
  project: string;
  /** Wall time from the file's first import to its last hook. */
  seconds: number;
  /** CPU seconds (cpuTime.ts): the time worth saving, since a run has only two cores. */
  cpu: number;
}

const DEAREST = 15;
/** CPU seconds: a file's wall time depends more on the machine's other load. */
const LONG_SECONDS = 10;

/**
 * Files of `unit`, `pure` and `alone` that use most CPU time, longest first. They start first; `times` reports missing
 * ones.
 */
export const LONGEST = [
  "determinism/golden",
  "report/figures/figures",
  "simulation/histories",
  "simulation/moreHistories",
  "pairs/pairs",
  "contact/press",
  "reports/publicReports",
  "rest/piles",
  "determinism/boundedTicks",
  "rigid/rigidStacks",
  "schedule/taskScheduler",
  "materials/recovery",
  "server/tools/simulate",
  "methods/boundaryElements",
  "grabs/grabsExact",
  "objects/prepareSurface",
  "tetrahedra/tetrahedralize",
  "methods/eulerianFluid",
  "methods/reference",
  "changes/retune",
  "physics/scenes/scenes",
  "fuzz/scenes",
  "simulation/mutations",
  "parity/hyperelastic",
  "contact/contactSolver",
  "contact/collide",
  "contact/bvttFront",
  "materials/plasticScenes",
  "grabs/spawn",
  "scene/sceneValidator",
  "postgres/postgresStore",
  "postgres/postgresFaults",
  "builders/builder",
  "sqlite/sqliteLog",
];

/**
 * @returns lines: the time of each project, summed over its files; the most expensive files; long files that start too
 * late
 */
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
    ...late.map(({ path }) => `${path} belongs among the first (LONGEST in tests/support/run/times.ts)`),
  ];
}
