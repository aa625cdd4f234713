/**
 * Writes energy ledgers to files (`npm run simulate -- ... --energy out.json|csv`) and as the summary at the end of a
 * run. README.md describes the fields.
 */
import { FLOWS, type EnergyLedger, type Flow } from "./ledger.ts";

/** Energy of one body at the start and end of a run, and the sums of all flows, J. */
export interface BodySummary {
  name: string;
  before: number;
  after: number;
  kinetic: number;
  elastic: number;
  flows: Record<Flow, number>;
  /** Largest change in one tick that no flow explains. */
  unexplained: number;
}

export function summaryOf(books: EnergyLedger, names: readonly string[]): BodySummary[] {
  const first = books.entries[0]!;
  const last = books.entries.at(-1)!;
  return names.map((name, b) => {
    const flows = Object.fromEntries(
      FLOWS.map((f) => [f, books.entries.reduce((sum, e) => sum + e.bodies[b]!.flows[f], 0)]),
    ) as Record<Flow, number>;
    const unexplained = books.entries.reduce((most, e) => Math.max(most, Math.abs(e.bodies[b]!.unexplained)), 0);
    const { kinetic, elastic, total } = last.bodies[b]!;
    return { name, before: first.bodies[b]!.total, after: total, kinetic, elastic, flows, unexplained };
  });
}

export function ledgerAsJson(books: EnergyLedger, names: readonly string[], run: Record<string, unknown>): string {
  return JSON.stringify({
    format: "pliant-energy-1",
    units: "J, kg m/s, kg m^2/s",
    ...run,
    bodies: names,
    ticks: books.entries,
    summary: summaryOf(books, names),
  });
}

const VECTORS = ["momentum", "angularMomentum"] as const;
const HOLDINGS = ["total", "kinetic", "elastic", "gravity", "loads"] as const;

/** One line per tick and body; numbers with all digits. */
export function ledgerAsCsv(books: EnergyLedger, names: readonly string[], tickHz: number): string {
  const quoted = names.map((name) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name));
  const head = [
    "tick",
    "seconds",
    "body",
    ...HOLDINGS,
    ...FLOWS,
    "unexplained",
    ...VECTORS.flatMap((v) => [`${v}X`, `${v}Y`, `${v}Z`]),
  ];
  const lines = books.entries.flatMap(({ tick, bodies }) =>
    bodies.map((b, n) =>
      [
        tick,
        tick / tickHz,
        quoted[n],
        ...HOLDINGS.map((h) => b[h]),
        ...FLOWS.map((f) => b.flows[f]),
        b.unexplained,
        ...VECTORS.flatMap((v) => b[v]),
      ].join(","),
    ),
  );
  return [head.join(","), ...lines, ""].join("\n");
}

/** Lines of a body in the printed summary; zero flows are left out. */
export function summaryLines({ name, before, after, kinetic, elastic, flows }: BodySummary): string[] {
  const number = (v: number): string => v.toPrecision(4);
  const moved = FLOWS.filter((f) => flows[f] !== 0).map((f) => `${f} ${flows[f] > 0 ? "+" : ""}${number(flows[f])}`);
  return [
    `energy        ${name}: ${number(before)} J -> ${number(after)} J (kinetic ${number(kinetic)}, elastic ${number(elastic)})`,
    `              ${moved.join("   ") || "nothing moved"}`,
  ];
}
