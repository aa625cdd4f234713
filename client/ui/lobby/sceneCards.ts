/** The scenes of the lobby, by group. The first group has the best scenes, and those of the operator. */
import { createRoom, type BrokenScene, type SceneSummary } from "../../net/api.ts";
import { h, icon } from "../dom.ts";
import { problemText } from "../../text/problem.ts";
import { t, textsOf } from "../../text/text.ts";

/** Scenes that first visitors see first. */
const BEST = ["dragon", "bunny", "drape", "jelly-stack", "put-in", "tank", "flag-in-the-wind", "tangled-hands"];

/** Groups in the order of their chips; the first one is shown at the start. */
const GROUPS = ["favourites", "soft", "cloth", "fluid", "lessons", "all"] as const;
type Group = (typeof GROUPS)[number];
const GROUP_TEXTS = {
  favourites: "groupFavourites",
  soft: "groupSoft",
  cloth: "groupCloth",
  fluid: "groupFluid",
  lessons: "groupLessons",
  all: "groupAll",
} as const satisfies Record<Group, string>;

/** A scene without a thumbnail did not come with the software: the operator added it, so it is a favourite. */
export function groupsOf({ id, thumbnail, kinds, lesson }: SceneSummary): Group[] {
  const groups: [Group, boolean][] = [
    ["favourites", BEST.includes(id) || thumbnail === undefined],
    ["soft", kinds.includes("soft") && !lesson],
    ["cloth", kinds.includes("cloth") && !lesson],
    ["fluid", kinds.includes("points")],
    ["lessons", lesson],
  ];
  return [...groups.flatMap(([group, belongs]) => (belongs ? [group] : [])), "all"];
}

/** Favourites first, in the order of BEST. */
export function inOrder(scenes: readonly SceneSummary[]): SceneSummary[] {
  const place = ({ id }: SceneSummary): number => (BEST.includes(id) ? BEST.indexOf(id) : BEST.length);
  return scenes.toSorted((a, b) => place(a) - place(b));
}

/** @param say shows a problem; undefined clears it */
export function sceneSections(
  scenes: readonly SceneSummary[],
  broken: readonly BrokenScene[],
  say: (text: string | undefined) => void,
): HTMLElement[] {
  const entries = inOrder(scenes).map((scene) => ({ groups: groupsOf(scene), element: sceneEntry(scene, say) }));
  const grid = h("div", { class: "grid" });
  const show = (group: Group): void =>
    grid.replaceChildren(...entries.filter(({ groups }) => groups.includes(group)).map(({ element }) => element));
  show(GROUPS[0]);
  return [...brokenScenes(broken), h("h2", { class: "unseen" }, t("openNewRoom")), chips(entries, show), grid];
}

/** One chip for each group that has scenes. */
function chips(entries: readonly { groups: readonly Group[] }[], show: (group: Group) => void): HTMLElement {
  const shown = GROUPS.filter((group) => entries.some(({ groups }) => groups.includes(group)));
  const choices = shown.map((group, n) => {
    const input = h("input", { type: "radio", name: "group", value: group, checked: n === 0 });
    input.addEventListener("change", () => show(group));
    return h("label", {}, input, t(GROUP_TEXTS[group]));
  });
  return h("fieldset", { class: "chips" }, h("legend", { class: "unseen" }, t("groups")), ...choices);
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
  const name = t("measuredHereOf", { scene: textsOf(scene).title });
  const link = h("a", { class: "report", href: scene.report, "aria-label": name }, t("measuredHere"));
  return h("div", { class: "measured" }, card, link);
}

/** @param dark address of the picture for dark pages */
export function inBothThemes(image: HTMLImageElement, dark: string | undefined): HTMLElement {
  if (dark === undefined) return image;
  return h("picture", {}, h("source", { srcset: dark, media: "(prefers-color-scheme: dark)" }), image);
}

function picture(scene: SceneSummary): HTMLElement {
  const source = scene.thumbnail ?? scene.picture;
  if (source === undefined)
    return h("div", { class: "picture" }, h("img", { class: "placeholder", src: "/icon.svg", alt: "" }));
  const image = h("img", { src: source, alt: "", loading: "lazy", width: "640", height: "420" });
  image.addEventListener("error", () => image.remove());
  return h("div", { class: "picture" }, inBothThemes(image, scene.darkThumbnail));
}

function sceneCard(scene: SceneSummary, say: (text: string | undefined) => void): HTMLElement {
  const texts = textsOf(scene);
  const label = h("span", { class: "go" }, icon("plus"), t("newRoom"));
  const card = h(
    "button",
    { class: "card", type: "button", "data-scene": scene.id },
    picture(scene),
    h("div", { class: "text" }, h("h3", {}, texts.title), h("p", {}, texts.description), label),
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
