/** What the cluster needs of this process's rooms. The registry (rooms/registry.ts) is the one that has them. */
import type { Lease, Listing } from "../store/store.ts";

/** restart: its process died on this machine. takeover: its lease ran out. handover: its process gave it up. */
export type AdoptCause = "restart" | "takeover" | "handover";

/** How busy a room that is open here keeps its thread. */
export interface RoomLoad {
  name: string;
  /** Of one thread's time; 0 for a room with a thread of its own. */
  share: number;
  /** How long it has been here, ms. */
  residentMs: number;
  /** Ticks on shared threads, is not on trial, is not going back, is not handed over already. */
  movable: boolean;
}

export interface ClusterRooms {
  /** Is it open here, or being opened, or over and still to be removed from the store? */
  serves(room: string): boolean;
  /** Is it open here, so that one may go in? */
  isOpen(room: string): boolean;
  /** Connected members; 0 for a room that is not open here. */
  members(room: string): number;
  /** Rooms that are open here. */
  names(): string[];
  /** Of the rooms that are open here. Absent: nobody knows. */
  loads?(): RoomLoad[];
  /** A parked room of another version: is this process of that version? Absent: no. */
  reads?(listing: Listing): Promise<boolean>;
  /**
   * To be asked before a room is claimed, with the attempt that this makes: a room's last one is made alone. Absent: at
   * once. @returns to be called when it is adopted, or not
   */
  turn?(attempts: number): Promise<() => void>;
  /**
   * Restores the room from the store and serves it under this lease. Rejects when that cannot be done; the caller
   * releases the lease. Resolves with null when nobody should serve it: it is parked then, and the lease is over.
   */
  adopt(listing: Listing, lease: Lease, cause: AdoptCause): Promise<unknown>;
  /**
   * The last state into the store, lease released, sockets closed with "restarting". Nothing of it may be lost, so it
   * may take a while.
   */
  handOver(room: string): Promise<void>;
  /**
   * The lease is somebody else's: stops the room at once and writes nothing. Sockets are closed with "restarting";
   * clients find the new owner by themselves.
   */
  drop(room: string): Promise<void>;
}
