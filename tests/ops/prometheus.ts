/**
 * A real Prometheus on a temporary folder, with the project's own configuration and rules, against a server on some
 * port.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { freePort, waitForOk } from "../../load-tests/measuredServer.ts";

/** One series of an answer: its labels and the values of its samples. */
interface Series {
  metric: Record<string, string>;
  values: number[];
}

export interface RunningPrometheus {
  /** `data` of an API answer. @throws Error with Prometheus' own message for a refused query */
  get(path: string, parameters?: Record<string, string>): Promise<any>;
  /**
   * Runs the query over a number of seconds until a time, with a sample per second, as a graph does. @param at Unix
   * time, s
   */
  range(query: string, seconds: number, at: number): Promise<Series[]>;
  /** Runs the query at a time, by default now, as a stat panel does. @param at Unix time, s */
  instant(query: string, at?: number): Promise<Series[]>;
  stop(): Promise<void>;
}

const CONFIG = "server/ops/prometheus/prometheus.yml";

/**
 * @param executable Prometheus' path
 * @param target host:port that replaces the configured one; `interval` replaces the intervals, so that a test does not
 *   take minutes
 * @param holdFor replaces each rule's `for`; absent: they stay
 * @param alertmanager host:port that replaces the configured one; absent: alerts go nowhere
 */
export async function startPrometheus(
  executable: string,
  target: string,
  interval: string,
  holdFor?: string,
  alertmanager?: string,
): Promise<RunningPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), "pliant-prometheus-"));
  const config = parse(readFileSync(CONFIG, "utf8"));
  config.global = { scrape_interval: interval, evaluation_interval: interval };
  config.scrape_configs.splice(1);
  if (alertmanager === undefined) delete config.alerting;
  else config.alerting.alertmanagers[0].static_configs[0].targets = [alertmanager];
  delete config.scrape_configs[0].dns_sd_configs;
  config.scrape_configs[0].static_configs = [{ targets: [target] }];
  writeFileSync(join(folder, "prometheus.yml"), stringify(config));
  for (const rules of config.rule_files) {
    const text = readFileSync(join("server/ops/prometheus", rules), "utf8");
    const held = holdFor === undefined ? text : text.replaceAll(/^( +for:) .*$/gm, `$1 ${holdFor}`);
    writeFileSync(join(folder, rules), held);
  }

  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    executable,
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitForOk(`${url}/-/ready`, 300_000, () =>
      child.exitCode === null ? undefined : `Prometheus ended with code ${child.exitCode}`,
    );
  } catch (error) {
    await stop();
    throw new Error(`${(error as Error).message}\n${log}`);
  }

  const get = async (path: string, parameters: Record<string, string> = {}): Promise<any> => {
    const answer = (await (await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`)).json()) as {
      status: string;
      data: unknown;
      error?: string;
    };
    if (answer.status !== "success") throw new Error(`${path} ${JSON.stringify(parameters)}: ${answer.error}`);
    return answer.data;
  };
  return {
    get,
    stop,
    async range(query, seconds, at) {
      const { result } = await get("query_range", { query, start: String(at - seconds), end: String(at), step: "1" });
      return result.map(({ metric, values }: { metric: Record<string, string>; values: [number, string][] }) => ({
        metric,
        values: values.map(([, value]) => Number(value)),
      }));
    },
    async instant(query, at = Date.now() / 1000) {
      const { result } = await get("query", { query, time: String(at) });
      return result.map(({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => ({
        metric,
        values: [Number(value[1])],
      }));
    },
  };
}
