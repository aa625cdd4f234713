/**
 * From one tick's encoded frames to every member's socket. Each message is encoded once and the same bytes go to everyone. On an
 * ordered socket the last frame queued to a client is a valid base, so a client either gets every delta of the room's chain, or
 * none until its next keyframe.
 *
 *     bufferedAmount   <= 64 KiB   frames flow
 *                       > 64 KiB   frames, hands and stats are skipped; a keyframe follows once it has drained to a quarter of that
 *                       > 1 MiB    closed with `tooSlow` (a keyframe larger than that raises the limit to twice its size)
 */
import { CloseCode, Limits } from "../../shared/protocol.ts";
import type { BytesKind, Metrics } from "../metrics/metrics.ts";
import type { EncodedMessage } from "../workers/messages.ts";
import { encodeHands } from "./serverMessages.ts";
import type { Session } from "./session.ts";

/** A congested socket counts as drained at this many buffered bytes. */
export const DRAINED_BYTES = Limits.backpressureBytes / 4;

export type Congestion = "flowing" | "skip" | "close";

/** @param largestKeyframe bytes of the largest keyframe of the room: one of them queued must not count as slowness */
export function congestion(bufferedBytes: number, largestKeyframe: number): Congestion {
  if (bufferedBytes > Math.max(Limits.tooSlowBytes, 2 * largestKeyframe)) return "close";
  return bufferedBytes > Limits.backpressureBytes ? "skip" : "flowing";
}

/** Least time between two keyframes to one client, ms: asking for them in a loop must not double the room's traffic. */
const KEYFRAME_INTERVAL_MS = 250;

/** True when a keyframe should be encoded for this session with the next frame. */
export function wantsKeyframe(session: Session): boolean {
  if (!session.needsKeyframe || !session.connection?.isOpen) return false;
  return session.connection.bufferedBytes <= DRAINED_BYTES && performance.now() - session.lastKeyframeMs >= KEYFRAME_INTERVAL_MS;
}

export class Broadcast {
  readonly #sessions: ReadonlyMap<number, Session>;
  readonly #metrics: Metrics;
  #largestKeyframe = 0;
  /** Payload bytes to all clients since `takeBytes`. */
  #bytes = 0;

  constructor(sessions: ReadonlyMap<number, Session>, metrics: Metrics) {
    this.#sessions = sessions;
    this.#metrics = metrics;
  }

  /** Sends a tick's frames: the keyframe to those who asked and can take it, the delta to those who are in the chain. */
  frames(tick: number, delta: EncodedMessage | null, keyframe: EncodedMessage | null): void {
    if (keyframe) this.#largestKeyframe = Math.max(this.#largestKeyframe, keyframe.bytes.byteLength);
    for (const session of this.#sessions.values()) {
      if (!this.#canTake(session)) {
        if (session.connection && (delta || keyframe)) this.#skipFrame(session);
      } else if (!session.needsKeyframe) {
        if (delta) this.#send(session, delta.bytes, "delta");
      } else if (keyframe && wantsKeyframe(session)) {
        session.needsKeyframe = false;
        session.lastKeyframeMs = performance.now();
        this.#send(session, keyframe.bytes, "keyframe");
        // Hands are sent as changes, so whoever starts anew needs all of them.
        this.#send(session, encodeHands(tick, this.#sessions.values()), "hands");
      }
    }
  }

  /** To everyone who is not congested; what is lost here is replaced by the next of its kind or by the keyframe. */
  fleeting(bytes: Uint8Array, kind: BytesKind): void {
    for (const session of this.#sessions.values()) if (this.#canTake(session)) this.#send(session, bytes, kind);
  }

  /** To everyone, congested or not: rare and small. */
  certain(bytes: Uint8Array, kind: BytesKind): void {
    for (const session of this.#sessions.values()) this.#send(session, bytes, kind);
  }

  /** Payload bytes sent since the last call. */
  takeBytes(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  #canTake(session: Session): boolean {
    const { connection } = session;
    if (!connection?.isOpen) return false;
    const state = congestion(connection.bufferedBytes, this.#largestKeyframe);
    if (state === "close") connection.close(CloseCode.tooSlow, "too slow: more than 1 MiB waits for this client");
    return state === "flowing";
  }

  #skipFrame(session: Session): void {
    session.needsKeyframe = true;
    this.#metrics.framesSkipped.inc();
  }

  #send(session: Session, bytes: Uint8Array, kind: BytesKind): void {
    if (!session.connection) return;
    this.#bytes += bytes.byteLength;
    session.connection.send(bytes, kind);
  }
}
