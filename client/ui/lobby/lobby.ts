/** The lobby: the open rooms, and the scenes for new ones. */
import "../../styles/lobby.css";
import {
  createRoom,
  fetchAddresses,
  fetchRooms,
  fetchScenes,
  type RoomSummary,
  type SceneSummary,
} from "../../net/api.ts";
import { Bring } from "../upload/uploadButton.ts";
import { h, icon } from "../dom.ts";
import { LOBBY_ROOM, LOBBY_SCENE } from "../../../shared/members/lobbyRoom.ts";
import { HeroBody } from "./heroBody.ts";
import { LivePictures } from "./livePictures.ts";
import { sceneSections } from "./sceneCards.ts";
import { problemText } from "../../text/problem.ts";
import { LANGUAGES, t, textsOf, tParts } from "../../text/text.ts";

/** Interval of refreshes of the list of rooms while the page is visible, ms. */
const REFRESH_MS = 2500;
/** The body to pull is loaded this time after the scenes, ms: their pictures come first. */
const BODY_AFTER_MS = 700;

export function openLobby(app: HTMLElement): void {
  document.title = t("lobbyDocument");
  const scenes = h("section", { class: "scenes", "aria-label": t("lobbyScenes") });
  const rooms = h("ul", { class: "rooms", "aria-live": "polite" });
  const footer = h(
    "footer",
    {},
    operatorsLinks(),
    h("a", { href: "/gallery" }, t("gallery")),
    h("a", { href: "/materials" }, t("materials")),
    languages(),
    h("span", {}, t("lobbyFooter")),
  );
  // Both appear together, when their final place is known, so that nothing jumps.
  scenes.hidden = footer.hidden = true;
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const say = (text: string | undefined) => {
    problem.hidden = text === undefined;
    problem.textContent = text ?? "";
  };
  const body = new HeroBody();
  const open = h("section", { class: "live-rooms", id: "live", hidden: true }, h("h2", {}, t("lobbyLiveRooms")), rooms);
  const toOpen = h("a", { class: "to-live", href: "#live", hidden: true });
  app.replaceChildren(
    h("div", { class: "lobby" }, hero(toOpen, body.element, say), h("main", {}, problem, scenes, open), footer),
  );

  const list = new LiveRooms(rooms, open, toOpen, say);
  const refresh = async () => {
    if (document.hidden || !(await list.refresh())) return;
    if (scenes.childElementCount > 0) say(undefined);
  };
  void fetchScenes().then(
    ({ scenes: all, broken }) => {
      for (const scene of all) list.known.set(scene.id, scene);
      scenes.replaceChildren(...sceneSections(all, broken, say));
      scenes.hidden = footer.hidden = false;
      void refresh();
      if (list.known.has(LOBBY_SCENE)) setTimeout(() => body.start(), BODY_AFTER_MS);
    },
    (error: unknown) => {
      footer.hidden = false;
      say(problemText(error));
    },
  );
  setInterval(() => void refresh(), REFRESH_MS);
  document.addEventListener("visibilitychange", () => void refresh());
}

/** Links that only the server's own machine gets: operators' routes have a port of their own. */
function operatorsLinks(): HTMLElement {
  const links = h("span", { class: "operators" });
  void fetchAddresses().then(({ operations }) => {
    if (!operations) return;
    links.replaceChildren(
      h("a", { href: `${operations}/admin` }, t("adminTitle")),
      h("a", { href: `${operations}/docs` }, t("httpApi")),
    );
  });
  return links;
}

/**
 * The first screen: name and purpose, a body to pull, and the ways into a room.
 * @param toOpen leads to the live rooms. @param say shows a problem
 */
function hero(toOpen: HTMLElement, body: HTMLElement, say: (text: string) => void): HTMLElement {
  const { button: bring } = new Bring(() => undefined, "button");
  return h(
    "header",
    { class: "hero" },
    h("div", { class: "brand" }, h("img", { src: "/icon.svg", alt: "", width: "36", height: "36" }), "Pliant", toOpen),
    h(
      "div",
      { class: "words" },
      h("h1", {}, ...tParts("lobbyHero", { shared: h("em", {}, t("lobbyHeroShared")) })),
      h("p", {}, t("lobbyIntro")),
    ),
    h("section", { class: "joining", "aria-label": t("join") }, openButton(say), bring, joinForm()),
    body,
  );
}

