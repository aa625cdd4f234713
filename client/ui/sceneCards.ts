/**
 * The scenes of the lobby: the best ones first, then custom scenes; further scenes and the figures of papers are
 * folded.
 */
import { createRoom, type BrokenScene, type SceneSummary } from "../net/api.ts";
import { h, icon } from "./dom.ts";
import { problemText } from "../text/problem.ts";
import { t } from "../text/text.ts";

/** Scenes that first visitors see first. */
const BEST = ["dragon", "bunny", "drape", "jelly-stack", "put-in", "tangled-hands"];

interface SceneGroups {
  first: SceneSummary[];
  more: SceneSummary[];
  paper: SceneSummary[];
}

/**
 * A scene without a thumbnail did not come with the software: the operator added it, so it belongs to the first ones.
 */
export function groupScenes(scenes: readonly SceneSummary[]): SceneGroups {
  const best = BEST.flatMap((id) => scenes.find((scene) => scene.id === id) ?? []);
  const rest = scenes.filter((scene) => !best.includes(scene));
  const own = rest.filter(({ thumbnail }) => thumbnail === undefined);
  const others = rest.filter((scene) => !own.includes(scene));
  return {
    first: [...best, ...own],
    more: others.filter(({ report }) => report === undefined),
    paper: others.filter(({ report }) => report !== undefined),
  };
}

/** @param say shows a problem; undefined clears it */
export function sceneSections(
  scenes: readonly SceneSummary[],
  broken: readonly BrokenScene[],
  say: (text: string | undefined) => void,
): HTMLElement[] {
  const { first, more, paper } = groupScenes(scenes);
  const grid = (list: readonly SceneSummary[]): HTMLElement =>
    h("div", { class: "grid" }, ...list.map((scene) => sceneEntry(scene, say)));
  const folded = (title: string, name: string, list: readonly SceneSummary[]): HTMLElement[] =>
    list.length === 0
      ? []
      : [h("details", { class: name }, h("summary", {}, h("h2", {}, title), ` ${list.length}`), grid(list))];
  return [
    ...brokenScenes(broken),
    h("h2", { class: "unseen" }, t("openNewRoom")),
    grid(first),
    ...folded(t("moreScenes"), "more-scenes", more),
    ...folded(t("paperScenes"), "paper-scenes", paper),
  ];
}

/** Scene files that failed to load. The server lists them only for the operator. */
function brokenScenes(broken: readonly BrokenScene[]): HTMLElement[] {
  if (broken.length === 0) return [];
  const rows = broken.map(({ id, error }) => h("li", {}, h("strong", {}, `${id}.json`), h("span", {}, error)));
  return [h("div", { class: "broken" }, h("h2", {}, t("brokenScenes")), h("ul", {}, ...rows))];
}

/** Wraps a card and its link: a card is a button, which cannot contain a link. */
function sceneEntry(scene: SceneSummary, say: (text: string | undefined) => void): HTMLElement {
  const card = sceneCard(scene, say);
  if (!scene.report) return card;
  const name = t("measuredHereOf", { scene: scene.title });
  const link = h("a", { class: "report", href: scene.report, "aria-label": name }, t("measuredHere"));
  return h("div", { class: "measured" }, card, link);
}

function picture(scene: SceneSummary): HTMLElement {
  const source = scene.thumbnail ?? scene.picture;
  if (source === undefined)
    return h("div", { class: "picture" }, h("img", { class: "placeholder", src: "/icon.svg", alt: "" }));
  const image = h("img", { src: source, alt: "", loading: "lazy", width: "640", height: "420" });
  image.addEventListener("error", () => image.remove());
  return h("div", { class: "picture" }, image);
}

function sceneCard(scene: SceneSummary, say: (text: string | undefined) => void): HTMLElement {
  const label = h("span", { class: "go" }, icon("plus"), t("newRoom"));
  const card = h(
    "button",
    { class: "card", type: "button", "data-scene": scene.id },
    picture(scene),
    h("div", { class: "text" }, h("h3", {}, scene.title), h("p", {}, scene.description ?? ""), label),
  );
  const rest = (): void => {
    card.disabled = false;
    card.classList.remove("busy");
    label.replaceChildren(icon("plus"), t("newRoom"));
  };
  card.addEventListener("click", () => {
    card.disabled = true;
    card.classList.add("busy");
    label.replaceChildren(h("span", { class: "spinner" }), t("buildingScene"));
    createRoom(scene.id).then(
      ({ room }) => location.assign(`/r/${encodeURIComponent(room)}`),
      (error: unknown) => {
        rest();
        say(problemText(error));
      },
    );
  });
  // After the browser's back button the card must not be busy any more.
  addEventListener("pageshow", rest);
  return card;
}
