/**
 * The page that `npm create vite` makes for React, unchanged except for the packed package and the lines of code from
 * the package's README. Built by its own configuration.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
/** Inside the project, so that the page finds its other dependencies in the project's node_modules. */
const PAGE = at("build/e2e-template");
const README = readFileSync(at("client/sdk/README.md"), "utf8");

/** Code blocks of the README's section on the template: for the top of the file, and for the page. */
function ownCode(): [top: string[], page: string[]] {
  const [, part = ""] = README.split("npm create vite@latest");
  const [top, page] = [...part.matchAll(/^```jsx\n(.*?)^```$/gms)].map(([, code]) => code!.trimEnd().split("\n"));
  return [top!, page!];
}

/**
 * @param room address that the page shows. @param base where it will be served
 * @returns the folder of the built page, and the number of lines that it adds to the template
 */
export async function buildTemplate(room: string, base: string): Promise<{ folder: string; lines: number }> {
  rmSync(PAGE, { recursive: true, force: true });
  cpSync(at("node_modules/create-vite/template-react"), PAGE, { recursive: true });
  const packages = `${PAGE}/node_modules`;
  mkdirSync(`${packages}/pliant-client`, { recursive: true });
  const packed = execFileSync("npm", ["pack", at("build/sdk"), "--pack-destination", packages, "--silent"], {
    encoding: "utf8",
    // npm's settings of the surrounding run must not apply.
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
