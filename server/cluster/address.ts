/** Where other processes reach this one, if nobody says so. */
import { networkInterfaces } from "node:os";

/**
 * @param host that the server listens on
 * @param beyond may the others be on other machines (or in other containers)?
 * @param tls does the server speak it?
 * @returns http://host:port, or https://
 */
export function ownUrl(host: string, port: number, beyond: boolean, tls = false): string {
  const every = host === "0.0.0.0" || host === "::" || host === "";
  return `${tls ? "https" : "http"}://${bracketed(every ? ((beyond ? firstAddress() : undefined) ?? "127.0.0.1") : host)}:${port}`;
}

/** In a container and on most servers there is exactly one. */
function firstAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal }) => !internal);
  return (addresses.find(({ family }) => family === "IPv4") ?? addresses.find(({ scopeid }) => !scopeid))?.address;
}

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);
