/**
 * A process that stands for somebody at another machine: it takes what is left of the processors, with all its threads
 * (V8's and libuv's are started before anybody could lower them from outside). On Linux it is idle work
 * (`chrt -i`), which never keeps another thread waiting; elsewhere nice 19.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const IDLE = ["chrt", "-i", "0"];
const NICE = ["nice", "-n", "19"];
const giveWay = spawnSync(IDLE[0]!, [...IDLE.slice(1), "true"]).status === 0 ? IDLE : NICE;

/** @param program it has `process.send` */
export function forkGivingWay(program: URL, args: readonly string[]): ChildProcess {
  const [command, ...before] = giveWay;
  return spawn(command!, [...before, process.execPath, fileURLToPath(program), ...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}
