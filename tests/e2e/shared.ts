/**
 * Once for all files with pages: the client is built, and one browser started, in which every file has contexts of its
 * own. A start costs 2 s of CPU, a build 4 s, and there are thirty files.
 */
import { chromium } from "playwright-core";
import { setup as buildClient } from "../support/builtClient.ts";
import { chromiumFlags, findChromium } from "../support/chromium.ts";
import { SHARED_BROWSER, SHARED_BROWSER_PID } from "./sharedBrowser.ts";

/** For a browser to start: without it no page is tested. */
const START_MS = 300_000;

/** @returns what ends it */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  await buildClient();
  const executablePath = findChromium();
  if (executablePath === undefined) return undefined;
  const server = await chromium.launchServer({ executablePath, args: [...chromiumFlags], timeout: START_MS });
  process.env[SHARED_BROWSER] = server.wsEndpoint();
  process.env[SHARED_BROWSER_PID] = String(server.process().pid);
  return () => server.close();
}
