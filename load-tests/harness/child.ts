/** A measurement in a process of its own: no warmed code, heap or thread pool of another one. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Runs a program that sends one message, its report.
 * @param seconds after which it is killed
 * @throws Error if it ends without a report
 */
export function runChild<Report>(program: URL, args: readonly string[], seconds: number): Promise<Report> {
  return new Promise((fulfil, reject) => {
    const child = fork(fileURLToPath(program), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
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
