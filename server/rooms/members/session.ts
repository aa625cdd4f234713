/**
 * One member of a room: its identity, its grabs, and its socket while connected. A session may outlive its socket and
 * be resumed.
 */
import { randomBytes } from "node:crypto";
import type { Entry } from "../../auth/auth.ts";
import { fingerprint } from "../../auth/secrets.ts";
import { Limits } from "../../../shared/protocol/protocol.ts";
import type { Connection } from "./connection.ts";
import { skeletonsOf } from "./nameSkeleton.ts";
import { cleanName } from "../inputs/requestRanges.ts";
import type { Grab, Point } from "../../../shared/protocol/fromServer.ts";
import type { Role } from "../../../shared/members/roles.ts";
import type { SimpleMode } from "../broadcast/simpleMode.ts";
import { talkBudgets } from "./talkRates.ts";
import { TokenBucket } from "./tokenBucket.ts";

/** The stored part of a restored session. */
interface KeptSession {
  id?: string;
  mark: string;
}

export class Session {
  /** Name in logs; not a secret. */
  readonly id: string;
  /**
   * Secret that resumes this session. Never logged. After a restart the server knows only its fingerprint, until the
   * client sends the token.
   */
  token: string;
  /** Fingerprint of the token: stored and compared in its place. */
  readonly mark: string;
  readonly member: number;
  name: string;
  color: string;
  /** Admission of the member: its role, subject and address. */
  entry: Entry;
  connection: Connection | null = null;
  /** The session is being stored before its socket is welcomed; its seat is reserved. */
  arriving = false;
  /** Timer that ends the disconnected session unless it is resumed. */
  expiry: NodeJS.Timeout | null = null;
  readonly grabs = new Map<number, Grab>();
  cursor: Point | null = null;
  /** The member has joined or missed a frame: its next frame must be a keyframe, with no deltas before it. */
  needsKeyframe = true;
  lastKeyframeMs = -Infinity;
  /** Decides when a member in simple mode gets a frame; null: the member gets keyframes and deltas. */
  simple: SimpleMode | null = null;
  /** The member gets events of contacts that begin. */
  hearsContacts = false;
  /** Time of the member's last spawn. */
  lastSpawnMs = -Infinity;
  /** Budget of messages to other members; a new socket does not refill it. */
  readonly messages = new TokenBucket(Limits.messagesPerSecond, Limits.messageBurst, performance.now());
  /** Budgets of reactions and lines of chat. */
  readonly talk = talkBudgets(performance.now());
  /** Budget of impulses, in impulses of the largest size. */
  readonly impulses = new TokenBucket(Limits.impulsesPerSecond, Limits.impulsesPerSecond, performance.now());
  /** Budget of changes of looks. */
  readonly looks = new TokenBucket(Limits.looksPerSecond, Limits.lookBurst, performance.now());
  /** The next `grabs` message includes this member's cursor and grabs. */
  grabsChanged = false;

  #looks: { name: string; skeletons: readonly string[] } = { name: "", skeletons: [] };

  /** @param kept stored part of a restored session; absent: a new session */
  constructor(member: number, name: string | undefined, color: string, entry: Entry, kept?: KeptSession) {
    this.member = member;
    this.entry = entry;
    this.id = kept?.id ?? randomBytes(4).toString("hex");
    this.token = kept === undefined ? randomBytes(16).toString("hex") : "";
    this.mark = kept?.mark ?? fingerprint(this.token);
    this.name = name ?? cleanName(entry.name) ?? `guest ${member}`;
    this.color = color;
  }

  /** Equal skeletons are names that look the same. Kept, because every newcomer is compared with all members. */
  get skeletons(): readonly string[] {
    if (this.#looks.name !== this.name) this.#looks = { name: this.name, skeletons: skeletonsOf(this.name) };
    return this.#looks.skeletons;
  }

  get connected(): boolean {
    return this.connection !== null;
  }

  get role(): Role {
    return this.entry.role;
  }
}
