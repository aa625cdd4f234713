/** HTTP calls of gallery and palette, and the tokens of the scenes that this browser saved. */
import { bearer, post, request } from "../sdk/connection/roomRequests.ts";
import { authorized } from "./api.ts";
import { tokenFor } from "./tokens.ts";

export interface SavedScene {
  saved: string;
  title: string;
  /** Id of the scene to open a room with. */
  scene: string;
  /** Id of the scene, or of the saved scene, that it was made from. */
  origin: string;
  createdAt: string;
  picture: string;
}

const KEY = "pliant.saved";
/** Number of tokens kept: those of the scenes saved last. */
const KEPT = 200;

function tokens(): Record<string, string> {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof known === "object" && known !== null ? (known as Record<string, string>) : {};
  } catch {
    return {};
  }
}

function keep(all: Record<string, string>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(all).slice(-KEPT))));
  } catch {
    // The browser refuses storage: the scene stays, but only an operator can change it.
  }
}

/** True if this browser may rename and delete the scene. */
export const isOwn = ({ saved }: SavedScene): boolean => Object.hasOwn(tokens(), saved);

/** Newest first. @throws PliantError */
export async function fetchGallery(): Promise<SavedScene[]> {
  const answer = await request("/api/saved-scenes", { headers: authorized(undefined) });
  return ((await answer.json()) as { scenes: SavedScene[] }).scenes;
}

/** Saves the room's scene with its owners' changes. @throws PliantError */
export async function saveRoom(room: string, title: string): Promise<SavedScene> {
  const answer = await post(`/api/rooms/${encodeURIComponent(room)}/scene`, { title }, tokenFor(room));
  const { token, ...saved } = (await answer.json()) as SavedScene & { token: string };
  keep({ ...tokens(), [saved.saved]: token });
  return saved;
}

/** @throws PliantError */
export async function renameSaved({ saved }: SavedScene, title: string): Promise<SavedScene> {
  const headers = { "content-type": "application/json", ...bearer(tokens()[saved]) };
  const answer = await request(addressOf(saved), { method: "PATCH", headers, body: JSON.stringify({ title }) });
  return (await answer.json()) as SavedScene;
}

/** @throws PliantError */
export async function deleteSaved({ saved }: SavedScene): Promise<void> {
  const { [saved]: token, ...others } = tokens();
  await request(addressOf(saved), { method: "DELETE", headers: bearer(token) });
  keep(others);
}

/** Gives the room a palette. @returns number of new objects; 0: it had them. @throws PliantError */
export async function givePalette(room: string): Promise<number> {
  const answer = await post(`/api/rooms/${encodeURIComponent(room)}/palette`, {}, tokenFor(room));
  return ((await answer.json()) as { added: number }).added;
}

const addressOf = (saved: string): string => `/api/saved-scenes/${encodeURIComponent(saved)}`;
