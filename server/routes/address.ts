/** The server's public address, which a page opened on the server's own machine puts into its invitation links. */
import { networkInterfaces } from "node:os";
import type { FastifyInstance } from "fastify";
import { fromOwnMachine } from "./ownMachine.ts";
import { errorResponses } from "./schemas.ts";

export interface AddressOptions {
  /** Host that the server listens on. */
  host: string;
  publicUrls: readonly string[];
  tls: boolean;
}

/** Clients from the network learn nothing about the machine's addresses: the address that they used already works. */
export function addressRoutes(app: FastifyInstance, { host, publicUrls, tls }: AddressOptions): void {
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
            required: ["url"],
            properties: { url: { type: ["string", "null"], description: "http(s)://host:port" } },
          },
          ...errorResponses("TOO_MANY_REQUESTS"),
        },
      },
    },
    (request) => {
      if (publicUrls[0] !== undefined) return { url: publicUrls[0] };
      const lan = fromOwnMachine(request) && (host === "0.0.0.0" || host === "::") ? networkAddress() : undefined;
      return { url: lan === undefined ? null : `${tls ? "https" : "http"}://${lan}:${request.socket.localPort}` };
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
