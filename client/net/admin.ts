/** What operators may ask for: /api/admin with their token, which lives in this tab only. */
import { PliantError } from "../sdk/errors.ts";
import { request } from "../sdk/http.ts";
import type { Role } from "../../shared/roles.ts";

export interface Person {
  member: number;
  name: string;
  color: string;
  role: Role;
  connected: boolean;
  /** As in the server's log. */
  session: string;
  address: string;
  subject: string | null;
}

export interface AdminRoom {
  room: string;
  scene: string;
  /** Process that steps it, or its address if it does not answer; null: nobody does. */
  owner: string | null;
  /** Connected ones. */
  members: number;
  pool: string;
  createdAt: string;
  /** Nobody serves it until an operator has looked at it; absent: it is not. */
  parked?: { reason: string; since: string; details: string };
  /** What only its process knows; null while that does not answer. */
  inside: Inside | null;
}

interface Inside {
  tick: number;
  timeDilation: number;
  heldBodies: number[];
  /** Of the last ten seconds' ticks, s. */
  stepSeconds: { mean: number; p99: number };
  /** Of one thread's time, lately. Not told by a process of an older version. */
  threadShare?: number;
  memoryBytes?: number;
  /** Of it, what has been in use. */
  memoryUsedBytes?: number;
  /** Of the scene, on this machine; absent: its ticks fit. */
  overBudget?: { medianSeconds: number; budgetSeconds: number };
  checkpointAgeSeconds: number;
  access: { locked: boolean; password: boolean; ownersOnly: boolean; bans: number };
  people: Person[];
}

/** A piece of a room that was damaged, or lay behind one that was. */
export interface SetAsidePiece {
  id: number;
  what: "checkpoint" | "journal" | "members";
  tick: number;
  /** Why it could not be used. */
  reason: string;
  /** ISO 8601. */
  at: string;
  bytes: number;
}

/** One of the servers on the same store, as it says of itself. */
export interface AdminProcess {
  process: string;
  url: string;
  publicUrl: string | null;
  version: string;
  state: "starting" | "ready" | "draining";
  /** Share of its threads' time, 0 to 1. */
  load: number;
  rooms: number;
  maxRooms: number;
  members: number;
  memoryBytes: number;
}

/** A file that somebody brought. */
export interface AdminObject {
  object: string;
  name: string;
  bytes: number;
  /** null: an operator's. */
  address: string | null;
  createdAt: string;
  /** Rooms that have it; it cannot be deleted while there are any. */
  rooms: number;
}

export interface AdminObjects {
  objects: AdminObject[];
  mostObjects: number;
  mostBytes: number;
}

export interface AuditEntry {
  at: string;
  actor: string;
  action: string;
  room: string | null;
  details: Record<string, unknown>;
}

interface Download {
  content: Blob;
  name: string;
}

const KEY = "pliant.admin";

/** Of this tab: gone when it is closed. Undefined where there is none, or the browser keeps nothing. */
export function keptToken(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

/** @param token undefined: forget it */
export function keepToken(token: string | undefined): void {
  try {
    if (token === undefined) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
  } catch {
    // A window that keeps nothing: the token lives as long as the page.
  }
}

export class AdminApi {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async rooms(): Promise<AdminRoom[]> {
    const { rooms } = (await (await this.#ask("GET", "/api/admin/rooms")).json()) as {
      rooms: (Omit<AdminRoom, "inside"> & Partial<Inside>)[];
    };
    return rooms.map((room) => ({ ...room, inside: room.people === undefined ? null : (room as Inside) }));
  }

  /** Empty where there is no store. */
  async processes(): Promise<AdminProcess[]> {
    return ((await (await this.#ask("GET", "/api/admin/processes")).json()) as { processes: AdminProcess[] }).processes;
  }

  /** Newest first. */
  async objects(): Promise<AdminObjects> {
    return (await (await this.#ask("GET", "/api/admin/objects")).json()) as AdminObjects;
  }

  async deleteObject(object: string): Promise<void> {
    await this.#ask("DELETE", `/api/admin/objects/${encodeURIComponent(object)}`);
  }

  /** Newest first. */
  async audit(limit: number): Promise<AuditEntry[]> {
    return ((await (await this.#ask("GET", `/api/admin/audit?limit=${limit}`)).json()) as { entries: AuditEntry[] })
      .entries;
  }

  /** @param banSeconds undefined: it may come back at once */
  async kick(room: string, member: number, banSeconds?: number): Promise<void> {
    await this.#ask("POST", `${inAdmin(room)}/kick`, banSeconds === undefined ? { member } : { member, banSeconds });
  }

  /** Says something to everybody in the room. */
  async announce(room: string, text: string): Promise<void> {
    await this.#ask("POST", `${inAdmin(room)}/announce`, { text });
  }

  async dispose(room: string): Promise<void> {
    await this.#ask("DELETE", inAdmin(room));
  }

  /** Gives the room to another process. */
  async handOver(room: string): Promise<void> {
    await this.#ask("POST", `${inAdmin(room)}/hand-over`);
  }

  /** Lets a parked room be served again. @param from where it was, or its scene's beginning */
  async unpark(room: string, from: "end" | "start"): Promise<void> {
    await this.#ask("POST", `${inAdmin(room)}/unpark`, { from });
  }

  /** The room's last minutes, for `npm run replay`, and the file's name. */
  recording(room: string): Promise<Download> {
    return this.#download(`${inAdmin(room)}/recording`, `${room}.pliant`);
  }

  /** What was set aside of the room, oldest first. */
  async setAside(room: string): Promise<SetAsidePiece[]> {
    return ((await (await this.#ask("GET", `${inAdmin(room)}/set-aside`)).json()) as { pieces: SetAsidePiece[] })
      .pieces;
  }

  /** A piece as it was stored, and the file's name. */
  setAsideBytes(room: string, id: number): Promise<Download> {
    return this.#download(`${inAdmin(room)}/set-aside/${id}`, `${room}-set-aside-${id}.bin`);
  }

  async deleteSetAside(room: string, id: number): Promise<void> {
    await this.#ask("DELETE", `${inAdmin(room)}/set-aside/${id}`);
  }

  /** @param unnamed its name, should the server not give it one */
  async #download(path: string, unnamed: string): Promise<Download> {
    const answer = await this.#ask("GET", path);
    const [, name = unnamed] = /filename="([\w.-]+)"/.exec(answer.headers.get("content-disposition") ?? "") ?? [];
    return { content: await answer.blob(), name };
  }

  /** @throws PliantError; 401 and 403 when the token is none of an admin */
  #ask(method: string, path: string, body?: object): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#token}` };
    if (body) headers["content-type"] = "application/json";
    return request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }
}

const inAdmin = (room: string): string => `/api/admin/rooms/${encodeURIComponent(room)}`;

/** The token is not, or no longer, an admin's. */
export const isDenied = (error: unknown): boolean =>
  error instanceof PliantError && (error.status === 401 || error.status === 403);
