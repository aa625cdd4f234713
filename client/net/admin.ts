/** Client of `/api/admin`. The operator's token is kept in this tab only. */
import { PliantError } from "../sdk/errors.ts";
import { request } from "../sdk/connection/roomRequests.ts";
import type { Role } from "../../shared/members/roles.ts";

export interface Person {
  member: number;
  name: string;
  color: string;
  role: Role;
  connected: boolean;
  /** Session id as in the server's log. */
  session: string;
  address: string;
  subject: string | null;
}

export interface AdminRoom {
  room: string;
  scene: string;
  /** Process that steps the room, or its address if it does not answer; null: no process has the room. */
  owner: string | null;
  /** Number of connected members. */
  members: number;
  pool: string;
  createdAt: string;
  /** Set if the room is quarantined: it is not served until an operator has looked at it. */
  quarantined?: { reason: string; since: string; details: string };
  /** State that only the owning process knows; null while it does not answer. */
  inside: Inside | null;
}

interface Inside {
  tick: number;
  timeDilation: number;
  heldBodies: number[];
  /** Step time over the ticks of the last ten seconds, s. */
  stepSeconds: { mean: number; p99: number };
  /** Share of one thread's time, lately. Absent from processes of an older version. */
  threadShare?: number;
  memoryBytes?: number;
  /** Part of `memoryBytes` that has been in use. */
  memoryUsedBytes?: number;
  /** Tick time of the scene on this machine, if it exceeds the budget; absent: it fits. */
  overBudget?: { medianSeconds: number; budgetSeconds: number };
  checkpointAgeSeconds: number;
  access: { locked: boolean; password: boolean; ownersOnly: boolean; bans: number };
  people: Person[];
}

/** A quarantined row of a room: it was damaged, or came after a damaged one. */
export interface QuarantinedPiece {
  id: number;
  what: "checkpoint" | "journal" | "members";
  tick: number;
  /** Why the row could not be used. */
  reason: string;
  /** ISO 8601. */
  at: string;
  bytes: number;
}

/** A process on the same store, as it describes itself. */
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

/** A model file that a visitor uploaded. */
export interface AdminObject {
  object: string;
  name: string;
  bytes: number;
  /** Address of the uploader; null: an operator. */
  address: string | null;
  createdAt: string;
  /** Number of rooms that use it; it cannot be deleted while there are any. */
  rooms: number;
}

export interface AdminObjects {
  objects: AdminObject[];
  mostObjects: number;
  mostBytes: number;
}

/** A scene in the gallery. */
export interface AdminSaved {
  saved: string;
  title: string;
  bytes: number;
  /** Address of the owner who saved it; null: an operator. */
  address: string | null;
  createdAt: string;
}

export interface AdminSavedScenes {
  scenes: AdminSaved[];
  mostScenes: number;
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

/** Returns this tab's token; undefined if there is none or the browser refuses storage. Closing the tab deletes it. */
export function keptToken(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

/** @param token undefined: delete the stored token */
export function keepToken(token: string | undefined): void {
  try {
    if (token === undefined) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
  } catch {
    // The browser refuses storage: the token lives as long as the page.
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

  /** Empty if the server has no store. */
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
  async savedScenes(): Promise<AdminSavedScenes> {
    return (await (await this.#ask("GET", "/api/admin/saved-scenes")).json()) as AdminSavedScenes;
  }

  async deleteSaved(saved: string): Promise<void> {
    await this.#ask("DELETE", `/api/admin/saved-scenes/${encodeURIComponent(saved)}`);
  }

  /** Newest first. */
  async audit(limit: number): Promise<AuditEntry[]> {
    return ((await (await this.#ask("GET", `/api/admin/audit?limit=${limit}`)).json()) as { entries: AuditEntry[] })
      .entries;
  }

  /** @param banSeconds length of the ban; undefined: the member may return at once */
  async kick(room: string, member: number, banSeconds?: number): Promise<void> {
    await this.#ask("POST", `${inAdmin(room)}/kick`, banSeconds === undefined ? { member } : { member, banSeconds });
  }

  /** Shows a text to all members of the room. */
  async announce(room: string, text: string): Promise<void> {
    await this.#ask("POST", `${inAdmin(room)}/announce`, { text });
  }

  async dispose(room: string): Promise<void> {
    await this.#ask("DELETE", inAdmin(room));
  }

  /** Hands the room over to another process. */
  async handOver(room: string): Promise<void> {
    await this.#ask("POST", `${inAdmin(room)}/hand-over`);
  }

  /** Lets a quarantined room be served again. @param from the last state, or the start of its scene */
  async endQuarantine(room: string, from: "end" | "start"): Promise<void> {
    await this.#ask("POST", `${inAdmin(room)}/end-quarantine`, { from });
  }

  /** The room's last minutes, for `npm run replay`, and the file's name. */
  recording(room: string): Promise<Download> {
    return this.#download(`${inAdmin(room)}/recording`, `${room}.pliant`);
  }

  /** Quarantined rows of the room, oldest first. */
  async quarantinedPieces(room: string): Promise<QuarantinedPiece[]> {
    return (
      (await (await this.#ask("GET", `${inAdmin(room)}/quarantined-pieces`)).json()) as { pieces: QuarantinedPiece[] }
    ).pieces;
  }

  /** A quarantined row as it was stored, and the file's name. */
  quarantinedPieceBytes(room: string, id: number): Promise<Download> {
    return this.#download(`${inAdmin(room)}/quarantined-pieces/${id}`, `${room}-quarantined-pieces-${id}.bin`);
  }

  async deleteQuarantinedPiece(room: string, id: number): Promise<void> {
    await this.#ask("DELETE", `${inAdmin(room)}/quarantined-pieces/${id}`);
  }

  /** @param unnamed file name to use if the server sends none */
  async #download(path: string, unnamed: string): Promise<Download> {
    const answer = await this.#ask("GET", path);
    const [, name = unnamed] = /filename="([\w.-]+)"/.exec(answer.headers.get("content-disposition") ?? "") ?? [];
    return { content: await answer.blob(), name };
  }

  /** @throws PliantError 401 or 403 if the token is not an operator's */
  #ask(method: string, path: string, body?: object): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#token}` };
    if (body) headers["content-type"] = "application/json";
    return request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }
}

const inAdmin = (room: string): string => `/api/admin/rooms/${encodeURIComponent(room)}`;

/** True if the server did not accept the operator's token: it is wrong or has expired. */
export const isDenied = (error: unknown): boolean =>
  error instanceof PliantError && (error.status === 401 || error.status === 403);
