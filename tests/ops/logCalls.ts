/** Reads every call of a logger from the server's sources, and the tables of server/ops/LOGS.md. */
import { readFileSync } from "node:fs";
import { readSources } from "../architecture/sources.ts";

export interface LogEvent {
  message: string;
  level: string;
  fields: string[];
}

/** Variable parts of a message, written `<url>` on the page and `${...}` in the source. */
const withoutValues = (message: string): string => message.replace(/\$\{[^}]*\}|<\w+>/g, "<>");

/** From an opening bracket to the matching closing one. Strings with brackets do not occur in these calls. */
function balanced(text: string, start: number): string {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if ("({[".includes(text[i]!)) depth += 1;
    else if (")}]".includes(text[i]!) && --depth === 0) return text.slice(start, i + 1);
  }
  throw new Error(`no end to ${text.slice(start, start + 80)}`);
}

/** Names of an object literal's properties; `...(x && { y })` counts as y. */
function keys(literal: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let item = "";
  for (const char of `${literal.slice(1, -1)},`) {
    if ("({[".includes(char)) depth += 1;
    if (")}]".includes(char)) depth -= 1;
    if (char !== "," || depth > 0) {
      item += char;
      continue;
    }
    const inner = /^\s*\.\.\.[^{]*\{\s*(\w+)/.exec(item);
    const own = /^\s*(\w+)/.exec(item);
    const name = (inner ?? own)?.[1];
    if (name) names.push(name);
    item = "";
  }
  return names;
}

/** @throws Error for a call whose message is not a literal, because it cannot be looked up */
export function logCalls(): (LogEvent & { path: string })[] {
  const sources = readSources().filter(({ path }) => /^server\/(?!check\/|ops\/|simulate)/.test(path));
  return sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\blog\.(fatal|error|warn|info|debug|trace)\(/g)].map((match) => {
      const call = balanced(text, match.index + match[0].length - 1)
        .slice(1, -1)
        .trim();
      const object = call.startsWith("{") ? balanced(call, 0) : "";
      const message = /^[\s,]*(?:"([^"]*)"|`([^`]*)`)/.exec(call.slice(object.length));
      if (!message) throw new Error(`${path}: log.${match[1]}(${call}): the message must be a literal`);
      return {
        path,
        level: match[1]!,
        message: withoutValues(message[1] ?? message[2]!),
        fields: object ? keys(object) : [],
      };
    }),
  );
}

/** Lines that Fastify writes itself. */
export const FRAMEWORK = ["Server listening at <>", "incoming request", "request completed"];

export function loggedOnPage(): LogEvent[] {
  const rows = readFileSync("server/ops/LOGS.md", "utf8")
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  return rows
    .filter((cells) => cells.length === 4 && /^(fatal|error|warn|info|debug|trace)$/.test(cells[1]!))
    .map(([message, level, fields]) => ({
      message: withoutValues(message!),
      level: level!,
      fields: [...fields!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
    }));
}
