/** The pages' HTTP calls: scenes, rooms, tokens. Every failure is a PliantError whose message may be shown. */
import { isLoopback } from "../../shared/loopback.ts";
import type { Topology } from "../../shared/topology.ts";
import { PliantError } from "../sdk/errors.ts";
import { answerError, fetchTopology as fetchTopologyFrom, request } from "../sdk/http.ts";
import { keepToken, tokenFor } from "./tokens.ts";

/** Under the name that the pages have for it. */
export { PliantError as ApiError } from "../sdk/errors.ts";

export interface SceneSummary {
  id: string;
  title: string;
  description: string;
  thumbnail?: string;
  /** Path of one that the server paints, where there is none. */
  picture?: string;
  /** Address of what the physics report measures about it. */
  report?: string;
}

/** A scene file that cannot be used. */
export interface BrokenScene {
  id: string;
  error: string;
}

export interface RoomSummary {
  room: string;
  scene: string;
  members: number;
  /** Path of what it looks like just now; absent: not everybody may look in. */
  picture?: string;
  /** Where the process that has the room is reached, if it says so. */
  url?: string;
  /** Nobody serves it until an operator has looked at it. */
  parked?: { reason: string };
}

/** Processes that could not be asked from here. */
const unreachable = new Set<string>();

/**
 * Asks the process that has the room, if it says where it is and can be reached from here; otherwise the one that the
 * page came from, which asks it. For what is large.
 * @param path of the room, from its name on. @throws PliantError
 */
export async function requestOwner(room: string, path: string, init: RequestInit): Promise<Response> {
  const name = encodeURIComponent(room);
  const own = `/api/rooms/${name}${path}`;
  const { url } = (await fetchRoom(room).catch(() => undefined)) ?? {};
  const base = url === undefined ? undefined : otherOrigin(url, location.origin);
  if (base === undefined || unreachable.has(base)) return request(own, init);
  try {
    return await request(`${base}${own}`, init);
  } catch (error) {
    if (!(error instanceof PliantError && error.status === 0) || init.signal?.aborted) throw error;
    unreachable.add(base);
    return request(own, init);
  }
}

/**
 * @param url of the process that has a room
 * @param page origin of the page
 * @returns its origin; undefined: it is the page's own, no address, or one that a page which came over TLS may not ask
 */
export function otherOrigin(url: string, page: string): string | undefined {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return undefined;
  const { origin, protocol } = new URL(url);
  return origin === page || (page.startsWith("https:") && protocol === "http:") ? undefined : origin;
}

/** Lists come bare or under one key; this takes both. */
function listOf<T>(body: unknown, key: string): T[] {
  const list = Array.isArray(body) ? body : (body as Record<string, unknown>)[key];
  return Array.isArray(list) ? (list as T[]) : [];
}

/** `broken` is told to whoever runs the server, on its own machine; to others it is empty. */
export async function fetchScenes(): Promise<{ scenes: SceneSummary[]; broken: BrokenScene[] }> {
  const body: unknown = await (await request("/api/scenes")).json();
  return { scenes: listOf(body, "scenes"), broken: listOf(body, "broken") };
}

export async function fetchRooms(): Promise<RoomSummary[]> {
  return listOf(await (await request("/api/rooms", { headers: bearer(undefined) })).json(), "rooms");
}

/** What the room looks like. @throws PliantError */
export async function fetchPicture({ room, picture }: RoomSummary): Promise<Blob> {
  return (await request(picture!, { headers: bearer(room) })).blob();
}

/** @throws PliantError 404 when the scene's file is gone */
export async function fetchScene(scene: string): Promise<SceneSummary> {
  return (await (await request(`/api/scenes/${encodeURIComponent(scene)}`)).json()) as SceneSummary;
}

/** What was ignored, found or mended in a file that somebody brought. */
export interface ObjectNote {
  code: string;
  text: string;
  /** x, y, z in parts of its size. */
  at?: number[];
}

interface OpenedRoom extends RoomSummary {
  token?: string;
  /** What was found in the surfaces of its objects. */
  notes?: ObjectNote[];
}

/** Creates a room; answers when its scene has been built, which may take seconds for a large mesh. */
export async function createRoom(scene: string, room?: string): Promise<OpenedRoom> {
  const response = await request("/api/rooms", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(room) },
    body: JSON.stringify(room ? { scene, room } : { scene }),
  });
  const made = (await response.json()) as OpenedRoom;
  // Whoever opens a room owns it.
  if (made.token !== undefined) keepToken(made.room, made.token);
  return made;
}

