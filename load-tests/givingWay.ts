/**
 * Starts a process that represents a client on another machine: all its threads run only when a core is idle. It is
 * started this way, because V8's and libuv's threads could not be changed afterwards. On Linux it is idle work
 * (`chrt -i`), which never delays another thread; elsewhere nice 19.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const IDLE = ["chrt", "-i", "0"];
const NICE = ["nice", "-n", "19"];
const giveWay = spawnSync(IDLE[0]!, [...IDLE.slice(1), "true"]).status === 0 ? IDLE : NICE;

/** @param program may use `process.send` */
export function forkGivingWay(program: URL, args: readonly string[]): ChildProcess {
  const [command, ...before] = giveWay;
  return spawn(command!, [...before, process.execPath, fileURLToPath(program), ...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}
