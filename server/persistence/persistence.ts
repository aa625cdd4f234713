/** Persistence of the rooms of this process. */
import type { Holder, Listing, Store } from "../store/store.ts";
import type { JournalWriter } from "./journalWriter.ts";

/** The store of the rooms, and the leases by which this process steps them. */
export interface Persistence {
  store: Store;
  holder: Holder;
  journalWriter: JournalWriter;
  /** Time until which the room's lease certainly holds, ms on performance.now(). */
  ownedUntilMs: (room: string) => number;
  /** Returns whether another process is due to take over this room, which has no owner now. */
  isOthers: (room: Listing) => Promise<boolean>;
}