/** What was found in a file that somebody brought. */
export interface BroughtObject {
  object: string;
  name: string;
  picture: string;
  triangles: number;
  materials: number;
  notes: ObjectNote[];
}

/**
 * Brings a file along; `fetch` would not say how much of it is sent.
 * @param sent told what share of it is. @throws PliantError; DOMException when it was aborted
 */
export function bringObject(file: File, sent: (share: number) => void, signal: AbortSignal): Promise<BroughtObject> {
  return new Promise((resolve, reject) => {
    const asked = new XMLHttpRequest();
    asked.open("POST", `/api/objects?name=${encodeURIComponent(file.name)}`);
    for (const [name, value] of Object.entries(bearer(undefined))) asked.setRequestHeader(name, value);
    asked.setRequestHeader("content-type", "application/octet-stream");
    asked.responseType = "json";
    asked.upload.onprogress = ({ loaded, total }) => sent(total > 0 ? loaded / total : 1);
    asked.upload.onload = () => sent(1);
    asked.onerror = () => reject(new PliantError("UNREACHABLE", { status: 0 }));
    asked.onload = () => {
      const { status, response } = asked;
      if (status === 200 || status === 201) resolve(response as BroughtObject);
      else reject(answerError(status, response));
    };
    signal.addEventListener("abort", () => {
      asked.abort();
      reject(signal.reason as Error);
    });
    asked.send(file);
  });
}

/** A scene of an object. @param into id of the scene that it comes into. @throws PliantError */
export async function composeScene(
  choice: { object: string; role: string; material: string; size: number },
  into: string | undefined,
): Promise<string> {
  const response = await request("/api/scenes", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(undefined) },
    body: JSON.stringify(into === undefined ? choice : { ...choice, scene: into }),
  });
  return ((await response.json()) as { scene: string }).scene;
}

/** How far the scene's build is; undefined: nobody says. */
export async function fetchProgress(scene: string): Promise<{ stage: string; done: number } | undefined> {
  const answer = await request(`/api/scenes/${encodeURIComponent(scene)}/progress`).catch(() => undefined);
  const said = (await answer?.json()) as { building: boolean; stage: string; done: number } | undefined;
  return said?.building ? said : undefined;
}

/** @returns undefined when there is no such room */
export async function fetchRoom(room: string): Promise<RoomSummary | undefined> {
  try {
    return (await (
      await request(`/api/rooms/${encodeURIComponent(room)}`, { headers: bearer(room) })
    ).json()) as RoomSummary;
  } catch (error) {
    if (error instanceof PliantError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * A link to the room that lets its bearer in as this.
 * @throws PliantError 401 or 403 when this browser has no owner's token
 */
export async function invite(room: string, role: "player" | "spectator"): Promise<string> {
  const response = await request("/api/tokens", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(room) },
    body: JSON.stringify({ room, role }),
  });
  return (await shareOrigin()) + ((await response.json()) as { path: string }).path;
}

/** Origin that others can open: the page's own, but for a page that only this machine can open the server's. */
export async function shareOrigin(): Promise<string> {
  if (!isLoopback(location.hostname)) return location.origin;
  const answer = await request("/api/address").catch(() => undefined);
  const { url } = ((await answer?.json()) ?? {}) as { url?: string | null };
  return url && URL.canParse(url) ? new URL(url).origin : location.origin;
}

/** The room goes back by this many seconds, for its owners. @throws PliantError */
export async function undo(room: string, seconds: number): Promise<void> {
  await request(`/api/rooms/${encodeURIComponent(room)}/undo`, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(room) },
    body: JSON.stringify({ seconds }),
  });
}

/** The recording as a file, with this browser's token for the room. @throws PliantError */
export async function fetchRecording(room: string): Promise<Blob> {
  return (await requestOwner(room, "/recording", { headers: bearer(room) })).blob();
}

/** The room's scene with what its owners have changed, as a file. @throws PliantError */
export async function fetchTunedScene(room: string): Promise<Blob> {
  return (await request(`/api/rooms/${encodeURIComponent(room)}/scene`, { headers: bearer(room) })).blob();
}

/** Headers that say who asks. */
export function authorized(room: string): Record<string, string> {
  return bearer(room);
}

function bearer(room: string | undefined): Record<string, string> {
  const token = tokenFor(room);
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** The topology of a content hash; the browser caches it for good. */
export const fetchTopology = (hash: string): Promise<Topology> => fetchTopologyFrom("", hash);

export function socketUrl(room: string): string {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  return `${scheme}//${location.host}/api/rooms/${encodeURIComponent(room)}/socket`;
}
