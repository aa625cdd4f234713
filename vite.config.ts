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

const client = (path: string): string => fileURLToPath(new URL(`./client/${path}`, import.meta.url));

/** Of what compresses at all, and is larger than one packet. */
const COMPRESSED = { types: /\.(html|js|css|svg|wasm|json)$/, fromBytes: 1000 };

/**
 * Beside every file that is worth it `<file>.br`, and `<file>.gz`, which is what browsers take over plain HTTP: as
 * small as they get, once here and never per request.
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

/** Small modules that the lobby, a room and its replay need, or two of them, with what those import. */
const COMMON =
  /client\/(net\/(api|tokens)|sdk\/(http|tuning)|state\/(duplicate|handOver)|text\/problem|ui\/(dom|messagePage|objectNotes|profile|share\.))/;

export default defineConfig({
  plugins: [precompress()],
  root: client(""),
  // One index.html serves both `/` and `/r/<room>`, so every address in it is absolute.
  base: "/",
  build: {
    outDir: fileURLToPath(new URL("./build/client", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    rolldownOptions: {
      input: { index: client("index.html"), "pliant-room": client("sdk/element.ts") },
      // Pages of others name the element's script: its address stays.
      output: {
        entryFileNames: ({ name }) => (name === "pliant-room" ? "[name].js" : "assets/[name]-[hash].js"),
        // One piece in place of fifteen: an answer's head costs as much as most of them.
        codeSplitting: { groups: [{ name: "common", test: COMMON }] },
      },
    },
    // The page's content security policy allows no data: scripts or styles; small files stay files.
    assetsInlineLimit: 0,
    // three is one piece of about 600 kB by nature, loaded only by the room page.
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { "/api": { target: server, ws: true } } },
});
