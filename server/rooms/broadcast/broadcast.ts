/**
 * Sends one tick's encoded frames to every member. Each message is encoded once, all members get the same bytes, and
 * all messages of a tick go out in one write (wireFrame.ts). On an ordered socket the last frame queued to a client is
 * a valid base. Therefore a client gets either every delta of the room's chain, or none until its next keyframe.
 * Members in simple mode get only whole frames, at a lower rate.
 *
 *     bufferedAmount   <= 64 KiB   frames flow
 *                       > 64 KiB   frames, grabs and stats are skipped; a keyframe follows after the buffer has drained
 *                                  to a quarter of that
 *                       > 1 MiB    closed with `tooSlow` (a keyframe larger than that raises the limit to twice its
 *                                  size)
 */
import { CloseCode, Limits } from "../../../shared/protocol/protocol.ts";
import type { BytesKind, Metrics } from "../../metrics/metrics.ts";
import type { EncodedMessage, Frames, StepTask } from "../../workers/messages.ts";
import { encodeGrabs } from "../../../shared/protocol/fromServer.ts";
import type { Session } from "../members/session.ts";
import { wireFrames } from "./wireFrame.ts";

/** One message to several members. */
export interface Outgoing {
  kind: BytesKind;
  bytes: Uint8Array;
}

/** Messages that a group of clients gets in one write, and the number of its receivers. */
class Parcel {
  readonly messages: readonly Outgoing[];
  receivers = 0;
  #frames: Buffer | null = null;

  constructor(messages: readonly Outgoing[]) {
    this.messages = messages;
  }

  /** Built when the first receiver needs it. */
  get frames(): Buffer {
    return (this.#frames ??= wireFrames(this.messages.map(({ bytes }) => bytes)));
  }
}

/** Parcels of one tick, for the different groups of members. */
class Parcels {
  readonly #beside: readonly Outgoing[];
  readonly #allGrabs: () => Uint8Array;
  readonly #inStep = new Map<EncodedMessage | null, Parcel>();
  readonly #anew = new Map<EncodedMessage, Parcel>();

  constructor(beside: readonly Outgoing[], allGrabs: () => Uint8Array) {
    this.#beside = beside;
    this.#allGrabs = allGrabs;
  }

