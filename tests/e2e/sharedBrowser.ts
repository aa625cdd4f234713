/** Environment variables through which test files find the shared browser (sharedServer.ts). */

/** Address of the browser. */
export const SHARED_BROWSER = "TEST_BROWSER";
/** Process id of the browser, to measure its CPU time. */
export const SHARED_BROWSER_PID = "TEST_BROWSER_PID";
