/** The cluster's view of this process's rooms. The registry (rooms/registry.ts) implements it. */
import type { Lease, Listing } from "../store/store.ts";

/** restart: its process died on this machine. takeover: its lease expired. handover: its process handed it over. */
export type TakeOverCause = "restart" | "takeover" | "handover";

/** Load of a room that is open here. */
export interface RoomLoad {
  name: string;
  /** Share of one thread's time; 0 for a room with its own thread. */
  share: number;
  /** Time since it was opened here, ms. */
  residentMs: number;
  /** True if the room may be moved: it ticks on shared threads, has settled, and no undo or hand-over is under way. */
  movable: boolean;
}

export interface ClusterRooms {
  /** Whether the room is open here, being opened, or ended but still in the store. */
  serves(room: string): boolean;
  /** Whether the room is open here, so that members can join. */
  isOpen(room: string): boolean;
  /** Connected members; 0 for a room that is not open here. */
  members(room: string): number;
  /** Names of the rooms that are open here. */
  names(): string[];
  /** Loads of the rooms that are open here. Absent: unknown. */
  loads?(): RoomLoad[];
  /** Whether this process can read a room that is quarantined because of its version. Absent: no. */
  reads?(listing: Listing): Promise<boolean>;
  /**
   * Call it before a room is claimed, with the number of this attempt: a room's last attempt runs alone. Absent: no
   * wait.
   * @returns call it when the takeover has ended
   */
  turn?(attempts: number): Promise<() => void>;
  /**
   * Restores the room from the store and serves it under this lease. If it rejects, the caller releases the lease.
   * Resolves with null if the room was quarantined, which ends the lease.
   */
  takeOver(listing: Listing, lease: Lease, cause: TakeOverCause): Promise<unknown>;
  /**
   * Stores the last state, releases the lease and closes the sockets with "restarting". It may take a while, because
   * nothing may be lost.
   */
  handOver(room: string): Promise<void>;
  /**
   * Stops a room at once and writes nothing, because another process has its lease. Sockets are closed with
   * "restarting", and the clients find the new owner.
   */
  drop(room: string): Promise<void>;
}
