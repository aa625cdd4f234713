/** The lobby: where others already pull, and what one can pull on. */
import { ApiError, fetchRooms, fetchScenes, type RoomSummary, type SceneSummary } from "../net/api.ts";
import { h, icon } from "./dom.ts";
import { sceneSections } from "./sceneCards.ts";

/** The list of rooms is asked for this often while the page is visible, ms. */
const REFRESH_MS = 2500;

export function openLobby(app: HTMLElement): void {
  document.title = "Pliant: soft things, shared";
  const scenes = h("section", { class: "scenes", "aria-label": "Scenes" });
  const rooms = h("ul", { class: "rooms", "aria-live": "polite" });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const say = (text: string | undefined) => {
    problem.hidden = text === undefined;
    problem.textContent = text ?? "";
  };

  app.replaceChildren(
    h(
      "div",
      { class: "lobby" },
      h(
        "header",
        { class: "hero" },
        h("div", { class: "brand" }, h("img", { src: "/icon.svg", alt: "", width: "36", height: "36" }), "Pliant"),
        h("h1", {}, "Soft things, ", h("em", {}, "shared.")),
        h("p", {}, "Open a room, send the link, and pull on the same jelly from any browser. One body, many hands."),
      ),
      h(
        "main",
        {},
        problem,
        h(
          "section",
          { class: "live", "aria-label": "Join" },
          h("div", { class: "live-head" }, h("h2", {}, "Live rooms"), joinForm()),
          rooms,
        ),
        scenes,
      ),
      h(
        "footer",
        {},
        h("a", { href: "/docs" }, "HTTP API"),
        h("span", {}, "Simulated once on the server, drawn by everyone."),
      ),
    ),
  );

  const known = new Map<string, SceneSummary>();
  void fetchScenes().then(
    (list) => {
      for (const scene of list.scenes) known.set(scene.id, scene);
      scenes.replaceChildren(...sceneSections(list.scenes, list.broken, say));
      void refresh();
    },
    (error: unknown) => say(textOf(error)),
  );

  let shown = "";
  const refresh = async () => {
    if (document.hidden) return;
    try {
      const list = (await fetchRooms()).sort((a, b) => b.members - a.members);
      const key =
        JSON.stringify(list.map(({ room, scene, members, parked }) => [room, scene, members, parked])) + known.size;
      if (key !== shown)
        rooms.replaceChildren(
          ...(list.length > 0 ? list.map((room) => roomRow(room, known.get(room.scene))) : [emptyRow()]),
        );
      shown = key;
    } catch (error) {
      say(textOf(error));
      return;
    }
    if (scenes.childElementCount > 0) say(undefined);
  };
  setInterval(() => void refresh(), REFRESH_MS);
  document.addEventListener("visibilitychange", () => void refresh());
}

function textOf(error: unknown): string {
  return error instanceof ApiError ? error.message : String(error);
}

function roomRow({ room, scene, members, parked }: RoomSummary, known: SceneSummary | undefined): HTMLElement {
  const people = members === 1 ? "1 person" : `${members} people`;
  const count = parked ? "parked" : people;
  const source = known?.thumbnail ?? "/icon.svg";
  return h(
    "li",
    {},
    h(
      "a",
      { href: `/r/${encodeURIComponent(room)}`, "data-room": room },
      h("img", { src: source, alt: "", width: "64", height: "42", class: known?.thumbnail ? "" : "placeholder" }),
      h("span", { class: "what" }, h("strong", {}, known?.title ?? scene), h("code", {}, room)),
      h("span", { class: members > 0 ? "count busy" : "count" }, icon("people"), count),
      icon("arrow"),
    ),
  );
}

function emptyRow(): HTMLElement {
  return h("li", { class: "empty" }, "Nobody is here yet. Open a room below and send its link to somebody.");
}

/** Takes a room's name or a whole pasted link. */
function joinForm(): HTMLElement {
  const field = h("input", {
    name: "room",
    placeholder: "room code or link",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-label": "Room code or link",
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
    h("button", { class: "button", type: "submit" }, "Join"),
  );
}
