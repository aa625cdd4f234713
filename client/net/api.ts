/**
 * HTTP calls of the pages: scenes, rooms, tokens. Every failure is a PliantError whose message may be shown to users.
 */
import { isLoopback } from "../../shared/loopback.ts";
import type { SceneTexts } from "../../shared/scene/sceneSettings.ts";
import type { Topology } from "../../shared/topology.ts";
import { PliantError } from "../sdk/errors.ts";
import {
  answerError,
  bearer,
  fetchTopology as fetchTopologyFrom,
  isMissing,
  post,
  request,
} from "../sdk/connection/roomRequests.ts";
import { keepToken, tokenFor } from "./tokens.ts";

/** Pages call the SDK's error by this name. */
export { PliantError as ApiError } from "../sdk/errors.ts";

export interface SceneSummary {
  id: string;
  title: string;
  description: string;
  /** A suggestion what to try in the scene, and a remark. */
  try?: string;
  notice?: string;
  /** All texts by other languages. */
  texts?: Partial<Record<string, SceneTexts>>;
  thumbnail?: string;
  darkThumbnail?: string;
  /** Path of a picture that the server renders, if the scene has no thumbnail. */
  picture?: string;
  /** Kinds of its bodies. */
  kinds: readonly string[];
  /** True if it reproduces a figure of a paper. */
  lesson: boolean;
  /** URL of this scene's section in the physics report, if there is a report. */
  report?: string;
}

/** A scene file that failed to load. */
export interface BrokenScene {
  id: string;
  error: string;
}

export interface RoomSummary {
  room: string;
  scene: string;
  members: number;
  /** Path of a current picture of the room; absent if not everyone may look in. */
  picture?: string;
  /** Address of the process that has the room, if it publishes one. */
  url?: string;
  /** Set if the room is quarantined: it is not served until an operator has looked at it. */
  quarantined?: { reason: string };
}

/** Origins of processes that this browser could not reach. */
const unreachable = new Set<string>();

/**
 * Sends a request to the process that has the room, if its address is known and reachable. Otherwise sends it to the
 * page's own origin, which forwards it. Used for large answers, to save the forwarding.
 * @param path below the room's own path. @throws PliantError
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
 * @returns the origin of `url`; undefined if it is the page's own, invalid, or plain HTTP while the page uses TLS
 */
export function otherOrigin(url: string, page: string): string | undefined {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return undefined;
  const { origin, protocol } = new URL(url);
  return origin === page || (page.startsWith("https:") && protocol === "http:") ? undefined : origin;
}

/** Reads a list that comes bare or under one key. */
function listOf<T>(body: unknown, key: string): T[] {
  const list = Array.isArray(body) ? body : (body as Record<string, unknown>)[key];
  return Array.isArray(list) ? (list as T[]) : [];
}

/** `broken` lists scene files that failed to load. Only the operator, on the server's own machine, receives it. */
export async function fetchScenes(): Promise<{ scenes: SceneSummary[]; broken: BrokenScene[] }> {
  const body: unknown = await (await request("/api/scenes")).json();
  return { scenes: listOf(body, "scenes"), broken: listOf(body, "broken") };
}

export async function fetchRooms(): Promise<RoomSummary[]> {
  return listOf(await (await request("/api/rooms", { headers: authorized(undefined) })).json(), "rooms");
}

/** Fetches a picture of the room's current state. @throws PliantError */
export async function fetchPicture({ room, picture }: RoomSummary): Promise<Blob> {
  return (await request(picture!, { headers: authorized(room) })).blob();
}

/** @throws PliantError 404 if the scene's file was deleted */
export async function fetchScene(scene: string): Promise<SceneSummary & { scene: SceneTexts }> {
  return (await (await request(`/api/scenes/${encodeURIComponent(scene)}`)).json()) as SceneSummary & {
    scene: SceneTexts;
  };
}

/** A finding about an uploaded model: a part that was ignored, or a defect that was found or repaired. */
export interface ObjectNote {
  code: string;
  text: string;
  /** x, y, z as fractions of the model's size. */
  at?: number[];
}

interface OpenedRoom extends RoomSummary {
  token?: string;
  /** Findings about the surfaces of its uploaded models. */
  notes?: ObjectNote[];
}

