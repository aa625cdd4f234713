/**
 * The two parts of docs/CODEC.md that are generated from the code: the frame format (the head of
 * shared/snapshot/format.ts and its constants) and a worked example. `node tests/server/protocolBlocks.ts` writes them
 * into the page; documents.test.ts compares the page with them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createSnapshotModel, encodeDelta, encodeKeyframe } from "../../shared/snapshot/index.ts";
import * as format from "../../shared/snapshot/format.ts";
import { FREQUENCY_ROWS } from "../../shared/snapshot/tables.ts";

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
export const codecPath = file("docs/CODEC.md");

export const MARKERS = {
  format: [
    "<!-- snapshot format: the head of shared/snapshot/format.ts, word for word -->",
    "<!-- end of snapshot format -->",
  ],
  example: [
    "<!-- test vector: written and checked by tests/server/documents.test.ts -->",
    "<!-- end of test vector -->",
  ],
} as const;

/** Text between a pair of markers. @throws Error if a marker is missing */
export function between(page: string, [from, to]: readonly [string, string]): string {
  const start = page.indexOf(from);
  const end = page.indexOf(to);
  if (start < 0 || end < start) throw new Error(`docs/CODEC.md: no block between ${from} and ${to}`);
  return page.slice(start + from.length, end).trim();
}

/** The sections of the head comment, from "0. Arithmetic." on, and the numbers that they name. */
export function formatBlock(): string {
  const source = readFileSync(file("shared/snapshot/format.ts"), "utf8");
  const head = source.slice(source.indexOf("/**") + 3, source.indexOf("*/"));
  const lines = head.split("\n").map((line) => line.replace(/^ \*( |$)/, "").trimEnd());
  const text = lines
    .slice(lines.findIndex((line) => line.startsWith("0. ")))
    .join("\n")
    .trimEnd();
  const constants = [
    "Constants",
    `  FIRST_ACTIVITY ${format.FIRST_ACTIVITY}   ACTIVITY_GATES ${format.ACTIVITY_GATES}   EDGE_WEIGHT_LIMIT ${format.EDGE_WEIGHT_LIMIT}   GROWTH_LIMIT ${format.GROWTH_LIMIT}   STRETCH_SCALE ${format.STRETCH_SCALE}   STRETCH_OFFSET ${format.STRETCH_OFFSET}   LAST_BIN ${format.LAST_BIN}`,
    "  GATE_SHARE 0.8 rounded to binary32",
    "",
    "Frequencies (section 4)",
    ...FREQUENCY_ROWS.map((row) => `  ${row}`),
  ];
  return ["```", text, "", ...constants, "```"].join("\n");
}

/** Two bodies, three frames: small enough to follow by hand, with a resting body, a moving one and a jump. */
export function exampleBlock(): string {
  const bodies = [
    { count: 5, triangles: Uint32Array.of(0, 1, 2, 2, 1, 3, 2, 3, 4) },
    { count: 2, triangles: new Uint32Array(0) },
  ];
  const model = createSnapshotModel(bodies);
  const frames = [
    [0, 1000, 0, 100, 1000, 0, 0, 1000, 100, 100, 1000, 100, 50, 1000, 200, -700, 40, 9, -700, 40, 10],
    [0, 1000, 0, 101, 996, 0, 0, 996, 101, 100, 992, 101, 50, 990, 202, -700, 40, 9, -700, 40, 10],
    [0, 1000, 0, 103, 985, 1, 1, 985, 103, 99, 970, 104, 50, 960, 205, 5300, 40, 9, 5300, 41, 10],
  ].map((values) => Int32Array.from(values));
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
  const list = (values: Iterable<number>): string => [...values].join(" ");
  return [
    "An example to test a decoder with: two bodies, three frames, every byte.",
    "",
    "```",
    `body 0   count ${bodies[0]!.count}, triangles ${list(bodies[0]!.triangles)}`,
    `body 1   count ${bodies[1]!.count}, no triangles`,
    `order    ${list(model.order)}   (particles of both bodies in the order in which they are coded)`,
    "",
    `keyframe ${hex(encodeKeyframe(model, frames[0]!))}`,
    `      -> ${list(frames[0]!)}`,
    `delta    ${hex(encodeDelta(model, frames[0]!, frames[1]!))}`,
    `      -> ${list(frames[1]!)}`,
    `delta    ${hex(encodeDelta(model, frames[1]!, frames[2]!))}`,
    `      -> ${list(frames[2]!)}`,
    `delta    ${hex(encodeDelta(model, frames[2]!, frames[2]!))}   (nothing moved)`,
    `      -> ${list(frames[2]!)}`,
    "```",
  ].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let page = readFileSync(codecPath, "utf8");
  for (const [markers, block] of [
    [MARKERS.format, formatBlock()],
    [MARKERS.example, exampleBlock()],
  ] as const) {
    const [from, to] = markers;
    between(page, markers);
    page = `${page.slice(0, page.indexOf(from) + from.length)}\n\n${block}\n\n${page.slice(page.indexOf(to))}`;
  }
  writeFileSync(codecPath, page);
}
