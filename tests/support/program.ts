/** Runs child programs on the same Node, from the project's folder. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @returns whether it succeeded; a failure was reported on stderr */
export function succeeds(entry: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<boolean> {
  const child = spawn(process.execPath, [entry, ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  return new Promise((resolve) => {
    child.once("error", (error) => {
      console.error(`${entry}: ${error.message}`);
      resolve(false);
    });
    child.once("exit", (code, signal) => {
      if (signal) console.error(`${entry} was ended by ${signal}`);
      resolve(code === 0);
    });
  });
}
