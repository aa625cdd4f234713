/** Reads the reports of processes. */
import type { GivenRoom, ListedProcess, ProcessReport, ProcessState, StoredReport } from "./store.ts";

/** Longest report, characters, and longest list of rooms that it has handed over. */
const MOST_LENGTH = 2 ** 20;
const MOST_GIVEN = 10_000;
const STATES: Readonly<Record<ProcessState, true>> = { starting: true, ready: true, draining: true, gone: true };

/** Whether the text is the address of a process, http(s)://host[:port]. */
export function isPeerUrl(text: unknown): text is string {
  return typeof text === "string" && /^https?:\/\/(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i.test(text);
}

const isText = (value: unknown): boolean => typeof value === "string";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isGiven = (given: GivenRoom | null): boolean =>
  isText(given?.room) && isTextOrNull(given?.to) && Number.isFinite(given?.secondsAgo) && given!.secondsAgo >= 0;

const FORMS: Readonly<Record<Exclude<keyof ProcessReport, "process">, (value: never) => boolean>> = {
  url: isPeerUrl,
  publicUrl: isTextOrNull,
  version: isText,
  state: (state: string) => Object.hasOwn(STATES, state),
  load: (load: unknown) => Number.isFinite(load) && (load as number) >= 0 && (load as number) <= 1,
  rooms: isCount,
  maxRooms: (rooms: unknown) => isCount(rooms) && rooms !== 0,
  members: isCount,
  memoryBytes: isCount,
  clockMs: (clock: unknown) => clock === undefined || isCount(clock),
  given: (given: unknown) => Array.isArray(given) && given.length <= MOST_GIVEN && given.every(isGiven),
};

/** @returns the report; or the cause for which it counts as none */
export function readReport({ process, text, secondsLeft }: StoredReport): ListedProcess | { invalid: string } {
  if (text.length > MOST_LENGTH) return { invalid: `it has ${text.length} characters, at most ${MOST_LENGTH} allowed` };
  try {
    const report = JSON.parse(text) as ProcessReport;
    for (const [field, fits] of Object.entries(FORMS))
      if (!fits(report[field as keyof ProcessReport] as never)) return { invalid: `field ${field} is not valid` };
    return { ...report, process, secondsLeft };
  } catch {
    return { invalid: "it is no JSON object" };
  }
}
