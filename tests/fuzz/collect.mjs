/**
 * Loaded before the server that is fuzzed: collects garbage on SIGUSR2, so that what is held on to is told from what is
 * just not gone yet. Needs --expose-gc.
 */
process.on("SIGUSR2", () => globalThis.gc());
