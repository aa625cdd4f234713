/** Where the time of a test run goes: said at its end, so that whoever makes it shorter knows where to begin. */

export interface TestFile {
  path: string;
  project: string;
  /** From its first import to its last hook. */
  seconds: number;
}

const SLOWEST = 10;
const LONG_SECONDS = 20;

/** Of `unit`, `pure` and `alone`: more than 20 s on two cores, longest first. They are begun first; `times` says which are missing here. */
export const LONGEST = [
  "determinism/golden",
  "server/tools/simulate",
  "report/figures/figures",
  "simulation/histories",
  "simulation/moreHistories",
  "workers/taskScheduler",
  "determinism/checkpoints",
  "physics/handsExact",
  "physics/recovery",
  "server/store/postgres",
  "server/tools/check/main",
  "simulation/mutations",
  "parity/hyperelastic",
  "server/store/sqliteLog",
  "server/meshing/tetrahedralize",
];

/** @returns lines: each project's time, its files added up; the slowest files; long ones that are begun too late */
export function times(files: readonly TestFile[]): string[] {
  const byProject = Map.groupBy(files, ({ project }) => project);
  const projects = [...byProject].map(([project, its]) => {
    const seconds = its.reduce((sum, file) => sum + file.seconds, 0);
    return `${project} ${seconds.toFixed(0)} s in ${its.length} files`;
  });
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds);
  const late = slowest.filter(
    ({ project, seconds, path }) =>
      ["unit", "pure", "alone"].includes(project) &&
      seconds > LONG_SECONDS &&
      !LONGEST.some((name) => path.endsWith(`/${name}.test.ts`)),
  );
  return [
    `files, added up: ${projects.join(", ")}`,
    ...slowest.slice(0, SLOWEST).map(({ project, path, seconds }) => `${seconds.toFixed(1)} s ${project} ${path}`),
    ...late.map(({ path }) => `${path} belongs among the first (LONGEST in tests/support/times.ts)`),
  ];
}
