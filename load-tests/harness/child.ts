/** Runs a measurement in a process of its own, so that it does not inherit warm code, a heap or a thread pool. */
import { fork, type StdioOptions } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Runs a program that sends one message, its report.
 * @param seconds timeout, after which it is killed
 * @param execArgv options of the runtime; default: those of this process
 * @throws Error if it ends without a report
 */
export function runChild<Report>(
  program: URL,
  args: readonly string[],
  seconds: number,
  execArgv: readonly string[] = process.execArgv,
): Promise<Report> {
  return new Promise((fulfil, reject) => {
    const stdio: StdioOptions = ["ignore", "inherit", "inherit", "ipc"];
    const child = fork(fileURLToPath(program), args, { stdio, execArgv: [...execArgv] });
    let report: Report | undefined;
    const timer = setTimeout(() => child.kill("SIGKILL"), 1000 * seconds);
    child.on("message", (message) => {
      report = message as Report;
      child.disconnect();
    });
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      if (report !== undefined) fulfil(report);
      else
        reject(
          new Error(
            `ended with ${signal ?? `code ${code}`} before it reported${signal === "SIGKILL" ? ` (limit ${seconds} s)` : ""}`,
          ),
        );
    });
  });
}
