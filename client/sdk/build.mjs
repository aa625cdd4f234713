/**
 * Builds the package `pliant-client` in build/sdk or the named folder, ready to be packed: ES modules and their types.
 * The WebAssembly decoder is a module of its own. The types of the core are built without the DOM, because workers and
 * Node have none.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = new URL("../../", import.meta.url);
const at = (path) => fileURLToPath(new URL(path, root));
const out = process.argv[2] ?? at("build/sdk");

/** Each entry bundles everything it needs, except the core's decoder. */
const entries = [
  { index: at("client/sdk/index.ts"), wasm: at("shared/snapshot/wasm.ts") },
  { element: at("client/sdk/element.ts") },
  { three: at("client/sdk/three.ts") },
  { react: at("client/sdk/react.ts") },
];
/** Not bundled: packages of the caller, and other entries of this package, so that each class exists only once. */
const external = /^(three|react|@react-three\/fiber|pliant-client(\/three)?)$/;
const ofPackage = {
  name: "of-package",
  resolveId: (source, importer) => {
    if (!importer?.endsWith("/sdk/react.ts")) return undefined;
    const entry = { "./index.ts": "pliant-client", "./three.ts": "pliant-client/three" }[source];
    return entry && { id: entry, external: true };
  },
};
for (const [turn, entry] of entries.entries())
  await build({
    configFile: false,
    logLevel: "warn",
    plugins: [{ ...ofPackage, enforce: "pre" }],
    root: at("client/sdk"),
    build: {
      outDir: out,
      target: "es2022",
      emptyOutDir: turn === 0,
      // Readable code: bundlers minify it, and Node prints the line of an uncaught error.
      minify: false,
      rolldownOptions: { external, output: { chunkFileNames: "[name].js" } },
      lib: { entry, formats: ["es"] },
    },
  });
for (const project of ["client/sdk/tsconfig.json", "client/sdk/tsconfig.page.json"]) {
  const types = spawnSync(
    process.execPath,
    [at("node_modules/typescript/bin/tsc"), "-p", at(project), "--outDir", join(out, "types")],
    { stdio: "inherit" },
  );
  if (types.status !== 0) throw new Error("the types of pliant-client could not be built");
}
// The scripts of the sources only refuse to pack them.
const { scripts: _, ...manifest } = JSON.parse(readFileSync(at("client/sdk/package.json"), "utf8"));
writeFileSync(join(out, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
// Outside of the project only the examples are there; other links lead nowhere.
const readme = readFileSync(at("client/sdk/README.md"), "utf8")
  .replaceAll("](../examples/", "](examples/")
  .replace(/\[([^\]]+)\]\(\.\.\/[^)]+\)/g, "$1");
writeFileSync(join(out, "README.md"), readme);
cpSync(at("client/examples"), join(out, "examples"), { recursive: true });
copyFileSync(at("LICENSE"), join(out, "LICENSE"));
