/** One grab of this member. */
import { build, type GrabOptions, type SurfacePoint } from "../../shared/protocol/fromClient.ts";
import type { Point } from "../../shared/protocol/fromServer.ts";

export interface GrabHost {
  send: (bytes: Uint8Array) => void;
  /** @throws PliantError BAD_ARGUMENT */
  checkTarget: (field: string, to: unknown) => Point;
  /** Least time between two moves of one grab, ms. */
  intervalMs: () => number;
  released: (hand: Grab) => void;
}

/** Returned by `room.grab`. It ends by `release`, a lost connection, a reset, or when its body is taken out. */
export class Grab {
  /** Id of the grab, unique within this member. */
  readonly id: number;
  readonly at: Readonly<SurfacePoint>;
  /** Grabs the same place of all bodies in `topology.interaction.together`. */
  readonly together: boolean;
  readonly #host: GrabHost;
  #target: Point;
  #held = true;
  /** A newer target waits until the next move may be sent. */
  #pending = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: number, at: SurfacePoint, target: Point, host: GrabHost, { together = false }: GrabOptions = {}) {
    this.id = id;
    this.at = at;
    this.#target = target;
    this.together = together;
    this.#host = host;
    host.send(build.grab(id, at, target, { together }));
  }

  /** True while the grab is alive, as far as this client knows. */
  get held(): boolean {
    return this.#held;
  }

  /** Target of the pull, m. */
  get target(): Readonly<Point> {
    return this.#target;
  }

  /**
   * Pulls to a new target. May be called at any rate: the newest target is sent as soon as the next move is allowed.
   * Ignored after the grab has ended.
   * @throws PliantError BAD_ARGUMENT
   */
  move(to: Point): void {
    this.#target = this.#host.checkTarget("to", to);
    if (!this.#held) return;
    if (this.#timer === undefined) this.#flush();
    else this.#pending = true;
  }

  /** Releases the grab. May be called twice. */
  release(): void {
    if (!this.#held) return;
    if (this.#pending) this.#host.send(build.move(this.id, this.#target));
    this.#host.send(build.release(this.id));
    this.end();
  }

  /** Ends the grab without a message, after the server has released it. */
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
