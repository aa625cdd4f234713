/**
 * Live pictures of rooms in the lobby's list: for visible rooms, one request at a time, each room every few seconds
 * while the page is visible. If a picture fails, the scene's picture stays.
 */
import { fetchPicture, type RoomSummary } from "../../net/api.ts";

/** Interval of pictures of a room, ms; the server renders one at most every 5 s. */
const EVERY_MS = 10_000;
/** Wait after a failed picture, ms. */
const FAILED_MS = 60_000;

interface Live {
  /** Object URL of the newest picture; undefined: none yet. */
  url?: string;
  /** Time of the next request, ms on performance.now(). */
  againMs: number;
}

export class LivePictures {
  readonly #pictures = new Map<string, Live>();
  #asking = false;

  /** Call after each refresh of the list. @param element holds a link with `data-room` and an image for each room */
  show(list: readonly RoomSummary[], element: HTMLElement): void {
    for (const [room, { url }] of this.#pictures) {
      if (list.some((other) => other.room === room && other.picture !== undefined)) continue;
      if (url !== undefined) URL.revokeObjectURL(url);
      this.#pictures.delete(room);
    }
    for (const { room } of list) this.#put(room, element);
    if (!this.#asking) void this.#ask(list, element);
  }

  async #ask(list: readonly RoomSummary[], element: HTMLElement): Promise<void> {
    this.#asking = true;
    for (const summary of list) {
      const { room, picture } = summary;
      const known = this.#pictures.get(room) ?? { againMs: 0 };
      if (picture === undefined || performance.now() < known.againMs) continue;
      if (document.hidden || !inSight(imageOf(room, element), element)) continue;
      this.#pictures.set(room, known);
      known.againMs = performance.now() + EVERY_MS;
      const content = await fetchPicture(summary).catch(() => undefined);
      if (content === undefined) known.againMs = performance.now() + FAILED_MS;
      // The room may have ended meanwhile.
      if (content === undefined || this.#pictures.get(room) !== known) continue;
      if (known.url !== undefined) URL.revokeObjectURL(known.url);
      known.url = URL.createObjectURL(content);
      this.#put(room, element);
    }
    this.#asking = false;
  }

  #put(room: string, element: HTMLElement): void {
    const url = this.#pictures.get(room)?.url;
    const image = imageOf(room, element);
    if (!image || url === undefined || image.src === url) return;
    image.src = url;
    image.className = "live";
  }
}

const imageOf = (room: string, element: HTMLElement): HTMLImageElement | null =>
  element.querySelector(`a[data-room="${CSS.escape(room)}"] img`);

/** True if the image is visible in both the list and the window. */
function inSight(image: HTMLElement | null, list: HTMLElement): boolean {
  if (!image) return false;
  const { top, bottom, left, right } = image.getBoundingClientRect();
  const within = list.getBoundingClientRect();
  const beside = right > within.left && left < within.right;
  return beside && bottom > Math.max(0, within.top) && top < Math.min(innerHeight, within.bottom);
}
