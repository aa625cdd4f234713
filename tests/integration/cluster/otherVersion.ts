/** Loaded before the server (--import): gives the program the next version, whose states this version cannot read. */
import { registerHooks } from "node:module";

const FIND = /const STEPS_VERSION = (\d+);/;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith("/server/workers/stateIdentity.ts")) return loaded;
    const text = String(loaded.source);
    if (!FIND.test(text)) throw new Error("the step version was not found in the source");
    return { ...loaded, source: text.replace(FIND, (_, version) => `const STEPS_VERSION = ${Number(version) + 1};`) };
  },
});
