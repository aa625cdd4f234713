/** Finds the URL of this process for other processes, if none is configured. */
import { networkInterfaces } from "node:os";

/**
 * @param host address that the server listens on
 * @param beyond the other processes may be on other machines or in other containers
 * @param tls the server speaks TLS
 * @returns http://host:port, or https://
 */
export function ownUrl(host: string, port: number, beyond: boolean, tls = false): string {
  const every = host === "0.0.0.0" || host === "::" || host === "";
  return `${tls ? "https" : "http"}://${bracketed(every ? ((beyond ? firstAddress() : undefined) ?? "127.0.0.1") : host)}:${port}`;
}

/** First external address of this machine. A container, and most servers, have exactly one. */
function firstAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal }) => !internal);
  return (addresses.find(({ family }) => family === "IPv4") ?? addresses.find(({ scopeid }) => !scopeid))?.address;
}

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);