/** Opens a room of the scene in the first screen. */
function openButton(say: (text: string) => void): HTMLElement {
  const button = h("button", { class: "button primary open", type: "button" }, icon("plus"), t("openNewRoom"));
  button.addEventListener("click", () => {
    button.disabled = true;
    createRoom(LOBBY_SCENE).then(
      ({ room }) => location.assign(`/r/${encodeURIComponent(room)}`),
      (error: unknown) => {
        button.disabled = false;
        say(problemText(error));
      },
    );
  });
  // After the browser's back button it can be pressed again.
  addEventListener("pageshow", () => (button.disabled = false));
  return button;
}

/** The list of rooms; rebuilt only after a change. */
class LiveRooms {
  readonly known = new Map<string, SceneSummary>();
  readonly #list: HTMLElement;
  readonly #section: HTMLElement;
  readonly #toSection: HTMLElement;
  readonly #say: (text: string) => void;
  readonly #pictures = new LivePictures();
  #shown = "";

  /** @param section of the list; hidden without rooms. @param toSection leads there */
  constructor(list: HTMLElement, section: HTMLElement, toSection: HTMLElement, say: (text: string) => void) {
    this.#list = list;
    this.#section = section;
    this.#toSection = toSection;
    this.#say = say;
  }

  /** @returns true if the server answered; otherwise the problem has been shown */
  async refresh(): Promise<boolean> {
    try {
      const rooms = (await fetchRooms())
        .filter(({ room, members }) => members > 0 && room !== LOBBY_ROOM)
        .sort((a, b) => b.members - a.members);
      const key =
        JSON.stringify(rooms.map(({ room, scene, members, quarantined }) => [room, scene, members, quarantined])) +
        this.known.size;
      if (key !== this.#shown)
        this.#list.replaceChildren(...rooms.map((room) => roomRow(room, this.known.get(room.scene))));
      this.#section.hidden = this.#toSection.hidden = rooms.length === 0;
      this.#toSection.textContent = `${t("lobbyLiveRooms")}: ${rooms.length}`;
      this.#shown = key;
      this.#pictures.show(rooms, this.#list);
      return true;
    } catch (error) {
      this.#say(problemText(error));
      return false;
    }
  }
}

/** Each language is named in itself, so that its readers find it. */
function languages(): HTMLElement {
  const links = Object.entries(LANGUAGES).map(([tag, { name, direction }]) =>
    h("a", { href: `/?lang=${tag}`, lang: tag, dir: direction, hreflang: tag }, name),
  );
  return h("nav", { class: "languages", "aria-label": t("lobbyLanguages") }, ...links);
}

function roomRow({ room, scene, members, quarantined }: RoomSummary, known: SceneSummary | undefined): HTMLElement {
  const count = quarantined ? t("quarantined") : t("people", { count: members });
  const dark = matchMedia("(prefers-color-scheme: dark)").matches ? known?.darkThumbnail : undefined;
  const source = dark ?? known?.thumbnail ?? known?.picture;
  return h(
    "li",
    {},
    h(
      "a",
      { href: `/r/${encodeURIComponent(room)}`, "data-room": room },
      h("img", { src: source ?? "/icon.svg", alt: "", width: "96", height: "63", class: source ? "" : "placeholder" }),
      h(
        "span",
        { class: "what" },
        h("strong", {}, known ? textsOf(known).title : scene),
        h("code", {}, room),
        h("span", { class: members > 0 ? "count busy" : "count" }, icon("people"), count),
      ),
      icon("arrow"),
    ),
  );
}

/** Accepts a room's name or a pasted link. */
function joinForm(): HTMLElement {
  const field = h("input", {
    name: "room",
    placeholder: t("joinPlaceholder"),
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-label": t("joinField"),
  });
  return h(
    "form",
    {
      class: "join",
      onsubmit: (event) => {
        event.preventDefault();
        const room = field.value
          .trim()
          .replace(/^.*\/r\//, "")
          .replace(/[/?#].*$/, "");
        if (room) location.assign(`/r/${encodeURIComponent(decodeURIComponent(room))}`);
      },
    },
    field,
    h("button", { class: "button", type: "submit" }, t("join")),
  );
}
