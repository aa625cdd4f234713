/**
 * The tests start many threads, and loading two hundred files is most of a thread's start. Threads of the tests'
 * own processes therefore run bundled code (bundleThreads.ts); servers in processes of their own use the sources.
 */
import { dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

export const BUNDLES = fileURLToPath(new URL("../../../build/threads", import.meta.url));
const place = /new URL\("\.\/(?:\w+\/)*(\w+(?:Worker|Thread))\.ts", import\.meta\.url\)/;

/** Starts the bundled threads instead of their sources. */
export const bundledThreads = (): Plugin => ({
  name: "bundled-threads",
  enforce: "pre",
  transform: {
    filter: { id: /\/server\/.*\.ts$/, code: place },
    handler: (code, id) => code.replace(place, `new URL("${relative(dirname(id), BUNDLES)}/$1.mjs", import.meta.url)`),
  },
});
