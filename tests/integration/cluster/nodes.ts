/**
 * Starts processes of a cluster (node.ts), keeps their output, and checks it: no room is ever stepped by two processes
 * at one epoch, nor by two at the same time.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Tick {
  room: string;
  epoch: number;
  tick: number;
  /** Machine's monotonic time. */
  ms: number;
  /** Name of the process. */
  by: string;
}

export interface Node {
  child: ChildProcess;
  url: string;
  process: string;
  errors: string[];
}

const started: Node[] = [];

export class Nodes {
  readonly ticks: Tick[] = [];
  readonly nodes: Node[] = [];
  /** File or address of the store. */
  readonly where: string;
  readonly #arguments: string[];

  constructor(where: string, secret: string, leaseSeconds: number) {
    this.where = where;
    this.#arguments = [where, secret, String(leaseSeconds)];
  }

  async start(): Promise<Node> {
    const child = spawn(process.execPath, [fileURLToPath(new URL("./node.ts", import.meta.url)), ...this.#arguments], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const node: Node = { child, url: "", process: "", errors: [] };
    started.push(node);
    this.nodes.push(node);
    createInterface({ input: child.stderr }).on("line", (line) => node.errors.push(line));
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`a process ended with ${code}: ${node.errors.join("\n")}`)));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const said = JSON.parse(line) as { what: string } & Tick & Node;
        if (said.what === "tick") this.ticks.push({ ...said, by: node.process });
        if (said.what !== "ready") return;
        node.url = said.url;
        node.process = said.process;
        resolve();
      });
    });
    return node;
  }

  /** The last tick of the room. */
  last(room: string): Tick | undefined {
    return this.ticks.findLast((tick) => tick.room === room);
  }

  /** Waits until `done`; @throws after the timeout, with the description `what` */
  async until(what: string, done: () => boolean | Promise<boolean>, seconds = 60): Promise<void> {
    for (const untilMs = performance.now() + 1000 * seconds; !(await done()); ) {
      if (performance.now() > untilMs)
        throw new Error(`${what}: not within ${seconds} s\n${this.nodes.flatMap(({ errors }) => errors).join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Finds epochs with more than one owner, and ticks of a lower epoch after the first tick of a higher one. */
  twins(): string[] {
    const found: string[] = [];
    for (const room of new Set(this.ticks.map((tick) => tick.room))) {
      const ticks = this.ticks.filter((tick) => tick.room === room).sort((a, b) => a.ms - b.ms);
      const owners = new Map<number, string>();
      let highest = 0;
      for (const { epoch, by, tick } of ticks) {
        if ((owners.get(epoch) ?? by) !== by) found.push(`${room}: epoch ${epoch} was stepped by two`);
        owners.set(epoch, by);
        if (epoch < highest) found.push(`${room}: tick ${tick} of epoch ${epoch} after one of epoch ${highest}`);
        highest = Math.max(highest, epoch);
      }
    }
    return found;
  }
}

/** For afterEach. */
export function endAll(): void {
  for (const { child } of started.splice(0)) child.kill("SIGKILL");
}
