/**
 * Builds the browser client from client/ to build/client; `npm run dev:client` serves it with the API proxied to a
 * running server (DEV_SERVER).
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const server = process.env.DEV_SERVER ?? "http://localhost:8080";
/** Origin of its operations port. */
const operations = process.env.DEV_OPERATIONS ?? "http://localhost:9080";

const client = (path: string): string => fileURLToPath(new URL(`./client/${path}`, import.meta.url));

/** Compressible file types, and a minimum size of about one packet. */
const COMPRESSED = { types: /\.(html|js|css|svg|wasm|json)$/, fromBytes: 1000 };

/**
 * Writes `<file>.br` beside every file that gains from it, and `<file>.gz` for plain HTTP, where browsers accept only
 * gzip. The build compresses once at the highest level, so that no request has to.
 */
function precompress(): Plugin {
  let folder = "";
  return {
    name: "precompress",
    apply: "build",
    configResolved: ({ build }) => void (folder = build.outDir),
    closeBundle: () => {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (!entry.isFile() || !COMPRESSED.types.test(path)) continue;
        const bytes = readFileSync(path);
        if (bytes.length < COMPRESSED.fromBytes) continue;
        const params = {
          [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        };
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
      }
    },
  };
}

/** Removes indentation and comments from three's shaders (tabs stand nowhere else in minified code). */
function smallShaders(): Plugin {
  return {
    name: "small-shaders",
    apply: "build",
    generateBundle: (_, bundle) => {
      for (const chunk of Object.values(bundle))
        if (chunk.type === "chunk") chunk.code = chunk.code.replace(/\n\t+(\/\/[^\n`]*(?=\n))?/g, "\n");
    },
  };
}

/** Small modules that at least two of lobby, room page and replay page need, with their imports. */
const COMMON =
  /client\/(net\/(api|tokens)|sdk\/(connection\/(roomRequests|keptTokens)|calls\/checkTuning)|state\/(duplicate|handOver)|text\/problem|ui\/(dom|messagePage|panel|shareLink|toasts|upload\/(objectNotes|uploadButton)|room\/(people|profile)))\.|shared\/bytes\./;

export default defineConfig({
  plugins: [smallShaders(), precompress()],
  root: client(""),
  // One index.html serves both `/` and `/r/<room>`, so all its addresses are absolute.
  base: "/",
  build: {
    outDir: fileURLToPath(new URL("./build/client", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    rolldownOptions: {
      input: { index: client("index.html"), "pliant-room": client("sdk/element.ts") },
      // Third-party pages refer to the element's script, so its address must stay the same.
      output: {
        entryFileNames: ({ name }) => (name === "pliant-room" ? "[name].js" : "assets/[name]-[hash].js"),
        // One chunk instead of fifteen: most of them are as small as the head of an HTTP answer.
        codeSplitting: { groups: [{ name: "common", test: COMMON }] },
      },
    },
    // The page's content security policy allows no data: scripts or styles, so small files are not inlined.
    assetsInlineLimit: 0,
    // three is a single chunk of about 600 kB, loaded only by the room page.
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { "/api/admin": { target: operations }, "/api": { target: server, ws: true } } },
});
