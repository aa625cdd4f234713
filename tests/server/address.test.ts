/**
 * The server's address for invitations, over real sockets: only visitors on the same machine are told its network
 * address.
 */
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import Fastify from "fastify";
import { warningFor } from "../../client/ui/cards/sharePanel.ts";
import { addressRoutes, type AddressOptions } from "../../server/routes/guards/publicAddress.ts";
import { isLoopback } from "../../shared/loopback.ts";

/** The answer of a server with these options to a request for this host name over loopback, and its port. */
async function ask(
  options: Partial<AddressOptions>,
  name: string,
  forwarded: Record<string, string> = {},
): Promise<{ url: string | null; port: number }> {
  const fastify = Fastify();
  addressRoutes(fastify, { host: "0.0.0.0", publicUrls: [], tls: false, operations: null, ...options });
  const port = Number(new URL(await fastify.listen({ port: 0, host: "127.0.0.1" })).port);
  try {
    const body = await new Promise<string>((resolve, reject) => {
      const headers = { host: `${name}:${port}`, ...forwarded };
      request({ port, host: "127.0.0.1", path: "/api/address", headers }, (response) => {
        let text = "";
        response.on("data", (piece) => (text += String(piece))).on("end", () => resolve(text));
      })
        .on("error", reject)
        .end();
    });
    return { ...(JSON.parse(body) as { url: string | null }), port };
  } finally {
    await fastify.close();
  }
}

const network = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .filter(({ internal, family }) => !internal && family === "IPv4")
  .map(({ address }) => address);

test("a page on the same machine is told a network address of the machine", async () => {
  const { url, port } = await ask({}, "localhost");
  if (network.length === 0) expect(url).toBeNull();
  else expect(network.map((address) => `http://${address}:${port}`)).toContain(url);
});

test("no network address is told to a page under another name, or if the server listens on loopback only", async () => {
  expect((await ask({}, "192.0.2.7")).url).toBeNull();
  expect((await ask({}, "play.example")).url).toBeNull();
  expect((await ask({ host: "127.0.0.1" }, "localhost")).url).toBeNull();
  // A visitor through a proxy on this machine only seems to be on this machine.
  expect((await ask({}, "localhost", { "x-forwarded-for": "127.0.0.1" })).url).toBeNull();
  expect((await ask({}, "localhost", { forwarded: "for=127.0.0.1" })).url).toBeNull();
});

test("PLIANT_PUBLIC_URL wins", async () => {
  const publicUrls = ["https://play.example", "https://*.play.example"];
  expect((await ask({ publicUrls }, "localhost")).url).toBe("https://play.example");
  expect((await ask({ publicUrls, host: "127.0.0.1" }, "192.0.2.7")).url).toBe("https://play.example");
});

test("names and addresses of loopback, and others", () => {
  for (const host of [
    "localhost",
    "LOCALHOST",
    "a.localhost",
    "127.0.0.1",
    "127.8.9.1",
    "::1",
    "[::1]",
    "::ffff:127.0.0.1",
  ])
    expect(isLoopback(host), host).toBe(true);
  for (const host of [
    "localhost.example",
    "127.example",
    "10.0.0.1",
    "::ffff:10.0.0.1",
    "192.168.127.1",
    "[fe80::1]",
    "",
  ])
    expect(isLoopback(host), host).toBe(false);
});

test("a link that works only on this machine causes a warning, and so does an unencrypted one", () => {
  expect(warningFor("http://localhost:8080")).toBe("loopback");
  expect(warningFor("https://[::1]:8443")).toBe("loopback");
  expect(warningFor("http://192.168.1.20:8080")).toBe("plain");
  expect(warningFor("https://play.example")).toBeUndefined();
});
