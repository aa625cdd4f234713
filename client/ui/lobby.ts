/** The lobby: what one can pull on, and where others already do. */
import { ApiError, createRoom, fetchRooms, fetchScenes, type RoomSummary, type SceneSummary } from "../net/api.ts";
import { h, icon } from "./dom.ts";

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
      problem,
      scenes,
      h("section", { class: "live" }, h("div", { class: "live-head" }, h("h2", {}, "Live rooms"), joinForm()), rooms),
      h(
        "footer",
        {},
        h("a", { href: "/docs" }, "HTTP API"),
        h("span", {}, "Simulated once on the server, drawn by everyone."),
      ),
    ),
  );

  const titles = new Map<string, string>();
  void fetchScenes().then(
    (list) => {
      for (const scene of list) titles.set(scene.id, scene.title);
      scenes.replaceChildren(...list.map((scene) => sceneEntry(scene, say)));
      void refresh();
    },
    (error: unknown) => say(textOf(error)),
  );

  let shown = "";
  const refresh = async () => {
    if (document.hidden) return;
    try {
      const list = await fetchRooms();
      const key =
        JSON.stringify(list.map(({ room, scene, members, parked }) => [room, scene, members, parked])) + titles.size;
      if (key !== shown)
        rooms.replaceChildren(...(list.length > 0 ? list.map((room) => roomRow(room, titles)) : [emptyRow()]));
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

/** A card is a button and cannot hold a link. */
function sceneEntry(scene: SceneSummary, say: (text: string | undefined) => void): HTMLElement {
  const card = sceneCard(scene, say);
  return scene.report
    ? h("div", { class: "measured" }, card, h("a", { class: "report", href: scene.report }, "What is measured here"))
    : card;
}

function sceneCard(scene: SceneSummary, say: (text: string | undefined) => void): HTMLElement {
  const label = h("span", { class: "go" }, icon("plus"), "New room");
  const picture = h("div", { class: "picture" });
  if (scene.thumbnail) {
    const image = h("img", { src: scene.thumbnail, alt: "", loading: "lazy", width: "640", height: "420" });
    image.addEventListener("error", () => image.remove());
    picture.append(image);
  } else {
    picture.append(h("img", { class: "placeholder", src: "/icon.svg", alt: "" }));
  }
  const card = h(
    "button",
    { class: "card", type: "button", "data-scene": scene.id },
    picture,
    h("div", { class: "text" }, h("h2", {}, scene.title), h("p", {}, scene.description ?? ""), label),
  );
  card.addEventListener("click", () => {
    card.disabled = true;
    card.classList.add("busy");
    label.replaceChildren(h("span", { class: "spinner" }), "Building the scene …");
    createRoom(scene.id).then(
      ({ room }) => location.assign(`/r/${encodeURIComponent(room)}`),
      (error: unknown) => {
        card.disabled = false;
        card.classList.remove("busy");
        label.replaceChildren(icon("plus"), "New room");
        say(textOf(error));
      },
    );
  });
  // Coming back by the browser's history must not find a busy card.
  addEventListener("pageshow", () => {
    card.disabled = false;
    card.classList.remove("busy");
    label.replaceChildren(icon("plus"), "New room");
  });
  return card;
}

function roomRow({ room, scene, members, parked }: RoomSummary, titles: ReadonlyMap<string, string>): HTMLElement {
  const people = members === 1 ? "1 person" : `${members} people`;
  const count = parked ? "parked" : people;
  return h(
    "li",
    {},
    h(
      "a",
      { href: `/r/${encodeURIComponent(room)}`, "data-room": room },
      h("strong", {}, titles.get(scene) ?? scene),
      h("code", {}, room),
      h("span", { class: members > 0 ? "count busy" : "count" }, icon("people"), count),
      icon("arrow"),
    ),
  );
}

function emptyRow(): HTMLElement {
  return h("li", { class: "empty" }, "Nobody is here yet. Open a room above and send its link to somebody.");
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
