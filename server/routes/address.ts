/** Where others reach this server: what a page that came from this very machine puts into its links. */
import { networkInterfaces } from "node:os";
import type { FastifyInstance } from "fastify";
import { fromOwnMachine } from "./ownMachine.ts";

export interface AddressOptions {
  /** That the server listens on. */
  host: string;
  publicUrls: readonly string[];
  tls: boolean;
}

/** Whoever came over the network is told nothing of the machine's addresses: the page's own is good for others. */
export function addressRoutes(app: FastifyInstance, { host, publicUrls, tls }: AddressOptions): void {
  app.get(
    "/api/address",
    {
      schema: {
        tags: ["rooms"],
        summary: "Where others reach this server",
        description:
          "`PLIANT_PUBLIC_URL`; without it, for who asks on the server's own machine, its address on the local network. null: the address that was asked is the one.",
        response: {
          200: {
            type: "object",
            required: ["url"],
            properties: { url: { type: "string", nullable: true, description: "http(s)://host:port" } },
          },
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

/** IPv4, because it is what people type; those of a home or school before those of a virtual bridge (172.16/12). */
function networkAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address }) => address);
  return addresses.find((address) => !/^(172\.(1[6-9]|2\d|3[01])|169\.254)\./.test(address)) ?? addresses[0];
}
