/** One held point of a room. */
import { build, type GrabOptions, type SurfacePoint } from "../../shared/protocol/fromClient.ts";
import type { Point } from "../../shared/protocol/fromServer.ts";

export interface HandHost {
  send: (bytes: Uint8Array) => void;
  /** @throws PliantError BAD_ARGUMENT */
  checkTarget: (field: string, to: unknown) => Point;
  /** Least time between two moves of a hand, ms. */
  intervalMs: () => number;
  released: (hand: Hand) => void;
}

/** Returned by `room.grab`. It ends by `release`, with the line, by a reset, or when its body is taken out. */
export class Hand {
  /** Of this member's grabs. */
  readonly id: number;
  readonly at: Readonly<SurfacePoint>;
  /** It holds the same place of all bodies that one hand may pull. */
  readonly together: boolean;
  readonly #host: HandHost;
  #target: Point;
  #held = true;
  /** Moves come faster than they may be sent: the newest one waits. */
  #pending = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: number, at: SurfacePoint, target: Point, host: HandHost, { together = false }: GrabOptions = {}) {
    this.id = id;
    this.at = at;
    this.#target = target;
    this.together = together;
    this.#host = host;
    host.send(build.grab(id, at, target, { together }));
  }

  /** Does the server pull by this hand, as far as is known here? */
  get held(): boolean {
    return this.#held;
  }

  /** Where it pulls to, m. */
  get target(): Readonly<Point> {
    return this.#target;
  }

  /**
   * Pulls to here from now on. It may be called at any rate: the newest target is sent when the next may be. Ignored
   * when the hand has ended.
   * @throws PliantError BAD_ARGUMENT
   */
  move(to: Point): void {
    this.#target = this.#host.checkTarget("to", to);
    if (!this.#held) return;
    if (this.#timer === undefined) this.#flush();
    else this.#pending = true;
  }

  /** Lets go. May be called twice. */
  release(): void {
    if (!this.#held) return;
    if (this.#pending) this.#host.send(build.move(this.id, this.#target));
    this.#host.send(build.release(this.id));
    this.end();
  }

  /** The server has let go by itself. */
  end(): void {
    this.#held = false;
    this.#pending = false;
    clearTimeout(this.#timer);
    this.#host.released(this);
  }

  #flush(): void {
    this.#pending = false;
    this.#host.send(build.move(this.id, this.#target));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#pending) this.#flush();
    }, this.#host.intervalMs());
  }
}
