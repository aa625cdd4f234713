/**
 * Runs once for all files with pages: builds the client and starts one browser, in which every file has its own
 * contexts. Starting a browser costs 2 s of CPU, a build 4 s, and there are thirty files.
 */
import { rmSync } from "node:fs";
import { chromium } from "playwright-core";
import { setup as buildClient } from "../support/builtClient.ts";
import { chromiumFlags, findChromium } from "../support/chromium.ts";
import { lightScenes } from "./lightScenes.ts";
import { SHARED_BROWSER, SHARED_BROWSER_PID, SHARED_SCENES } from "./sharedBrowser.ts";

/** Timeout for the browser's start: without it no page is tested. */
const START_MS = 300_000;

/** @returns a function that ends it */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  await buildClient();
  const executablePath = findChromium();
  if (executablePath === undefined) return undefined;
  const scenes = lightScenes();
  const server = await chromium.launchServer({ executablePath, args: [...chromiumFlags], timeout: START_MS });
  process.env[SHARED_BROWSER] = server.wsEndpoint();
  process.env[SHARED_BROWSER_PID] = String(server.process().pid);
  process.env[SHARED_SCENES] = scenes;
  return async () => {
    await server.close();
    rmSync(scenes, { recursive: true, force: true });
  };
}