/** Creates a room. Resolves when its scene has been built, which may take seconds for a large mesh. */
export async function createRoom(scene: string, room?: string): Promise<OpenedRoom> {
  const response = await post("/api/rooms", room ? { scene, room } : { scene }, tokenFor(room));
  const made = (await response.json()) as OpenedRoom;
  // The member who creates a room owns it.
  if (made.token !== undefined) keepToken(made.room, made.token);
  return made;
}

/** Result of an upload. */
export interface BroughtObject {
  object: string;
  name: string;
  picture: string;
  triangles: number;
  materials: number;
  notes: ObjectNote[];
}

/**
 * Uploads a model file. Uses XMLHttpRequest, because `fetch` reports no upload progress.
 * @param sent receives the share that has been sent. @throws PliantError; DOMException if aborted
 */
export function bringObject(file: File, sent: (share: number) => void, signal: AbortSignal): Promise<BroughtObject> {
  return new Promise((resolve, reject) => {
    const asked = new XMLHttpRequest();
    asked.open("POST", `/api/objects?name=${encodeURIComponent(file.name)}`);
    for (const [name, value] of Object.entries(authorized(undefined))) asked.setRequestHeader(name, value);
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

/** Creates a scene from a model. @param into id of the scene that the model is added to. @throws PliantError */
export async function composeScene(
  choice: { object: string; name: string; role: string; material: string; size: number },
  into: string | undefined,
): Promise<string> {
  const body = into === undefined ? choice : { ...choice, scene: into };
  const response = await post("/api/scenes", body, tokenFor(undefined));
  return ((await response.json()) as { scene: string }).scene;
}

/** Progress of the scene's build; undefined if no build is running. */
export async function fetchProgress(scene: string): Promise<{ stage: string; done: number } | undefined> {
  const answer = await request(`/api/scenes/${encodeURIComponent(scene)}/progress`).catch(() => undefined);
  const said = (await answer?.json()) as { building: boolean; stage: string; done: number } | undefined;
  return said?.building ? said : undefined;
}

/** @returns undefined if there is no such room */
export async function fetchRoom(room: string): Promise<RoomSummary | undefined> {
  try {
    return (await (
      await request(`/api/rooms/${encodeURIComponent(room)}`, { headers: authorized(room) })
    ).json()) as RoomSummary;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Returns a link that admits its bearer with this role.
 * @throws PliantError 401 or 403 if this browser has no owner's token
 */
export async function invite(room: string, role: "player" | "spectator"): Promise<string> {
  const response = await post("/api/tokens", { room, role }, tokenFor(room));
  return (await shareOrigin()) + ((await response.json()) as { path: string }).path;
}

/** Addresses of the server, as far as this page may know them. */
export interface ServerAddresses {
  /** Address of this server for invitations. */
  url?: string | null;
  /** Origin of the rooms, for pages on the operations port. */
  visitors?: string | null;
  /** Origin of operations page and API documentation, for pages on the server's own machine. */
  operations?: string | null;
}

export async function fetchAddresses(): Promise<ServerAddresses> {
  const answer = await request("/api/address").catch(() => undefined);
  return ((await answer?.json()) ?? {}) as ServerAddresses;
}

/**
 * Origin for links to share: the page's own; the server's network address if the page's own works only on this
 * computer.
 */
export async function shareOrigin(): Promise<string> {
  if (!isLoopback(location.hostname)) return location.origin;
  const { url } = await fetchAddresses();
  return url && URL.canParse(url) ? new URL(url).origin : location.origin;
}

/** Takes the room back by this many seconds; for owners. @throws PliantError */
export async function undo(room: string, seconds: number): Promise<void> {
  await post(`/api/rooms/${encodeURIComponent(room)}/undo`, { seconds }, tokenFor(room));
}

/** Downloads the room's recording, with this browser's token for the room. @throws PliantError */
export async function fetchRecording(room: string): Promise<Blob> {
  return (await requestOwner(room, "/recording", { headers: authorized(room) })).blob();
}

/** Downloads the room's scene, with the changes of its owners, as a scene file. @throws PliantError */
export async function fetchTunedScene(room: string): Promise<Blob> {
  return (await request(`/api/rooms/${encodeURIComponent(room)}/scene`, { headers: authorized(room) })).blob();
}

/** Authorization headers for requests about a room. @param room undefined: for the lobby's own requests */
export const authorized = (room: string | undefined): Record<string, string> => bearer(tokenFor(room));

/** Fetches a topology by its content hash; the browser caches it permanently. */
export const fetchTopology = (hash: string): Promise<Topology> => fetchTopologyFrom("", hash);
