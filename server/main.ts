/**
 * The program: reads the environment, listens, and shuts down in order on SIGTERM and SIGINT. Nothing else reads the
 * environment. With --check it only reads the environment (setup.mjs).
 */
import type { AddressInfo } from "node:net";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { logOptions } from "./auth/logOptions.ts";
import { lowerHelperThreads } from "./workers/helperThreads.ts";

/** Exit codes: 0 after an orderly shutdown, 1 after a failure, 2 when the configuration is invalid. */
const FAILED = 1;
const BAD_CONFIG = 2;

function readConfigOrExit(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`pliant: ${error.message}\n`);
    process.exit(BAD_CONFIG);
  }
}

const config = readConfigOrExit();
if (process.argv.includes("--check")) process.exit(0);
await lowerHelperThreads();
const { buildApp } = await import("./app.ts");
const app = await buildApp(config, logOptions(config.logLevel)).catch((error: Error) => {
  // These two errors tell the operator what to do, so the message is enough. Any other error is a defect: show its
  // stack.
  if (error.name !== "StoreUnavailable" && error.name !== "StoreRefused") throw error;
  process.stderr.write(`pliant: ${error.message}\n`);
  process.exit(FAILED);
});
const { log } = app.fastify;

let goingDown = false;
async function goDown(signal: string): Promise<void> {
  if (goingDown) return;
  goingDown = true;
  log.info({ signal }, "shutting down");
  const cut = setTimeout(() => {
    log.error({ seconds: config.shutdownSeconds }, "shutdown took too long");
    process.exit(FAILED);
  }, 1000 * config.shutdownSeconds);
  try {
    await app.close();
    clearTimeout(cut);
    log.info("shut down in order");
    // Worker threads and sockets have ended. Exiting now avoids waiting for idle handles of the runtime.
    process.exit(0);
  } catch (error) {
    log.fatal({ err: error }, "shutdown failed");
    process.exit(FAILED);
  }
}
process.on("SIGTERM", () => void goDown("SIGTERM"));
process.on("SIGINT", () => void goDown("SIGINT"));

try {
  // First, so that a taken port ends the start before rooms are taken over.
  await app.operations?.listen();
  await app.fastify.listen({ port: config.port, host: config.host });
} catch (error) {
  log.fatal({ err: error }, "cannot listen");
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === "EADDRINUSE")
    process.stderr.write(`pliant: port ${port} is taken; PORT and PLIANT_OPERATIONS_PORT choose others\n`);
  process.exit(FAILED);
}
const scheme = config.tlsCert === "" ? "http" : "https";
const shown = (host: string, port: number): string =>
  `${scheme}://${host === "0.0.0.0" || host === "::" ? "localhost" : host}:${port}`;
// PORT=0 takes a free port, so the log must name the actual one.
const { port } = app.fastify.server.address() as AddressInfo;
const url = shown(config.host, port);
const operations = app.operations ? shown(config.operationsHost, app.operations.port) : url;
app.warm.then(
  () => log.info({ url, operations }, `Pliant is ready on ${url}, for operators on ${operations}/admin`),
  () => {},
);
