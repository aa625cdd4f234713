/**
 * Whatever the server logs has its row in server/ops/LOGS.md, with level and fields: add a row there with a new
 * message.
 */
import { expect, test } from "vitest";
import { FRAMEWORK, logCalls, loggedOnPage } from "../ops/logCalls.ts";

const page = loggedOnPage();
const key = ({ message, level, fields }: { message: string; level: string; fields: string[] }): string =>
  `${level}: ${message} {${[...fields].sort().join(", ")}}`;

test("the page lists every message of the source with its level and fields, and no other", () => {
  const calls = logCalls();
  expect(calls.length).toBeGreaterThan(20);
  const listed = page.filter(({ message }) => !FRAMEWORK.includes(message));
  expect([...new Set(listed.map(key))].sort()).toEqual([...new Set(calls.map(key))].sort());
});

test("a message stands once on the page", () => {
  expect(new Set(page.map(({ message }) => message)).size).toBe(page.length);
});
