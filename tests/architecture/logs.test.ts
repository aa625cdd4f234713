/**
 * Every log message of the server has a row in server/ops/LOGS.md with its level and fields. Add a row there for a new
 * message.
 */
import { expect, test } from "vitest";
import { FRAMEWORK, logCalls, loggedOnPage } from "../ops/logCalls.ts";

const page = loggedOnPage();
const key = ({ message, level, fields }: { message: string; level: string; fields: string[] }): string =>
  `${level}: ${message} {${[...fields].sort().join(", ")}}`;

test("the page lists exactly the messages of the source, with level and fields", () => {
  const calls = logCalls();
  expect(calls.length).toBeGreaterThan(20);
  const listed = page.filter(({ message }) => !FRAMEWORK.includes(message));
  expect([...new Set(listed.map(key))].sort()).toEqual([...new Set(calls.map(key))].sort());
});

test("the page lists each message once", () => {
  expect(new Set(page.map(({ message }) => message)).size).toBe(page.length);
});
