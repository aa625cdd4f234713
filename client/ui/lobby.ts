/** The lobby: the open rooms, and the scenes for new ones. */
import { fetchAddresses, fetchRooms, fetchScenes, type RoomSummary, type SceneSummary } from "../net/api.ts";
import { Bring } from "./bring.ts";
import { h, icon } from "./dom.ts";
import { LivePictures } from "./livePictures.ts";
import { sceneSections } from "./sceneCards.ts";
import { problemText } from "../text/problem.ts";
import { LANGUAGES, t, textsOf, tParts } from "../text/text.ts";

/** Interval of refreshes of the list of rooms while the page is visible, ms. */
const REFRESH_MS = 2500;

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
  const open = live(rooms);
  app.replaceChildren(h("div", { class: "lobby" }, hero(), h("main", {}, problem, joining(), scenes, open), footer));

  const list = new LiveRooms(rooms, open, say);
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

function hero(): HTMLElement {
  return h(
    "header",
    { class: "hero" },
    h("div", { class: "brand" }, h("img", { src: "/icon.svg", alt: "", width: "36", height: "36" }), "Pliant"),
    h("h1", {}, ...tParts("lobbyHero", { shared: h("em", {}, t("lobbyHeroShared")) })),
    h("p", {}, t("lobbyIntro")),
  );
}

function joining(): HTMLElement {
  const { button } = new Bring(() => undefined, "button");
  return h("section", { class: "joining", "aria-label": t("join") }, joinForm(), button);
}

/** The rooms with people; not shown if there are none. Beside the title on wide screens, below the scenes on others. */
function live(rooms: HTMLElement): HTMLElement {
  return h("section", { class: "live-rooms", hidden: true }, h("h2", {}, t("lobbyLiveRooms")), rooms);
}

/** The list of rooms; rebuilt only after a change. */
class LiveRooms {
  readonly known = new Map<string, SceneSummary>();
  readonly #list: HTMLElement;
  readonly #section: HTMLElement;
  readonly #say: (text: string) => void;
  readonly #pictures = new LivePictures();
  #shown = "";

  constructor(list: HTMLElement, section: HTMLElement, say: (text: string) => void) {
    this.#list = list;
    this.#section = section;
    this.#say = say;
  }

  /** @returns true if the server answered; otherwise the problem has been shown */
  async refresh(): Promise<boolean> {
    try {
      const rooms = (await fetchRooms()).filter(({ members }) => members > 0).sort((a, b) => b.members - a.members);
      const key =
        JSON.stringify(rooms.map(({ room, scene, members, quarantined }) => [room, scene, members, quarantined])) +
        this.known.size;
      if (key !== this.#shown)
        this.#list.replaceChildren(...rooms.map((room) => roomRow(room, this.known.get(room.scene))));
      this.#section.hidden = rooms.length === 0;
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
  const source = known?.thumbnail ?? known?.picture;
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
