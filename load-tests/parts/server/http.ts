/** Requests per second and latency of the listings that every lobby polls, by autocannon, while one room is running. */
import autocannon from "autocannon";
import type { Row } from "../../part.ts";
import { startServer } from "../../measuredServer.ts";

export const name = "http";
export const about = "/api/rooms and /api/scenes under 20 connections for 5 s each (autocannon)";
export const groups = ["load"];

const CONNECTIONS = 20;
const SECONDS = 5;

export async function run(): Promise<Row[]> {
  const server = await startServer({ env: { PLIANT_PREWARM: "jelly-stack" } });
  try {
    const opened = await fetch(`${server.url}/api/rooms`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ scene: "jelly-stack" }),
    });
    if (opened.status !== 201) throw new Error(`POST /api/rooms answered ${opened.status}: ${await opened.text()}`);
    const rows: Row[] = [];
    for (const path of ["/api/rooms", "/api/scenes"]) {
      const result = await autocannon({ url: server.url + path, connections: CONNECTIONS, duration: SECONDS });
      if (result.non2xx > 0 || result.errors > 0)
        throw new Error(`${path}: ${result.non2xx} answers other than 2xx, ${result.errors} errors`);
      rows.push(
        { what: `GET ${path}, requests`, value: result.requests.average, unit: "1/s" },
        { what: `GET ${path}, latency p50`, value: result.latency.p50, unit: "ms" },
        { what: `GET ${path}, latency p99`, value: result.latency.p99, unit: "ms" },
      );
    }
    return rows;
  } finally {
    await server.stop();
  }
}
