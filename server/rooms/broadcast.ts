/**
 * From one tick's encoded frames to every member's socket. Each message is encoded once and the same bytes go to
 * everyone, all messages of a tick in one write (wireFrame.ts). On an
 * ordered socket the last frame queued to a client is a valid base, so a client either gets every delta of the room's
 * chain, or none until its next keyframe.
 *
 *     bufferedAmount   <= 64 KiB   frames flow
 *                       > 64 KiB   frames, hands and stats are skipped; a keyframe follows once it has drained to a
 *                                  quarter of that
 *                       > 1 MiB    closed with `tooSlow` (a keyframe larger than that raises the limit to twice its
 *                                  size)
 */
import { CloseCode, Limits } from "../../shared/protocol.ts";
import type { BytesKind, Metrics } from "../metrics/metrics.ts";
import type { EncodedMessage } from "../workers/messages.ts";
import { encodeHands } from "./serverMessages.ts";
import type { Session } from "./session.ts";
import { wireFrames } from "./wireFrame.ts";

/** One message to many. */
export interface Outgoing {
  kind: BytesKind;
  bytes: Uint8Array;
}

/** Messages that go to a group of clients in one write, and to how many they went. */
class Parcel {
  readonly messages: readonly Outgoing[];
  receivers = 0;
  #frames: Buffer | null = null;

  constructor(messages: readonly Outgoing[]) {
    this.messages = messages;
  }

  /** Built for the first who gets it. */
  get frames(): Buffer {
    return (this.#frames ??= wireFrames(this.messages.map(({ bytes }) => bytes)));
  }
}

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
  return (
    session.connection.bufferedBytes <= DRAINED_BYTES &&
    performance.now() - session.lastKeyframeMs >= KEYFRAME_INTERVAL_MS
  );
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

  /**
   * Sends what a tick has: the keyframe to those who asked and can take it, the delta to those who are in the chain,
   * and what goes beside it to everyone who is not congested, before the frame: who has a frame knows whose hands made
   * it. What is lost of that is replaced by the next of its kind or by the keyframe.
   */
  tick(tick: number, delta: EncodedMessage | null, keyframe: EncodedMessage | null, beside: readonly Outgoing[]): void {
    if (keyframe) this.#largestKeyframe = Math.max(this.#largestKeyframe, keyframe.bytes.byteLength);
    const inChain = new Parcel(delta ? [...beside, delta] : beside);
    const outside = new Parcel(beside);
    let anew: Parcel | null = null;
    for (const session of this.#sessions.values()) {
      if (!this.#canTake(session)) {
        if (session.connection && (delta || keyframe)) this.#skipFrame(session);
      } else if (!session.needsKeyframe) {
        this.#write(session, inChain);
      } else if (keyframe && wantsKeyframe(session)) {
        session.needsKeyframe = false;
        session.lastKeyframeMs = performance.now();
        // Hands are sent as changes, so whoever starts anew needs all of them.
        anew ??= new Parcel([
          ...beside,
          { kind: "hands", bytes: encodeHands(tick, this.#sessions.values()) },
          keyframe,
        ]);
        this.#write(session, anew);
      } else {
        this.#write(session, outside);
      }
    }
    for (const parcel of [inChain, outside, anew]) if (parcel) this.#count(parcel);
  }

  /** To everyone, congested or not: rare and small. */
  certain(bytes: Uint8Array, kind: BytesKind): void {
    const parcel = new Parcel([{ kind, bytes }]);
    for (const session of this.#sessions.values()) if (session.connection?.isOpen) this.#write(session, parcel);
    this.#count(parcel);
  }

  /** From one member to all others who are not congested: it is neither kept nor sent again. */
  relay(bytes: Uint8Array, from: Session): void {
    const parcel = new Parcel([{ kind: "other", bytes }]);
    for (const session of this.#sessions.values())
      if (session !== from && this.#canTake(session)) this.#write(session, parcel);
    this.#count(parcel);
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

  #write(session: Session, parcel: Parcel): void {
    if (parcel.messages.length === 0) return;
    session.connection!.write(parcel.frames);
    parcel.receivers += 1;
  }

  /** Once for all receivers: a counter's labels cost more than a write's own bookkeeping. */
  #count({ messages, receivers }: Parcel): void {
    if (receivers === 0) return;
    for (const { kind, bytes } of messages) {
      const sent = receivers * bytes.byteLength;
      this.#bytes += sent;
      this.#metrics.bytesOut.inc({ kind }, sent);
    }
  }
}
