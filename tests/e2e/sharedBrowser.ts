/** Names in the environment by which test files find the browser that they share (shared.ts). */

/** Where it listens. */
export const SHARED_BROWSER = "TEST_BROWSER";
/** Its process, for what it takes of the processors. */
export const SHARED_BROWSER_PID = "TEST_BROWSER_PID";
