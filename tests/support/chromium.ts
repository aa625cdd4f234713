/**
 * Finds a Chromium-based browser for tests that need a real one, and lists its flags. Looks at CHROMIUM_PATH, then at
 * the usual names on PATH, then at the places where macOS and Windows keep it.
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
 * Flags for a run without screen, GPU, network traffic or a user's profile; the CPU draws WebGL. The page itself is
 * drawn by the CPU, too, but not through WebGL's emulation: opening a page then costs a quarter less CPU.
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
