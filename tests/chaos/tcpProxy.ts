/**
 * A connection between a server and its database that can fail as in real networks. Broken: connections are reset and
 * new ones refused. Silent: bytes vanish and nothing is closed.
 */
import { type Server, type Socket, connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";

export class TcpProxy {
  #mode: "open" | "broken" | "silent" = "open";
  readonly #server: Server;
  readonly #pairs = new Set<[Socket, Socket]>();

  private constructor(target: number) {
    this.#server = createServer((near) => {
      if (this.#mode === "broken") return void near.resetAndDestroy();
      const far = connect(target, "127.0.0.1");
      const pair: [Socket, Socket] = [near, far];
      this.#pairs.add(pair);
      for (const [from, to] of [pair, [far, near] as const]) {
        from.setNoDelay(true);
        from.on("data", (data) => {
          if (this.#mode === "open") to.write(data);
        });
        from.on("error", () => {});
        from.on("close", () => {
          this.#pairs.delete(pair);
          // While silent, neither side learns of the other side's end.
          if (this.#mode !== "silent") to.destroy();
        });
      }
    });
  }

  /** @param target port on 127.0.0.1 */
  static async open(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets all connections and refuses new ones. */
  break(): void {
    this.#mode = "broken";
    this.#endAll();
  }

  /** Drops all bytes without an error. */
  silence(): void {
    this.#mode = "silent";
  }

  /** Forwards again. Connections that were silent are reset, because they have lost bytes. */
  heal(): void {
    const was = this.#mode;
    this.#mode = "open";
    if (was === "silent") this.#endAll();
  }

  close(): void {
    this.#endAll();
    this.#server.close();
  }

  #endAll(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
    this.#pairs.clear();
  }
}
