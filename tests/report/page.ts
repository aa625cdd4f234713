/**
 * The report as one page of HTML without scripts and without other files: contents with results, then a section for
 * each figure. Anchors are the figures' ids.
 */
import { allowed, short, type Check, type Grid, type GridCell } from "./figures/figure.ts";
import { chart } from "./chart.ts";
import type { Conditions } from "./environment.ts";
import { failures, type Outcome } from "./outcome.ts";
import { STYLE } from "./style.ts";

export interface Report {
  environment: Conditions;
  figures: readonly Outcome[];
}

export async function page({ environment: e, figures }: Report): Promise<string> {
  const sections: string[] = [];
  for (const figure of figures) sections.push(await section(figure));
  const good = figures.filter((f) => failures(f).length === 0).length;
  const checks = figures.flatMap((f) => ("error" in f ? [] : f.checks));
  const held = checks.filter(({ pass }) => pass).length;
  const state = `${good} of ${figures.length} figures passed, ${held} of ${checks.length} checks`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pliant: physics report</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Physics report</h1>
<p class="lead">Every claim about the physics, measured: set-up, result, allowed interval, and the paper's value if it gives one.
A check passes only if the measured number lies in the allowed interval, which is fixed in the figure's source. <strong>${state}.</strong></p>
<p>The table or the text of each figure gives the source of each limit. "Target": set by the project before the measurement. "published": the value of a paper. "float32": rounding of an exact law to 24 bits.
"words": a claim that a paper makes only in words, which we turned into a generous number. Times depend on the machine and are compared only with times of the same run; all other numbers are the same on every machine.</p>
<dl class="environment">
${Object.entries({
  date: e.date,
  commit: e.commit,
  kernel: e.kernel,
  Node: e.node,
  processor: `${e.processor}, ${e.cores} cores`,
  "load at start": short(e.load),
  size: e.size,
  took: `${e.seconds} s, ${e.jobs} at a time`,
})
  .map(([name, value]) => `<div><dt>${name}</dt><dd>${text(value)}</dd></div>`)
  .join("\n")}
</dl>
</header>
<nav aria-label="Figures">
<table class="contents">
<thead><tr><th>figure</th><th>what it shows</th><th>source</th><th class="number">checks</th><th class="number">s</th><th>result</th></tr></thead>
<tbody>
${figures.map(row).join("\n")}
</tbody>
</table>
</nav>
<main>
${sections.join("\n")}
</main>
<footer>Made by <code>npm run report</code>. One figure alone: <code>npm run report -- --only ${figures[0]?.id ?? "fig7"}</code>.</footer>
</body>
</html>
`;
}

function row(f: Outcome): string {
  const count = "error" in f ? "none" : `${f.checks.filter(({ pass }) => pass).length}/${f.checks.length}`;
  return `<tr><td><a href="#${f.id}">${f.id}</a></td><td>${text(f.title)}</td><td>${text(f.source)}</td><td class="number">${count}</td><td class="number">${f.seconds.toFixed(f.seconds < 10 ? 1 : 0)}</td><td>${badge(failures(f).length === 0)}</td></tr>`;
}

async function section(f: Outcome): Promise<string> {
  const head = `<section id="${f.id}">\n<h2><a class="anchor" href="#${f.id}">${f.id}</a> ${text(f.title)} ${badge(failures(f).length === 0)}</h2>\n<p class="source">${text(f.source)}. <code>npm run report -- --only ${f.id}</code></p>`;
  if ("error" in f) return `${head}\n<p>The measurement failed:</p>\n<pre>${text(f.error)}</pre>\n</section>`;
  const plots: string[] = [];
  for (const [i, { caption, spec }] of f.plots.entries())
    plots.push(
      `<figure class="plot">${await chart(spec, `${f.id}-${i}`)}<figcaption>${prosaic(caption)}</figcaption></figure>`,
    );
  const pictures = f.pictures.map(
    ({ caption, png }) =>
      `<figure class="picture"><img alt="${text(plain(caption))}" src="data:image/png;base64,${Buffer.from(png).toString("base64")}"><figcaption>${prosaic(caption)}</figcaption></figure>`,
  );
  return `${head}
${prose(f.text)}
<div class="scroll"><table class="checks">
<thead><tr><th>what</th><th class="number">measured</th><th>allowed</th><th>published</th><th>result</th></tr></thead>
<tbody>
${f.checks.map(checkRow).join("\n")}
</tbody>
</table></div>
${(f.grids ?? []).map(grid).join("\n")}
${plots.join("\n")}
${pictures.length > 0 ? `<div class="pictures">${pictures.join("\n")}</div>` : ""}
</section>`;
}

function grid({ caption, columns, rows }: Grid): string {
  const cell = (c: GridCell | undefined): string =>
    c ? `<td class="${c.good ? "good" : "bad"}" title="${text(c.title ?? "")}">${text(c.text)}</td>` : "<td></td>";
  return `<div class="scroll"><table class="grid">
<caption>${prosaic(caption)}</caption>
<thead><tr><th></th>${columns.map((name) => `<th>${text(name)}</th>`).join("")}</tr></thead>
<tbody>
${rows.map(({ name, cells }) => `<tr><th>${text(name)}</th>${cells.map(cell).join("")}</tr>`).join("\n")}
</tbody>
</table></div>`;
}

function checkRow(c: Check): string {
  const published =
    c.published === undefined ? "" : typeof c.published === "number" ? `${short(c.published)} ${c.unit}` : c.published;
  return `<tr class="${c.pass ? "" : "bad"}"><td>${prosaic(c.what)}</td><td class="number">${text(`${digits(c.value)} ${c.unit}`)}</td><td>${text(allowed(c))}${c.basis === undefined ? "" : `<br><small>${text(c.basis)}</small>`}</td><td>${text(published)}</td><td>${badge(c.pass)}</td></tr>`;
}

/** Formats four digits, including trailing zeros: 1.000 says more than 1. */
function digits(value: number): string {
  const words = short(value);
  return Number.isInteger(value) || words.includes("e") ? words : value.toPrecision(Math.abs(value) >= 1000 ? 5 : 4);
}

const badge = (pass: boolean): string =>
  `<span class="badge ${pass ? "pass" : "fail"}">${pass ? "pass" : "FAIL"}</span>`;

/**
 * Converts text to HTML. Empty lines separate paragraphs; lines that begin with "- " are a list, with two spaces a
 * formula; `code` and **strong** as usual.
 */
function prose(words: string): string {
  return words
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => {
      const lines = paragraph.split("\n");
      if (lines.every((line) => line.startsWith("- ")))
        return `<ul>${lines.map((line) => `<li>${prosaic(line.slice(2))}</li>`).join("")}</ul>`;
      if (lines.every((line) => line.startsWith("  ")))
        return `<pre class="formula">${text(lines.map((line) => line.slice(2)).join("\n"))}</pre>`;
      return `<p>${prosaic(lines.join(" "))}</p>`;
    })
    .join("\n");
}

const prosaic = (words: string): string =>
  text(words)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");

const plain = (words: string): string => words.replace(/[`*]/g, "");

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const text = (words: string): string => words.replace(/[&<>"]/g, (c) => ESCAPES[c]!);
