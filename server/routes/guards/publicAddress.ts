/**
 * The server's public address, which a page opened on the server's own machine puts into its invitation links, and the
 * addresses of the other port: the lobby leads operators there, the operations page leads back to the rooms.
 */
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { OperationsPort } from "../operators/operationsPort.ts";
import { fromOwnMachine } from "./ownMachine.ts";
import { errorResponses } from "../schemas.ts";

export interface AddressOptions {
  /** Host that the server listens on. */
  host: string;
  publicUrls: readonly string[];
  tls: boolean;
  /** null: operators' routes are on the visitors' port. */
  operations: OperationsPort | null;
}

/** Addresses for a page of this server; null: the page needs none. */
interface Addresses {
  url: string | null;
  visitors: string | null;
  operations: string | null;
}

/** Clients from the network learn nothing about the machine's addresses: the address that they used already works. */
export function addressRoutes(app: FastifyInstance, { host, publicUrls, tls, operations }: AddressOptions): void {
  const at = (name: string, port: number): string => `${tls ? "https" : "http"}://${name}:${port}`;
  const visitorsPort = ({ socket }: FastifyRequest): number =>
    (app.server.address() as AddressInfo | null)?.port ?? socket.localPort ?? 0;
  app.get(
    "/api/address",
    {
      schema: {
        tags: ["rooms"],
        summary: "Public address of this server",
        description:
          "`PLIANT_PUBLIC_URL`. If it is not set and the request comes from the server's own machine: the server's address on the local network. null: use the address of this request.",
        response: {
          200: {
            type: "object",
            required: ["url", "visitors", "operations"],
            properties: {
              url: { type: ["string", "null"], description: "http(s)://host:port" },
              visitors: { type: ["string", "null"], description: "On the operations port: where rooms are." },
              operations: {
                type: ["string", "null"],
                description: "To the server's own machine: where operations page and API documentation are.",
              },
            },
          },
          ...errorResponses("TOO_MANY_REQUESTS"),
        },
      },
    },
    (request): Addresses => {
      const port = visitorsPort(request);
      const isOwn = fromOwnMachine(request);
      const lan = isOwn && (host === "0.0.0.0" || host === "::") ? networkAddress() : undefined;
      const url = publicUrls[0] ?? (lan === undefined ? null : at(lan, port));
      if (operations?.has(request))
        return { url, visitors: publicUrls[0] ?? at(request.hostname, port), operations: null };
      const operators = isOwn ? at(request.hostname, operations?.port ?? port) : null;
      return { url, visitors: null, operations: operators };
    },
  );
}

/** Finds an IPv4 address, because people type it. Home and school networks come before virtual bridges (172.16/12). */
function networkAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address }) => address);
  return addresses.find((address) => !/^(172\.(1[6-9]|2\d|3[01])|169\.254)\./.test(address)) ?? addresses[0];
}
