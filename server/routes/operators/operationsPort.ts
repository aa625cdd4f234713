/**
 * A second port for operators: metrics, operations page, admin calls and API documentation answer only there, so a
 * proxy that publishes the visitors' port does not publish them. The second port serves all other HTTP routes, too, but
 * no room sockets.
 *
 *     visitors' port     everything but operators' routes (404, as for an unknown address)
 *     operators' port    all HTTP routes; `/` leads to the operations page
 *     either             a request that another process of the cluster forwarded: its sender came in by the right port
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { answerUnreadable, pathOf } from "../guards/failures.ts";

/** Patterns of operators' routes: these, and all below them. */
const OPERATORS = ["/metrics", "/admin", "/api/admin", "/docs"];

export interface OperationsPortOptions {
  port: number;
  host: string;
  /** Options of Node's server; with a certificate the port speaks TLS, like the visitors'. */
  server: ServerOptions;
}

const isOperators = (route: string | undefined): boolean =>
  OPERATORS.some((pattern) => route === pattern || route?.startsWith(`${pattern}/`));

export class OperationsPort {
  readonly server: Server;
  readonly #options: OperationsPortOptions;
  readonly #requests = new WeakSet<IncomingMessage>();

  /** Register it before the hooks that charge or authorize a request. */
  constructor(app: FastifyInstance, options: OperationsPortOptions) {
    this.#options = options;
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      this.#requests.add(request);
      app.routing(request, response);
    };
    this.server = options.server.cert ? createTlsServer(options.server, answer) : createServer(options.server, answer);
    this.server.on("clientError", answerUnreadable);
    this.server.on("upgrade", (_request, socket) =>
      socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"),
    );
    app.addHook("onClose", async () => {
      this.server.close();
      this.server.closeAllConnections();
    });
    // Runs after all onRequest hooks: only then are forwarded requests recognized.
    app.addHook("preParsing", async (request, reply) => {
      if (this.has(request)) {
        if (request.routeOptions.url === "/*" && pathOf(request.url) === "/") return reply.redirect("/admin");
      } else if (isOperators(request.routeOptions.url) && request.ticket === undefined) {
        throw new CodedError("NOT_FOUND", { field: "path", value: pathOf(request.url) });
      }
    });
  }

  /** Whether the request came in by this port. */
  has({ raw }: FastifyRequest): boolean {
    return this.#requests.has(raw);
  }

  /** The port that it listens on; 0 before `listen`. */
  get port(): number {
    return (this.server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** @throws Error if the port is taken */
  async listen(): Promise<void> {
    const { port, host } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, host, resolve);
    });
  }
}
