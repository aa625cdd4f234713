/** `/gallery`: the scenes that owners saved from their rooms. A visitor opens them, and renames and deletes its own. */
import "../../styles/lobby.css";
import "../../styles/gallery.css";
import { createRoom, fetchScenes, type SceneSummary } from "../../net/api.ts";
import { deleteSaved, fetchGallery, isOwn, renameSaved, type SavedScene } from "../../net/gallery.ts";
import { problemText } from "../../text/problem.ts";
import { dateText, t, textsOf } from "../../text/text.ts";
import { sureButton } from "../admin/sureButton.ts";
import { h, icon } from "../dom.ts";
import { askTitle } from "./titleDialog.ts";

export function openGalleryPage(app: HTMLElement): void {
  document.title = t("documentTitle", { title: t("gallery") });
  app.replaceChildren(new GalleryPage().element);
}

class GalleryPage {
  readonly element: HTMLElement;
  readonly #problem = h("p", { class: "problem", role: "alert", hidden: true });
  readonly #none = h(
    "div",
    { class: "none", hidden: true },
    h("img", { src: "/icon.svg", alt: "" }),
    h("p", {}, t("galleryNone")),
    h("a", { class: "button primary", href: "/" }, t("toLobby")),
  );
  readonly #list = h("ul", { class: "saved" });
  /** Titles of all scenes, saved or not, by id. */
  readonly #titles = new Map<string, string>();

  constructor() {
    const brand = h("a", { class: "brand", href: "/" }, h("img", { src: "/icon.svg", alt: "" }), "Pliant");
    this.element = h(
      "div",
      { class: "lobby gallery" },
      h("header", {}, brand),
      h(
        "main",
        {},
        h("h1", {}, t("gallery")),
        h("p", { class: "intro" }, t("galleryIntro")),
        this.#problem,
        this.#none,
        this.#list,
      ),
    );
    void this.#load();
  }

  async #load(): Promise<void> {
    try {
      // The titles of the server's own scenes are only a hint.
      const own = fetchScenes().catch((): { scenes: SceneSummary[] } => ({ scenes: [] }));
      const [saved, { scenes }] = await Promise.all([fetchGallery(), own]);
      for (const scene of scenes) this.#titles.set(scene.id, textsOf(scene).title);
      for (const { saved: id, title } of saved) this.#titles.set(id, title);
      this.#list.replaceChildren(...saved.map((scene) => this.#entry(scene)));
      this.#none.hidden = saved.length > 0;
      this.#say(undefined);
    } catch (error) {
      this.#say(problemText(error));
    }
  }

  #say(problem: string | undefined): void {
    this.#problem.hidden = problem === undefined;
    this.#problem.textContent = problem ?? "";
  }

  #entry(scene: SavedScene): HTMLLIElement {
    const { saved, title, origin, createdAt, picture } = scene;
    const image = h("img", { src: picture, alt: "", loading: "lazy", width: "240", height: "158" });
    image.addEventListener("error", () =>
      image.replaceWith(h("img", { class: "placeholder", src: "/icon.svg", alt: "" })),
    );
    const from = this.#titles.get(origin);
    return h(
      "li",
      { class: "card", "data-saved": saved },
      h("div", { class: "picture" }, image),
      h(
        "div",
        { class: "text" },
        h("h2", { dir: "auto" }, title),
        h(
          "p",
          {},
          from === undefined ? undefined : t("galleryFrom", { title: from }),
          from === undefined ? undefined : h("br"),
          h("time", { datetime: createdAt }, dateText(createdAt)),
        ),
        h("div", { class: "acts" }, this.#opener(scene), ...(isOwn(scene) ? this.#ownActs(scene) : [])),
      ),
    );
  }

  #opener({ scene, title }: SavedScene): HTMLElement {
    const button = h(
      "button",
      { class: "button primary", type: "button", "aria-label": t("toolLabel", { text: t("newRoom"), title }) },
      icon("plus"),
      t("newRoom"),
    );
    button.addEventListener("click", () => {
      button.disabled = true;
      createRoom(scene)
        .then(({ room }) => location.assign(`/r/${encodeURIComponent(room)}`))
        .catch((error: unknown) => this.#say(problemText(error)))
        .finally(() => (button.disabled = false));
    });
    return button;
  }

  #ownActs(scene: SavedScene): HTMLElement[] {
    const rename = (): void =>
      askTitle(t("galleryRename"), scene.title, async (title) => {
        await renameSaved(scene, title);
        await this.#load();
      });
    const remove = (): void =>
      void deleteSaved(scene).then(
        () => this.#load(),
        (error: unknown) => this.#say(problemText(error)),
      );
    return [
      h("button", { class: "button", type: "button", "data-action": "rename", onclick: rename }, t("galleryRename")),
      sureButton("delete", "adminDeleteObject", "adminDeleteSure", remove),
    ];
  }
}
