/**
 * A room in the lobby's first screen, which all visitors of the lobby share: a body to pull at once. It is a frame with
 * the room's page, loaded when the lobby is complete. Until it draws, and where it cannot, the scene's picture is
 * there.
 */
import { LOBBY_ROOM, LOBBY_SCENE } from "../../../shared/members/lobbyRoom.ts";
import { h } from "../dom.ts";
import { inBothThemes } from "./sceneCards.ts";
import { t } from "../../text/text.ts";

/** After this time without a pull the bodies return to their place, s. */
const REST_SECONDS = 30;

export class HeroBody {
  readonly element = h(
    "div",
    { class: "live-body" },
    inBothThemes(
      h("img", { src: `/thumbnails/${LOBBY_SCENE}.jpg`, alt: "", width: "640", height: "420" }),
      `/thumbnails/${LOBBY_SCENE}.dark.jpg`,
    ),
  );

  /** Call when the rest of the page is there. */
  start(): void {
    // Low screens have no place for it.
    if (this.element.offsetParent === null || savesData()) return;
    const asked = new URLSearchParams({ scene: LOBBY_SCENE, ui: "none", exhibit: String(REST_SECONDS) });
    const language = new URLSearchParams(location.search).get("lang");
    if (language) asked.set("lang", language);
    const frame = h("iframe", { src: `/r/${LOBBY_ROOM}?${asked}`, title: t("lobbyBody") });
    addEventListener("message", ({ source, data }: MessageEvent) => {
      if (source !== frame.contentWindow) return;
      const { pliant, state } = data as { pliant?: unknown; state?: unknown };
      if (pliant === "ready") this.element.classList.add("ready");
      // Refused, or without WebGL: the picture stays, and nothing tries again.
      else if (state === "ended") frame.remove();
    });
    this.element.append(frame);
  }
}

/** True if the visitor asked the browser for few bytes. */
const savesData = (): boolean =>
  (navigator as Navigator & { connection?: { saveData?: boolean } }).connection?.saveData === true;
