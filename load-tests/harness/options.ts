/** Parses and checks the benchmark's command line. An error names the option, its value and the limit. */
import { parseArgs } from "node:util";
import type { Part } from "../part.ts";

export interface BenchOptions {
  /** Names of parts, in the order of the parts. */
  only: string[];
  /** Runs of each part; absent: the part's default. */
  runs?: number;
  json?: string;
  list: boolean;
  /** Store the figures in the row of this release. */
  release: boolean;
  /** Length of a soak, minutes. */
  minutes: number;
  /** Time between two visitors of a soak, s. */
  pause?: number;
  scenes?: string[];
  hands?: number[];
  /** Run the quick guard instead of the parts; `only` names its figures. */
  quick?: true;
  /** Let the quick guard write its release. */
  renew?: true;
  /** Top folder of another checkout, which the quick guard measures in turn with this one. */
  beside?: string;
}

/** An invalid option, with its value and the limit. */
export class OptionError extends Error {
  constructor(option: string, value: string, limit: string) {
    super(`--${option} is ${JSON.stringify(value)}, but must be ${limit}`);
    this.name = "OptionError";
  }
}

const MAX_RUNS = 100;
/** Least number of runs of a release: without a spread a change cannot be told from noise. */
export const RELEASE_RUNS = 3;
const MAX_HANDS = 64;
const MAX_PAUSE_SECONDS = 3600;
const SOAK_MINUTES = { fallback: 60, least: 0.2, most: 1440 } as const;

const OPTIONS = {
  only: { type: "string" },
  runs: { type: "string" },
  json: { type: "string" },
  minutes: { type: "string" },
  pause: { type: "string" },
  scenes: { type: "string" },
  hands: { type: "string" },
  list: { type: "boolean" },
  release: { type: "boolean" },
  quick: { type: "boolean" },
  renew: { type: "boolean" },
  beside: { type: "string" },
} as const;
/** Options of the quick guard. */
const QUICK_OPTIONS = ["quick", "renew", "beside", "only", "json", "list"];

type Named = Pick<Part, "name" | "groups" | "onDemand">;

/**
 * @param args words after the file's name
 * @param parts all parts
 * @param figures all figures of the quick guard
 * @throws OptionError naming the option, its value and the limit
 */
export function readOptions(
  args: readonly string[],
  parts: readonly Named[],
  figures: readonly Named[] = [],
): BenchOptions {
  for (const word of args) {
    const name = /^--([^=]+)/.exec(word)?.[1];
    if (name !== undefined && !(name in OPTIONS))
      throw new OptionError(
        name,
        word,
        `one of ${Object.keys(OPTIONS)
          .map((option) => `--${option}`)
          .join(", ")}`,
      );
  }
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  if (positionals[0] !== undefined)
    throw new OptionError("only", "", `given as --only ${positionals[0]}: a part's name alone is not an option`);
  for (const token of tokens) {
    if (
      token.kind === "option" &&
      OPTIONS[token.name as keyof typeof OPTIONS].type === "string" &&
      (token.value ?? "") === ""
    )
      throw new OptionError(token.name, "", "followed by its value");
  }
  checkQuick(values as Values);
  return check(values as Values, parts, figures);
}

interface Values {
  only?: string;
  runs?: string;
  json?: string;
  minutes?: string;
  pause?: string;
  scenes?: string;
  hands?: string;
  list?: boolean;
  release?: boolean;
  quick?: boolean;
  renew?: boolean;
  beside?: string;
}

function checkQuick(values: Values): void {
  const other = Object.keys(values).find((name) => !QUICK_OPTIONS.includes(name));
  if (values.quick && other !== undefined)
    throw new OptionError(
      other,
      String(values[other as keyof Values]),
      `absent with --quick, which accepts ${QUICK_OPTIONS.map((name) => `--${name}`).join(", ")}`,
    );
  if (values.renew && !values.quick) throw new OptionError("renew", "", "given with --quick");
  if (values.beside !== undefined && (!values.quick || values.renew))
    throw new OptionError("beside", values.beside, "given with --quick, without --renew");
  if (values.renew && values.only !== undefined)
    throw new OptionError("only", values.only, "absent with --renew: a release contains all figures of one commit");
}

function check(values: Values, parts: readonly Named[], figures: readonly Named[]): BenchOptions {
  const runs = values.runs === undefined ? undefined : number("runs", values.runs, 1, MAX_RUNS, true);
  if (values.release && runs !== undefined && runs < RELEASE_RUNS)
    throw new OptionError(
      "runs",
      values.runs!,
      `at least ${RELEASE_RUNS} with --release: a figure without a spread cannot be compared`,
    );
  return {
    only: choose(values.only, values.quick ? figures : parts),
    ...(values.quick && { quick: true as const }),
    ...(values.renew && { renew: true as const }),
    ...(values.beside !== undefined && { beside: values.beside }),
    ...(runs !== undefined && { runs }),
    ...(values.json !== undefined && { json: values.json }),
    list: values.list ?? false,
    release: values.release ?? false,
    minutes: number(
      "minutes",
      values.minutes ?? String(SOAK_MINUTES.fallback),
      SOAK_MINUTES.least,
      SOAK_MINUTES.most,
      false,
    ),
    ...(values.pause !== undefined && { pause: number("pause", values.pause, 0, MAX_PAUSE_SECONDS, false) }),
    ...(values.scenes !== undefined && { scenes: words(values.scenes) }),
    ...(values.hands !== undefined && {
      hands: words(values.hands).map((word) => number("hands", word, 0, MAX_HANDS, true)),
    }),
  };
}

function number(option: string, text: string, least: number, most: number, integer: boolean): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= least && value <= most) || (integer && !Number.isInteger(value))) {
    throw new OptionError(option, text, `${integer ? "an integer" : "a number"} from ${least} to ${most}`);
  }
  return value;
}

const words = (text: string): string[] => text.split(",").map((word) => word.trim());

function choose(only: string | undefined, parts: readonly Named[]): string[] {
  if (only === undefined) return parts.filter(({ onDemand }) => !onDemand).map(({ name }) => name);
  const wanted = words(only);
  const answersTo = (part: Pick<Part, "name" | "groups">, name: string): boolean =>
    part.name === name || (part.groups ?? []).includes(name);
  const unknown = wanted.find((name) => !parts.some((part) => answersTo(part, name)));
  if (unknown !== undefined) {
    const groups = [...new Set(parts.flatMap((part) => part.groups ?? []))].filter(
      (group) => !parts.some(({ name }) => name === group),
    );
    throw new OptionError(
      "only",
      unknown,
      `one or more parts, separated by commas: ${parts.map(({ name }) => name).join(", ")}${groups.length > 0 ? `; or a group: ${groups.join(", ")}` : ""}`,
    );
  }
  return parts.filter((part) => wanted.some((name) => answersTo(part, name))).map(({ name }) => name);
}
