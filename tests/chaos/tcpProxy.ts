/**
 * A line between a server and its database that can be cut: broken (connections reset, new ones refused), or silent
 * (bytes vanish, nothing is closed), as real networks do.
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
          // Whoever is cut off does not learn of the other side's end either.
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

  /** Everything is reset, and nobody gets through. */
  break(): void {
    this.#mode = "broken";
    this.#endAll();
  }

  /** Nothing comes through, and nobody is told. */
  silence(): void {
    this.#mode = "silent";
  }

  /** As before. Lines that were silent are reset: bytes are missing in them. */
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
