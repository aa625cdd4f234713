/**
 * One member of a room: who it is, what it holds, and its socket while it has one. A session may outlive its socket and
 * be resumed.
 */
import { randomBytes } from "node:crypto";
import type { Entry } from "../auth/auth.ts";
import { fingerprint } from "../auth/secrets.ts";
import { Limits } from "../../shared/protocol/protocol.ts";
import type { Connection } from "./connection.ts";
import { cleanName } from "./requestRanges.ts";
import type { Grab, Point } from "../../shared/protocol/fromServer.ts";
import type { Role } from "../../shared/roles.ts";
import type { SimpleMode } from "./simpleMode.ts";
import { TokenBucket } from "./tokenBucket.ts";

/** What is kept of a session that was before. */
interface KeptSession {
  id?: string;
  mark: string;
}

export class Session {
  /** For logs; not a secret. */
  readonly id: string;
  /**
   * Whoever has it may resume this session. Never logged. Of a session that outlived its server it is known only once
   * somebody has brought it.
   */
  token: string;
  /** The token's fingerprint: what is kept, and compared. */
  readonly mark: string;
  readonly member: number;
  name: string;
  color: string;
  /** As what it was let in, and by what. */
  entry: Entry;
  connection: Connection | null = null;
  /** It is being stored, and its socket is welcomed then: nobody else gets its seat. */
  arriving = false;
  /** While the socket is lost: ends the session when nobody resumes it. */
  expiry: NodeJS.Timeout | null = null;
  readonly grabs = new Map<number, Grab>();
  cursor: Point | null = null;
  /** The next frame must be a keyframe: it has just joined, or missed a frame. No deltas until then. */
  needsKeyframe = true;
  lastKeyframeMs = -Infinity;
  /** Of a member in simple mode: when it gets a frame; null: it takes keyframes and deltas. */
  simple: SimpleMode | null = null;
  /** It is told of contact that begins. */
  hearsContacts = false;
  /** When it last put a body in. */
  lastSpawnMs = -Infinity;
  /** How many messages it may send to the others; a new socket does not fill it. */
  readonly messages = new TokenBucket(Limits.messagesPerSecond, Limits.messageBurst, performance.now());
  /** Impulses that it may still give, in impulses of the largest size. */
  readonly impulses = new TokenBucket(Limits.impulsesPerSecond, Limits.impulsesPerSecond, performance.now());
  /** Its hands go to everyone with the next hands message. */
  handsChanged = false;

  /** @param kept of a session that was before; absent: a new one */
  constructor(member: number, name: string | undefined, color: string, entry: Entry, kept?: KeptSession) {
    this.member = member;
    this.entry = entry;
    this.id = kept?.id ?? randomBytes(4).toString("hex");
    this.token = kept === undefined ? randomBytes(16).toString("hex") : "";
    this.mark = kept?.mark ?? fingerprint(this.token);
    this.name = name ?? cleanName(entry.name) ?? `guest ${member}`;
    this.color = color;
  }

  get connected(): boolean {
    return this.connection !== null;
  }

  get role(): Role {
    return this.entry.role;
  }
}
