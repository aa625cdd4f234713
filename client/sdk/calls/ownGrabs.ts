/** The grabs of this member. */
import { build, type GrabOptions, type SurfacePoint } from "../../../shared/protocol/fromClient.ts";
import type { Point } from "../../../shared/protocol/fromServer.ts";

/** Moves of all grabs together stay below the server's inputs a second, which grabs and releases share. */
const MOVES_PER_SECOND = 48;
/** Least time between two moves of one grab, ms: the server's send interval. */
const MOVE_INTERVAL_MS = 33;
/** Grab ids wrap around long before two live grabs could share one. */
const GRAB_IDS = 60_000;

/** Live grabs of this member: their ids, and the rate of their moves. */
export class OwnGrabs {
  readonly live = new Set<Grab>();
  readonly send: (bytes: Uint8Array) => void;
  /** @throws PliantError BAD_ARGUMENT */
  readonly checkTarget: (field: string, to: unknown) => Point;
  #begun = 0;

  constructor(send: OwnGrabs["send"], checkTarget: OwnGrabs["checkTarget"]) {
    this.send = send;
    this.checkTarget = checkTarget;
  }

  begin(at: SurfacePoint, target: Point, how: GrabOptions): Grab {
    this.#begun = (this.#begun % GRAB_IDS) + 1;
    const grab = new Grab(this.#begun, at, target, this, how);
    this.live.add(grab);
    return grab;
  }

  /** Shortest time between two moves of one grab, ms. It grows with the number of live grabs. */
  get intervalMs(): number {
    return Math.max(MOVE_INTERVAL_MS, (1000 * this.live.size) / MOVES_PER_SECOND);
  }
}

/** Returned by `room.grab`. It ends by `release`, a lost connection, a reset, or when its body is taken out. */
export class Grab {
  /** Id of the grab, unique within this member. */
  readonly id: number;
  readonly at: Readonly<SurfacePoint>;
  /** Grabs the same place of all bodies in `topology.interaction.together`. */
  readonly together: boolean;
  readonly #grabs: OwnGrabs;
  #target: Point;
  #held = true;
  /** A newer target waits until the next move may be sent. */
  #pending = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: number, at: SurfacePoint, target: Point, grabs: OwnGrabs, { together = false }: GrabOptions = {}) {
    this.id = id;
    this.at = at;
    this.#target = target;
    this.together = together;
    this.#grabs = grabs;
    grabs.send(build.grab(id, at, target, { together }));
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
    this.#target = this.#grabs.checkTarget("to", to);
    if (!this.#held) return;
    if (this.#timer === undefined) this.#flush();
    else this.#pending = true;
  }

  /** Sends the newest target if it waits. */
  settle(): void {
    if (this.#pending) this.#flush();
  }

  /** Releases the grab. May be called twice. */
  release(): void {
    if (!this.#held) return;
    this.settle();
    this.#grabs.send(build.release(this.id));
    this.end();
  }

  /** Ends the grab without a message, after the server has released it. */
  end(): void {
    this.#held = false;
    this.#pending = false;
    clearTimeout(this.#timer);
    this.#grabs.live.delete(this);
  }

  #flush(): void {
    this.#pending = false;
    this.#grabs.send(build.move(this.id, this.#target));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#pending) this.#flush();
    }, this.#grabs.intervalMs);
  }
}
