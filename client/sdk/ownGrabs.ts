/** The grabs of this member: their ids, and the rate of their moves. */
import type { GrabOptions, SurfacePoint } from "../../shared/protocol/fromClient.ts";
import type { Point } from "../../shared/protocol/fromServer.ts";
import { Hand, type HandHost } from "./hand.ts";

/** Moves of all grabs together stay below the server's inputs a second, which grabs and releases share. */
const MOVES_PER_SECOND = 48;
/** Least time between two moves of one grab, ms: the server's send interval. */
const MOVE_INTERVAL_MS = 33;
/** Grab ids wrap around long before two live grabs could share one. */
const GRAB_IDS = 60_000;

export class OwnGrabs {
  readonly #host: HandHost;
  readonly #live = new Set<Hand>();
  #begun = 0;

  constructor({ send, checkTarget }: Pick<HandHost, "send" | "checkTarget">) {
    this.#host = {
      send,
      checkTarget,
      intervalMs: () => Math.max(MOVE_INTERVAL_MS, (1000 * this.#live.size) / MOVES_PER_SECOND),
      released: (hand) => void this.#live.delete(hand),
    };
  }

  get live(): Hand[] {
    return [...this.#live];
  }

  begin(at: SurfacePoint, target: Point, how: GrabOptions): Hand {
    this.#begun = (this.#begun % GRAB_IDS) + 1;
    const hand = new Hand(this.#begun, at, target, this.#host, how);
    this.#live.add(hand);
    return hand;
  }
}
