/**
 * Imports go one way: main -> app -> routes, services -> rooms -> workers/pool; separately workers/stepping/simWorker,
 * workers/builders/buildWorker -> sim -> kernel; client -> shared; tools/check alone. server/README.md draws the same
 * picture. A type-only import does not exist at run time and may point anywhere in the server, if no cycle of imports
 * results.
 */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { importsOf, readSources } from "./sources.ts";
import type { Source } from "./sources.ts";

const sources = readSources();
const byPath = new Map(sources.map((source) => [source.path, source]));

/** Which files of a layer may load which files. The first row that matches a file applies. */
const layers: { files: RegExp; mayLoad: RegExp }[] = [
  // The schema is data; it lies beside the scenes that it describes.
  { files: /^shared\//, mayLoad: /^(shared\/|scenes\/schema\.json$)/ },
  { files: /^client\//, mayLoad: /^(client|shared)\// },
  { files: /^server\/main\.ts$/, mayLoad: /^server\/(app|config|auth\/logOptions|workers\/helperThreads)\.ts$/ },
  { files: /^server\/tools\/token\.ts$/, mayLoad: /^(server\/(config\.ts|auth\/)|shared\/)/ },
  { files: /^server\/tools\/simulate\.ts$/, mayLoad: /^(server\/(sim|meshing|workers)|shared)\// },
  { files: /^server\/tools\/replay\.ts$/, mayLoad: /^(server\/(sim|meshing|workers|persistence)|shared)\// },
  // The checker judges the simulation, so it must not share the simulation's code and mistakes.
  { files: /^server\/tools\/check\//, mayLoad: /^server\/tools\/check\// },
  {
    files: /^server\/app\.ts$/,
    mayLoad: /^(server\/(services\.ts|config\.ts|trust\.ts|cluster\/|auth\/|routes\/|rooms\/)|shared\/)/,
  },
  {
    files: /^server\/services\.ts$/,
    mayLoad:
      /^server\/(config\.ts|durability\.ts|store\/|auth\/|rooms\/|objects\/|pictures\/pictures|workers\/(?!stepping\/simWorker|builders\/buildWorker)|metrics\/)/,
  },
  { files: /^server\/durability\.ts$/, mayLoad: /^server\/(cluster|persistence|store)\// },
  { files: /^server\/config\.ts$/, mayLoad: /^(shared\/|server\/trust\.ts$)/ },
  { files: /^server\/trust\.ts$/, mayLoad: /^shared\// },
  { files: /^server\/persistence\//, mayLoad: /^(server\/(persistence|store|metrics)|shared)\// },
  { files: /^server\/routes\//, mayLoad: /^(server\/(routes|rooms|objects|auth|persistence|metrics)\/|shared\/)/ },
  { files: /^server\/auth\//, mayLoad: /^(server\/auth|shared)\// },
  {
    files: /^server\/rooms\//,
    mayLoad:
      /^(server\/(rooms|objects|auth|metrics|persistence)\/|server\/workers\/(?!stepping\/simWorker|builders\/buildWorker)|shared\/)/,
  },
  {
    files: /^server\/objects\//,
    mayLoad: /^(server\/(objects\/|metrics\/|store\/objects\/objectShares\.ts$)|shared\/)/,
  },
  { files: /^server\/pictures\//, mayLoad: /^(server\/(pictures\/|workers\/workDeadline)|shared\/)/ },
  { files: /^server\/store\//, mayLoad: /^(server\/(store|metrics)|shared)\// },
  { files: /^server\/cluster\//, mayLoad: /^(server\/(cluster|store|metrics)|shared)\// },
  { files: /^server\/ops\//, mayLoad: /^server\/ops\// },
  { files: /^server\/metrics\//, mayLoad: /^(server\/metrics|shared)\// },
  { files: /^server\/workers\//, mayLoad: /^(server\/(workers|sim)|shared)\// },
  { files: /^server\/sim\//, mayLoad: /^(server\/(sim|kernel|meshing)|shared)\// },
  { files: /^server\/meshing\//, mayLoad: /^(server\/meshing|shared)\// },
  { files: /^server\/kernel\//, mayLoad: /^server\/kernel\// },
];

/**
 * Which folders of the kernel a folder may load from, besides itself and the memory map (layout/). A folder is listed
 * below the folders that load it; step/ is on top.
 */
const kernelFolders: Record<string, string[]> = {
  layout: [],
  math: [],
  state: [],
  scheduler: [],
  ccd: [],
  warmStart: ["math"],
  wind: [],
  colliders: ["math", "state"],
  constraints: ["math", "colliders"],
  rigid: ["math", "state", "colliders", "constraints"],
  integrate: ["math", "state", "colliders", "rigid"],
  intersections: ["math", "scheduler"],
  contact: ["math", "state", "scheduler", "ccd", "colliders", "rigid", "integrate"],
  prefactored: ["math", "state", "colliders", "rigid", "contact"],
  points: ["math", "colliders", "rigid", "prefactored"],
  implicit: ["math", "state", "scheduler", "colliders", "constraints", "contact", "prefactored", "points"],
  step: [
    "math",
    "state",
    "scheduler",
    "warmStart",
    "colliders",
    "constraints",
    "implicit",
    "prefactored",
    "rigid",
    "integrate",
    "points",
    "intersections",
    "contact",
    "wind",
  ],
};

const KERNEL = "server/kernel/assembly/";
/** Top folder of a kernel file; index.ts, which only exports, has none. */
const kernelFolder = (path: string): string => path.slice(KERNEL.length).split("/").slice(0, -1)[0] ?? "";

const relativeImports = (source: Source): { target: string; typeOnly: boolean; thread: boolean }[] =>
  source.imports.flatMap(({ target, typeOnly, thread }) =>
    target === undefined ? [] : [{ target, typeOnly, thread }],
  );

const isProduct = ({ path }: Source): boolean => /^(server|client|shared)\//.test(path);

test("the tests find imports to check", () => {
  expect(sources.filter(isProduct).length).toBeGreaterThan(20);
  expect(sources.flatMap(relativeImports).length).toBeGreaterThan(50);
});

test("every relative import names an existing file, with its extension except in AssemblyScript", () => {
  const broken = sources.flatMap((source) =>
    relativeImports(source)
      .filter(({ target }) => !existsSync(target))
      .map(({ target }) => `${source.path} -> ${target}`),
  );
  expect(broken).toEqual([]);
});

test("every file of the server, the client and shared belongs to a layer", () => {
  expect(
    sources
      .filter(isProduct)
      .map(({ path }) => path)
      .filter((path) => !layers.some(({ files }) => files.test(path))),
  ).toEqual([]);
});

test("imports go one way", () => {
  const wrong = sources.filter(isProduct).flatMap((source) => {
    const layer = layers.find(({ files }) => files.test(source.path));
    return relativeImports(source)
      .filter(
        ({ target, typeOnly }) =>
          !layer?.mayLoad.test(target) &&
          !(typeOnly && source.path.startsWith("server/") && /^(server|shared)\//.test(target)),
      )
      .map(({ target }) => `${source.path} -> ${target}`);
  });
  expect(wrong).toEqual([]);
});

test("every folder of the kernel loads only from folders below it", () => {
  const kernel = sources.filter(({ path }) => path.startsWith(KERNEL) && path !== `${KERNEL}index.ts`);
  expect(kernel.length).toBeGreaterThan(80);
  expect([...new Set(kernel.map(({ path }) => kernelFolder(path)))].sort()).toEqual(Object.keys(kernelFolders).sort());
  const wrong = kernel.flatMap((source) => {
    const own = kernelFolder(source.path);
    const allowed = [own, "layout", ...(kernelFolders[own] ?? [])];
    return relativeImports(source)
      .filter(({ target }) => !target.startsWith(KERNEL) || !allowed.includes(kernelFolder(target)))
      .map(({ target }) => `${source.path} -> ${target}`);
  });
  expect(wrong).toEqual([]);
});

test("the order of the kernel's folders has no cycle", () => {
  const above = (folder: string, trail: string[]): string[] =>
    trail.includes(folder)
      ? [[...trail, folder].join(" -> ")]
      : kernelFolders[folder]!.flatMap((below) => above(below, [...trail, folder]));
  expect(Object.keys(kernelFolders).flatMap((folder) => above(folder, []))).toEqual([]);
});

test("no file imports itself, directly or through others, even if it imports only types", () => {
  const cycles: string[] = [];
  const finished = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) return void cycles.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
    if (finished.has(path)) return;
    for (const { target, thread } of relativeImports(byPath.get(path) ?? { path, text: "", imports: [] }))
      if (!thread) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const { path } of sources) visit(path, []);
  expect(cycles).toEqual([]);
});

test("shared and the client run in a browser: they import nothing from Node", () => {
  const node = sources
    .filter(({ path }) => /^(shared|client)\//.test(path))
    .flatMap((source) =>
      source.imports
        .filter(({ specifier }) => specifier.startsWith("node:"))
        .map(({ specifier }) => `${source.path} -> ${specifier}`),
    );
  expect(node).toEqual([]);
});

test("only the programs main.ts and token.ts read the environment", () => {
  const readers = sources.filter(
    (source) =>
      isProduct(source) &&
      /\bprocess\s*\.\s*env\b|\bimport\.meta\.env\b/.test(source.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")),
  );
  expect(
    readers.map(({ path }) => path).filter((path) => path !== "server/main.ts" && path !== "server/tools/token.ts"),
  ).toEqual([]);
});

test("the import reader recognizes every form of import", () => {
  // Assembled from parts: written out, the statements would count as imports of this file.
  const [load, pass, url] = ["import", "export", "new URL"];
  const text = `
    ${load} a from "./a.ts"; ${load} { b,
      c } from "../b.ts"; ${load} type { D } from "./d.ts"; ${pass} * from "./e.ts"; ${load} "node:fs";
    const f = await ${load}("./f.ts"); const g = ${url}("./g.ts", ${load}.meta.url); // ${load} h from "./h.ts"
    /* ${load} i from "./i.ts" */`;
  const found = importsOf("x/y.ts", text);
  expect(found.map(({ specifier }) => specifier).sort()).toEqual([
    "../b.ts",
    "./a.ts",
    "./d.ts",
    "./e.ts",
    "./f.ts",
    "./g.ts",
    "node:fs",
  ]);
  expect(found.filter(({ thread }) => thread).map(({ target }) => target)).toEqual(["x/g.ts"]);
  expect(found.filter(({ typeOnly }) => typeOnly).map(({ target }) => target)).toEqual(["x/d.ts"]);
});
