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
const LONG_SECONDS = 20;

/**
 * Of `unit`, `pure` and `alone`: more than 20 s on two cores, longest first. They are begun first; `times` says which
 * are missing here.
 */
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

/** @returns lines: what each project took, its files added up; the dearest files; long ones that are begun too late */
export function times(files: readonly TestFile[]): string[] {
  const byProject = Map.groupBy(files, ({ project }) => project);
  const projects = [...byProject].map(([project, its]) => {
    const sum = (what: "seconds" | "cpu"): string => its.reduce((total, file) => total + file[what], 0).toFixed(0);
    return `${project} ${sum("cpu")} CPU s, ${sum("seconds")} s in ${its.length} files`;
  });
  const dearest = files.toSorted((a, b) => b.cpu - a.cpu);
  const late = files.filter(
    ({ project, seconds, path }) =>
      ["unit", "pure", "alone"].includes(project) &&
      seconds > LONG_SECONDS &&
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
