/** Participants and data for the conformance tests of stores (conformance.ts). */
import { test } from "vitest";
import type { Holder, Lease, RoomRecord, Store } from "../../../server/store/store.ts";

/** Term of the leases, s: long enough for calls within the term on a busy machine. */
export const TERM = 1.2;
/** Size of the audit log; enough for the other tests' entries. */
export const AUDIT_ENTRIES = 30;
export const afterTerm = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1000 * TERM + 100));

export const [ann, bob, cleo]: Holder[] = ["ann", "bob", "cleo"].map((process) => ({
  process,
  url: `http://${process}:8080`,
}));

let made = 0;
export const record = (name = `room-${++made}`): RoomRecord => ({
  name,
  scene: "bunny",
  pool: "shared",
  createdAt: new Date(1e12 + made).toISOString(),
  settings: {},
});
export const bytes = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 7) & 255);

/** A new room that Ann owns. */
export async function heldRoom(store: Store): Promise<Lease> {
  const answer = await store.createRoom(record(), ann);
  if (!answer.created) throw new Error("the name was taken");
  return answer.lease;
}

/** The same room, now owned by Bob. */
export async function takenRoom(store: Store, other: Store, lease: Lease): Promise<Lease> {
  await store.release(lease);
  return (await other.claim(lease.room, bob)) as Lease;
}

export const contentsOf = async (store: Store, room: string): Promise<unknown> => [
  await store.room(room).then((found) => found?.settings),
  await store.checkpointTicks(room),
  await store.readJournal(room, -Infinity),
  await store.readMembers(room),
];

export interface Provider {
  /** Opens the same database again, as another process. */
  open(): Promise<Store>;
}

/** Tests that are written once and run against each of several implementations. */
export class Conformance {
  private readonly tests: [title: string, run: () => Promise<void>][] = [];

  readonly test = (title: string, run: () => Promise<void>): void => void this.tests.push([title, run]);

  /** Defines the tests in the calling block. */
  run(): void {
    for (const [title, run] of this.tests) test(title, run);
  }
}
