/** Texts of servers and members never become markup or code in the page. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("nothing in the page is ever parsed as HTML", () => {
  const sources = readdirSync("client", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path, text: readFileSync(`client/${path}`, "utf8") }));
  expect(sources.length).toBeGreaterThan(40);
  const sinks =
    /\.(innerHTML|outerHTML|srcdoc)\s*=|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function\(|javascript:/;
  expect(sources.filter(({ text }) => sinks.test(text)).map(({ path }) => path)).toEqual([]);
  expect(sinks.test("element.innerHTML = name")).toBe(true);
});
