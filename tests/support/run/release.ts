/** Tests whether a release is being made. Then `.ci/run` runs `npm run test:long`, too. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * A release is being made while CHANGELOG.md begins with package.json's version and a date (`## [1.2.3] - 2026-01-31`,
 * not `unreleased`). It ends when the next heading is above it, or when a commit after the tagged one is tested.
 *
 * @param version of package.json
 * @param tagged commit of the tag `v<version>`, if there is one
 * @param head commit that is tested
 */
export function isRelease(changelog: string, version: string, tagged: string | undefined, head: string): boolean {
  const [, newest, date] = /^## \[([^\]]+)\](?: - (\S+))?$/m.exec(changelog) ?? [];
  return newest === version && /^\d{4}-\d\d-\d\d$/.test(date ?? "") && (tagged === undefined || tagged === head);
}

function commitOf(name: string): string | undefined {
  const { status, stdout } = spawnSync("git", ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], {
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** Applies `isRelease` to the work tree in the current folder. */
export function releaseIsMade(): boolean {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  return isRelease(readFileSync("CHANGELOG.md", "utf8"), version, commitOf(`v${version}`), commitOf("HEAD") ?? "");
}
