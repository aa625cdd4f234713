/**
 * The page that `npm create vite` makes for React, as it comes, with the packed package installed and with those lines
 * of code that the package's README says: built by its own configuration.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
/** In the project: what else the page needs is found in its node_modules. */
const PAGE = at("build/e2e-template");
const README = readFileSync(at("client/sdk/README.md"), "utf8");

/** Blocks of code of the README's part on the template: what goes to the top, and what into the page. */
function ownCode(): [top: string[], page: string[]] {
  const [, part = ""] = README.split("npm create vite@latest");
  const [top, page] = [...part.matchAll(/^```jsx\n(.*?)^```$/gms)].map(([, code]) => code!.trimEnd().split("\n"));
  return [top!, page!];
}

/**
 * @param room address that the page is to show. @param base where it will be served
 * @returns the folder of the built page, and how many lines of its own it has beside the template's
 */
export async function buildTemplate(room: string, base: string): Promise<{ folder: string; lines: number }> {
  rmSync(PAGE, { recursive: true, force: true });
  cpSync(at("node_modules/create-vite/template-react"), PAGE, { recursive: true });
  const packages = `${PAGE}/node_modules`;
  mkdirSync(`${packages}/pliant-client`, { recursive: true });
  const packed = execFileSync("npm", ["pack", at("build/sdk"), "--pack-destination", packages, "--silent"], {
    encoding: "utf8",
    // npm's own settings of the run that this is part of are not for another
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  }).trim();
  execFileSync("tar", ["-xzf", `${packages}/${packed}`, "-C", `${packages}/pliant-client`, "--strip-components=1"]);
  const [top, page] = ownCode();
  const app = `${PAGE}/src/App.jsx`;
  const before = readFileSync(app, "utf8");
  const shown = page.map((line) => line.replace("https://play.example/r/my-room", room));
  const after = [...top, before.replace("<>\n", `<>\n${shown.join("\n")}\n`)].join("\n");
  writeFileSync(app, after);
  await build({ root: PAGE, base, logLevel: "error", build: { chunkSizeWarningLimit: 2000 } });
  return { folder: `${PAGE}/dist/`, lines: after.split("\n").length - before.split("\n").length };
}