  /** @param anew the member starts with this frame; since only changed grabs are sent, it needs all of them now */
  of(frame: EncodedMessage | null, anew: boolean): Parcel {
    const parcels = anew && frame ? this.#anew : this.#inStep;
    let parcel = parcels.get(frame!);
    if (!parcel) {
      const grabs: Outgoing[] = anew && frame ? [{ kind: "grabs", bytes: this.#allGrabs() }] : [];
      parcel = new Parcel([...this.#beside, ...grabs, ...(frame ? [frame] : [])]);
      parcels.set(frame!, parcel);
    }
    return parcel;
  }

  *made(): Iterable<Parcel> {
    yield* this.#inStep.values();
    yield* this.#anew.values();
  }
}

/** A congested socket counts as drained at this many buffered bytes. */
export const DRAINED_BYTES = Limits.backpressureBytes / 4;

export type Congestion = "flowing" | "skip" | "close";

/**
 * @param largestAlone bytes of the room's largest complete frame: one such frame in the queue does not count as slow
 */
export function congestion(bufferedBytes: number, largestAlone: number): Congestion {
  if (bufferedBytes > Math.max(Limits.tooSlowBytes, 2 * largestAlone)) return "close";
  return bufferedBytes > Limits.backpressureBytes ? "skip" : "flowing";
}

/** Least time between two keyframes to one client, ms: repeated requests must not double the room's traffic. */
const KEYFRAME_INTERVAL_MS = 250;

/** True when a keyframe should be encoded for this session with the next frame. */
function wantsKeyframe(session: Session): boolean {
  if (!session.needsKeyframe || !session.connection?.isOpen) return false;
  return (
    session.connection.bufferedBytes <= DRAINED_BYTES &&
    performance.now() - session.lastKeyframeMs >= KEYFRAME_INTERVAL_MS
  );
}

export class Broadcast {
  readonly #sessions: ReadonlyMap<number, Session>;
  readonly #metrics: Metrics;
  readonly #tickHz: number;
  #largestAlone = 0;
  /** Payload bytes to all clients since `takeBytes`. */
  #bytes = 0;

  constructor(sessions: ReadonlyMap<number, Session>, metrics: Metrics, tickHz: number) {
    this.#sessions = sessions;
    this.#metrics = metrics;
    this.#tickHz = tickHz;
  }

  /** Returns whether a connected member listens to contact events. */
  get hearsContacts(): boolean {
    for (const { hearsContacts, connection } of this.#sessions.values()) if (hearsContacts && connection) return true;
    return false;
  }

  /** Frames to encode beside the delta: for members that joined, fell behind, or are in simple mode. */
  wanted(tick: number): Pick<StepTask, "keyframe" | "positions"> {
    let keyframe = false;
    let moving = false;
    let always = false;
    for (const session of this.#sessions.values()) {
      const { simple, connection } = session;
      if (simple === null) {
        keyframe ||= wantsKeyframe(session);
      } else if (connection?.isOpen && connection.bufferedBytes <= Limits.backpressureBytes && simple.asks(tick)) {
        moving = true;
        always ||= simple.behind || session.needsKeyframe;
      }
    }
    return { keyframe, ...(moving && { positions: always ? "always" : "moving" }) };
  }

  /**
   * Sends one tick. Members that asked for a keyframe get it if their socket has drained; members in the chain get the
   * delta; members in simple mode get positions if they are due. The other messages go first to every member that is
   * not congested, so that a member that has the frame also has the grabs that caused it. A lost message is replaced by
   * the next of its kind or by the keyframe.
   */
  tick(tick: number, frames: Frames, beside: readonly Outgoing[]): void {
    const { delta, keyframe, positions } = frames;
    const any = delta ?? keyframe ?? positions;
    for (const alone of [keyframe, positions])
      if (alone) this.#largestAlone = Math.max(this.#largestAlone, alone.bytes.byteLength);
    const parcels = new Parcels(beside, () => encodeGrabs(tick, this.#sessions.values()));
    for (const session of this.#sessions.values()) {
      if (this.#canTake(session)) {
        const frame = this.#frameFor(session, tick, frames);
        this.#write(session, parcels.of(frame, session.needsKeyframe));
        if (frame) session.needsKeyframe = false;
      } else if (session.connection && any) {
        this.#skipFrame(session);
      }
    }
    for (const parcel of parcels.made()) this.#count(parcel);
  }

  /** Chooses the frame of this tick for this member, if any. */
  #frameFor(session: Session, tick: number, { moved, delta, keyframe, positions }: Frames): EncodedMessage | null {
    const { simple } = session;
    if (simple?.hasAsked(tick)) {
      if (positions) simple.sent(tick, positions.bytes.byteLength, this.#tickHz);
      return positions;
    }
    if (simple) {
      simple.behind ||= moved;
      return null;
    }
    if (!session.needsKeyframe) return delta;
    if (!keyframe || !wantsKeyframe(session)) return null;
    session.lastKeyframeMs = performance.now();
    return keyframe;
  }

  /** Sends to all members, congested or not: such messages are rare and small. */
  certain(bytes: Uint8Array, kind: BytesKind): void {
    this.certainly([{ kind, bytes }]);
  }

  /** Like `certain`, with several messages in one write. */
  certainly(messages: readonly Outgoing[]): void {
    const parcel = new Parcel(messages);
    for (const session of this.#sessions.values()) if (session.connection?.isOpen) this.#write(session, parcel);
    this.#count(parcel);
  }

  /** Sends to members that are not congested; the message is neither stored nor sent again. */
  relay(bytes: Uint8Array, reaches: (session: Session) => boolean): void {
    const parcel = new Parcel([{ kind: "other", bytes }]);
    for (const session of this.#sessions.values())
      if (reaches(session) && this.#canTake(session)) this.#write(session, parcel);
    this.#count(parcel);
  }

  /** Like `relay`, in one write: each message goes to all members except its sender. */
  exchange(messages: readonly { from: Session; bytes: Uint8Array }[]): void {
    const parcelWithout = (session: Session | null): Parcel =>
      new Parcel(messages.filter(({ from }) => from !== session).map(({ bytes }) => ({ kind: "other", bytes })));
    const senders = new Set(messages.map(({ from }) => from));
    const whole = parcelWithout(null);
    for (const session of this.#sessions.values()) {
      if (!this.#canTake(session)) continue;
      const own = senders.has(session) ? parcelWithout(session) : whole;
      this.#write(session, own);
      if (own !== whole) this.#count(own);
    }
    this.#count(whole);
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
    const state = congestion(connection.bufferedBytes, this.#largestAlone);
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

  /** Counts once for all receivers: labelled counters cost more than the bookkeeping of a write. */
  #count({ messages, receivers }: Parcel): void {
    if (receivers === 0) return;
    for (const { kind, bytes } of messages) {
      const sent = receivers * bytes.byteLength;
      this.#bytes += sent;
      this.#metrics.bytesOut.inc({ kind }, sent);
    }
  }
}
