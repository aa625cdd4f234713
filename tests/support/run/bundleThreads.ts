/**
 * Bundles the code of each of the server's threads into build/threads for the tests (bundledThreads.ts).
 * `npm run build:threads`; setup.mjs does so when a source has changed.
 */
import { Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "vite";
import schema from "../../../scenes/schema.json" with { type: "json" };
import { SCHEMA_OPTIONS } from "../../../shared/scene/compiledSchema.ts";
import { BUNDLES } from "./bundledThreads.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const threads = [
  "pictures/pictureWorker",
  "sim/threads/stepWorker",
  "store/sqlite/sqliteThread",
  "workers/builders/buildWorker",
  "workers/stepping/simWorker",
];

/** Files beside a source are found from its own place. Relative, because people copy build to other checkouts. */
const ownUrls: Plugin = {
  name: "own-urls",
  enforce: "pre",
  transform: {
    filter: { code: /import\.meta\.url/ },
    handler: (code, id) =>
      code.replaceAll("import.meta.url", `new URL("${relative(BUNDLES, id)}", import.meta.url).href`),
  },
};

/** Compiles the schema once for all threads, with the same options. */
const compiledSchema: Plugin = {
  name: "compiled-schema",
  enforce: "pre",
  load: {
    filter: { id: /\/shared\/scene\/compiledSchema\.ts$/ },
    handler: () => {
      const ajv = new Ajv({ ...SCHEMA_OPTIONS, code: { ...SCHEMA_OPTIONS.code, source: true, esm: true } });
      return [
        'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
        standalone.default(ajv, ajv.compile(schema)),
        "export const compiledSchema = () => validate;",
      ].join("\n");
    },
  },
};

await build({
  configFile: false,
  logLevel: "warn",
  root,
  publicDir: false,
  plugins: [compiledSchema, ownUrls],
  build: {
    ssr: true,
    target: "esnext",
    outDir: BUNDLES,
    minify: false,
    rolldownOptions: {
      input: Object.fromEntries(threads.map((path) => [basename(path), join(root, "server", `${path}.ts`)])),
      output: { entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
    },
  },
});
