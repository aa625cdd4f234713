/**
 * Loaded before the fuzzed server: collects garbage on SIGUSR2, so that a leak is distinguished from memory that is not
 * collected yet. Needs --expose-gc.
 */
process.on("SIGUSR2", () => globalThis.gc());
