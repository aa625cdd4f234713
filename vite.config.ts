/**
 * Builds the browser client from client/ to build/client; `npm run dev:client` serves it with the API proxied to a
 * running server (DEV_SERVER).
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const server = process.env.DEV_SERVER ?? "http://localhost:8080";

export default defineConfig({
  root: fileURLToPath(new URL("./client", import.meta.url)),
  // One index.html serves both `/` and `/r/<room>`, so every address in it is absolute.
  base: "/",
  build: {
    outDir: fileURLToPath(new URL("./build/client", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    // The page's content security policy allows no data: scripts or styles; small files stay files.
    assetsInlineLimit: 0,
    // three is one piece of about 600 kB by nature, loaded only by the room page.
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { "/api": { target: server, ws: true } } },
});
