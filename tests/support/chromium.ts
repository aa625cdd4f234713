/**
 * Finds a Chromium-based browser for the tests that need a real one, and says how to start it: CHROMIUM_PATH, then the
 * usual names on PATH, then the places where macOS and Windows keep it.
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"];

const places = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
];

/** Path of a browser, or undefined if there is none. */
export function findChromium(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  if (named) return existsSync(named) ? named : undefined;
  const directories = (process.env.PATH ?? "").split(delimiter).filter((directory) => directory !== "");
  const onPath = names.flatMap((name) => directories.map((directory) => join(directory, name)));
  return [...onPath, ...places].find((path) => existsSync(path));
}

/**
 * Flags for a run without screen, GPU, network chatter or a user's profile; WebGL is drawn by the CPU. So is the rest
 * of the page, as wherever there is no GPU, but not through WebGL's emulation: a page opens with a quarter less of CPU.
 */
export const chromiumFlags: readonly string[] = [
  "--no-sandbox",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-gpu-compositing",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
