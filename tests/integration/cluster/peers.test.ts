/**
 * Traffic between processes, seen by a listener in between. Credentials have the same value at every process, and
 * neither tokens nor passwords are in the bytes; with TLS nothing is readable.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { TokenMint } from "../../../server/auth/tokens.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { lacks } from "../../support/run/tools.ts";
import { findOpenssl, makeCertificate } from "../../support/certificate.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const ADMIN = "an-operators-own-token";
const SECRET = "the secret that both processes of this suite share";

/** A proxy that keeps all bytes that it passes to its target. */
class Listener {
  target = 0;
  readonly heard: Buffer[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((near) => {
      const far = connect(this.target, "127.0.0.1");
      near.on("data", (data: Buffer) => void this.heard.push(data));
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => {}).on("close", () => [near, far].forEach((one) => one.destroy()));
      }
    });
  }

  static async open(): Promise<Listener> {
    const listener = new Listener();
    await new Promise<void>((resolve) => listener.#server.listen(0, "127.0.0.1", resolve));
    return listener;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.heard);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** Tests whether the text is in the bytes, plain or under any of WebSocket's masks of four bytes. */
function holds(bytes: Buffer, text: string): boolean {
  const wanted = Buffer.from(text);
  for (let at = 0; at + wanted.length <= bytes.length; at++) {
    let k = 4;
    while (k < wanted.length && (bytes[at + k]! ^ wanted[k]!) === (bytes[at + k - 4]! ^ wanted[k - 4]!)) k++;
    if (k === wanted.length) return true;
  }
  return false;
}

test("the check finds a text under a mask", () => {
  const masked = Buffer.from(Buffer.from("xx0123456789yy").map((byte, i) => byte ^ [1, 2, 3, 4][i & 3]!));
  expect([holds(masked, "0123456789"), holds(masked, "0123456780")]).toEqual([true, false]);
});

const openssl = findOpenssl();

describe.each(["http", "https"])("between processes over %s", (scheme) => {
  const folder = testFolder("peers");
  let line: Listener;
  let owner: TestServer;
  let other: TestServer;
  const skipped = scheme === "https" && lacks("openssl", openssl);

  beforeAll(async () => {
    if (skipped) return;
    line = await Listener.open();
    const tls = scheme === "https" ? makeCertificate(openssl as string, folder) : null;
    const common = { store: "sqlite", dataDir: folder, tokenSecrets: [SECRET], adminToken: ADMIN };
    owner = await startTestServer({
      ...common,
      advertiseUrl: `${scheme}://127.0.0.1:${line.port}`,
      ...(tls && { tlsCert: tls.cert, tlsKey: tls.key }),
    });
    line.target = Number(new URL(owner.url).port);
    other = await startTestServer({ ...common, ...(tls && { clusterCa: tls.cert }) });
  });
  afterAll(async () => {
    line?.close();
    await other?.close();
    await owner?.close();
  });

  test.skipIf(skipped)("credentials have the same value, and are not in the bytes", async () => {
    // The room is at the first process, so that the second one has to forward everything.
    await owner.app.registry.create({ scene: "cube", name: "far" });
    const { token } = await new TokenMint([SECRET]).sign({ room: "far", role: "owner", seconds: 3600 });
    const at = `${other.url}/api/rooms/far`;
    const bearer = { headers: { authorization: `Bearer ${token}` } };

    const lady = await Bot.join(other.url, "far", { joinToken: token, name: "Ada" });
    expect(lady.welcome.role).toBe("owner");
    lady.setAccess({ password: "open sesame" });
    await lady.until(() => lady.access?.password === true, "the password");
    const guest = await Bot.join(other.url, "far", { password: "open sesame" });
    expect(guest.welcome.role).toBe("player");
    expect((await Bot.connect(other.url, "far", { password: "open barley" }).untilClosed()).code).toBe(
      CloseCode.passwordNeeded,
    );
    expect((await Bot.connect(other.url, "far").untilClosed()).code).toBe(CloseCode.passwordNeeded);
    guest.drop();
    const back = await Bot.join(other.url, "far", { resume: guest.welcome.token });
    expect(back.welcome.member).toBe(guest.welcome.member);
    // An invalid token is invalid there, too.
    const forged = await Bot.join(other.url, "far", { joinToken: `${token}x`, password: "open sesame" });
    await forged.until(() => forged.notices.some(({ code }) => code === "TOKEN_INVALID"), "the notice");

    expect((await fetch(`${at}/positions`)).status).toBe(401);
    expect((await fetch(`${at}/positions`, bearer)).status).toBe(200);
    expect((await fetch(`${at}/positions`, { headers: { authorization: "Bearer none" } })).status).toBe(401);
    const listed = await fetch(`${other.url}/api/admin/rooms`, { headers: { authorization: `Bearer ${ADMIN}` } });
    const { rooms } = (await listed.json()) as { rooms: { room: string; tick?: number }[] };
    // Only the owner knows the tick.
    expect(rooms).toMatchObject([{ room: "far", tick: expect.any(Number) }]);

    const { bytes } = line;
    expect(bytes.length).toBeGreaterThan(1000);
    for (const secret of [token, ADMIN, "open sesame", guest.welcome.token]) expect(holds(bytes, secret)).toBe(false);
    expect(holds(bytes, "x-pliant-hop")).toBe(scheme === "http");
    expect(holds(bytes, "/api/rooms/far/positions")).toBe(scheme === "http");

    await Promise.all([lady, back, forged].map((bot) => bot.leave()));
    expect((await fetch(at, { method: "DELETE", ...bearer })).status).toBe(204);
    expect(owner.app.registry.find("far")).toBeUndefined();
  });

  // Over https nothing is readable: the test before this one shows it.
  if (scheme === "https") return;
  test("captured messages cannot be replayed, neither here nor at another process", async () => {
    await owner.app.registry.create({ scene: "cube", name: "heard" });
    line.heard.length = 0;
    await fetch(`${other.url}/api/admin/rooms`, { headers: { authorization: `Bearer ${ADMIN}` } });
    const head = line.bytes.toString("latin1");
    const ticket = /x-pliant-hop: (\S+)/i.exec(head)?.[1] as string;
    const path = /GET (\S+)/.exec(head)?.[1] as string;
    const statusAt = async ({ url }: TestServer): Promise<number> =>
      (await fetch(`${url}${path}`, { headers: { "x-pliant-hop": ticket } })).status;
    // Used already, and for another process.
    expect([await statusAt(owner), await statusAt(other)].sort()).toEqual([401, 503]);
  });
});
