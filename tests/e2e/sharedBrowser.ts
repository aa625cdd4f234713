/** Environment variables through which test files find what all of them share (sharedServer.ts). */

/** Address of the browser. */
export const SHARED_BROWSER = "TEST_BROWSER";
/** Folder of the pages' scenes (lightScenes.ts). */
export const SHARED_SCENES = "TEST_SCENES";
/** Process id of the browser, to measure its CPU time. */
export const SHARED_BROWSER_PID = "TEST_BROWSER_PID";
