/** Log lines of a server, and their deviations from server/ops/LOGS.md. */
import type { RunningServer } from "../../load-tests/measuredServer.ts";
import { loggedOnPage } from "./logCalls.ts";

export type Line = Record<string, unknown> & { level: number; msg: string };

const LEVELS: Record<number, string> = { 10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" };
/** Fields of every line, or of every line of a request, a room or a member. */
const COMMON = new Set(["level", "time", "pid", "hostname", "msg", "reqId", "room", "session", "member", "role"]);

/** @throws SyntaxError for a line that is not JSON */
export const linesOf = (server: RunningServer): Line[] =>
  server
    .output()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

/** @returns a sentence for each message that is not on the page, and for each different level or unlisted field */
export function faults(lines: readonly Line[]): string[] {
  const page = loggedOnPage();
  return lines.flatMap((line) => {
    const row = page.find(({ message }) =>
      message.includes("<>") ? line.msg.startsWith(message.replace(/<>.*/, "")) : line.msg === message,
    );
    if (!row) return [`"${line.msg}" is not on the page`];
    const level =
      LEVELS[line.level] === row.level
        ? []
        : [`"${line.msg}" is on the page as ${row.level}, and was logged as ${LEVELS[line.level]}`];
    const missing = ["time", "pid", "hostname"]
      .filter((name) => line[name] === undefined)
      .map((name) => `"${line.msg}" has no ${name}`);
    const extra = Object.keys(line)
      .filter((name) => !COMMON.has(name) && !row.fields.includes(name))
      .map((name) => `"${line.msg}" has a field ${name} that is not on the page`);
    return [...level, ...missing, ...extra];
  });
}
