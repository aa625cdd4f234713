/** The static parts of the room page: canvas, title, people, tools, notes. Contains no room logic. */
import type { SceneTexts } from "../../../shared/scene/sceneSettings.ts";
import type { SlowMotion } from "../../state/slowMotion.ts";
import { CapturePanel, type CaptureSource } from "../cards/capturePanel.ts";
import { ConnectionBanner } from "../banner.ts";
import { Bring, type BringActions } from "../upload/uploadButton.ts";
import { CostLabels } from "./layers/costLabels.ts";
import { StrainLegend } from "./layers/strainLegend.ts";
import { CursorLayer } from "./layers/cursorLayer.ts";
import { h, icon } from "../dom.ts";
import { AccessMenu, type AccessActions } from "../cards/accessMenu.ts";
import { invitationTo } from "../cards/invitation.ts";
import type { Mode } from "./mode.ts";
import { GhostCursor } from "./layers/ghostCursor.ts";
import { helpPanel } from "../cards/helpPanel.ts";
import type { ObjectNote } from "../../net/api.ts";
import { Panel } from "../panel.ts";
import { PinLayer, type PinActions } from "./layers/pinLayer.ts";
import type { Profile } from "./profile.ts";
import { People, type PeopleActions } from "./people.ts";
import { ResetPanel } from "../cards/resetPanel.ts";
import { SharePanel } from "../cards/sharePanel.ts";
import { TuningPanel, type TuningActions } from "../cards/tuningPanel.ts";
import { SpawnMenu, type SpawnActions } from "../cards/spawnMenu.ts";
import { ReactionLayer } from "./layers/reactionLayer.ts";
import { TalkPanel, type TalkActions } from "../cards/talkPanel.ts";
import { StatsOverlay } from "./layers/statsOverlay.ts";
import { Toasts } from "../toasts.ts";
import { TogetherSwitch } from "../cards/togetherSwitch.ts";
import { Toolbar, type ToolbarActions } from "./toolbar.ts";
import { t, tParts } from "../../text/text.ts";

export class RoomShell {
  readonly element: HTMLElement;
  readonly canvas = h("canvas", { class: "view", tabindex: "0", role: "application", "aria-label": t("canvas") });
  /** Shows the position of the keyboard's mark. */
  readonly mark = h("div", { class: "mark", "aria-hidden": "true", hidden: true });
  /** Announcements for screen readers only. */
  private readonly spoken = h("div", { class: "unseen", "aria-live": "polite" });
  readonly people: People;
  readonly access: AccessMenu;
  readonly tuning: TuningPanel;
  readonly stats = new StatsOverlay();
  readonly toasts = new Toasts();
  readonly banner = new ConnectionBanner();
  readonly toolbar: Toolbar;
  readonly spawnable: SpawnMenu;
  readonly together = new TogetherSwitch();
  readonly share: SharePanel;
  readonly capture: CapturePanel;
  readonly reset: ResetPanel;
  readonly talk: TalkPanel;
  readonly reactions = new ReactionLayer();
  readonly help: HTMLElement;
  /** Element that had the focus when help was opened. */
  private beforeHelp: Element | null = null;
  private found: Panel | undefined;
  private readonly titleText = h("h1", {}, "Pliant");
  /** The scene's remark, under the title. */
  private readonly notice = h("small", { class: "notice", hidden: true });
  /** Shown if the scene has a section in the physics report. */
  private readonly measured = h(
    "a",
    { class: "evidence glass", target: "_blank", rel: "noopener", hidden: true },
    icon("chart"),
    h("span", { class: "text" }, t("measuredHere")),
  );
  /** Shown if the room runs slower than real time; *Numbers* explains why. */
  private readonly slow: HTMLElement;
  private readonly about: HTMLElement;
  readonly ghost = new GhostCursor();
  /** Mark at the point that a press would grab. */
  readonly ring = h("div", { class: "ring", "aria-hidden": "true", hidden: true });
  /** Suggestion what to try in this scene. */
  private readonly toTry = h("strong");
  private readonly hint = h("p", { class: "hint glass", role: "status", hidden: true });
  readonly cursors = new CursorLayer();
  readonly pins: PinLayer;
  readonly costs = new CostLabels();
  readonly strain = new StrainLegend();
  private readonly loadingText = h("span", {}, t("openingRoom"));
  private readonly loading = h(
    "div",
    { class: "loading", role: "status" },
    h("span", { class: "spinner" }),
    this.loadingText,
  );

  constructor(
    room: string,
    profile: Profile,
    { ui, exhibitSeconds, problems }: Mode,
    actions: ToolbarActions &
      SpawnActions &
      TuningActions &
      AccessActions &
      PeopleActions &
      BringActions &
      TalkActions &
      PinActions & { capture: () => CaptureSource | undefined },
  ) {
    this.people = new People(actions);
    this.pins = new PinLayer(actions);
    this.access = new AccessMenu(actions);
    this.tuning = new TuningPanel(actions);
    this.spawnable = new SpawnMenu(actions);
    // An embedded or unattended page has no links that lead away and no uploads.
    const alone = ui !== "full" || exhibitSeconds !== undefined;
    this.share = new SharePanel(room, (text) => this.toasts.show(text), !alone);
    this.capture = new CapturePanel(room, actions.capture);
    this.talk = new TalkPanel(actions);
    this.toolbar = new Toolbar(profile, actions, room, {
      together: this.together.element,
      spares: this.spawnable.element,
      tuning: this.tuning.element,
      access: this.access.element,
      share: this.share.button,
      capture: this.capture.button,
      talk: this.talk.button,
      bring: alone ? undefined : new Bring(actions.sceneHere).button,
    });
    this.reset = new ResetPanel(this.toolbar.resetButton, actions.resetAll);
    this.help = helpPanel(() => this.toggleHelp(false));
    this.slow = h("button", { class: "slow glass", type: "button", hidden: true, onclick: actions.overlay });
    const title = h(
      "a",
      { class: "title glass", ...(!alone && { href: "/", title: t("toLobby") }) },
      h("img", { src: "/icon.svg", alt: "", width: "30", height: "30" }),
      h("span", {}, this.titleText, h("small", {}, ...tParts("roomCode", { code: h("code", {}, room) })), this.notice),
    );
    this.about = h("div", { class: "about" }, title, this.measured, this.slow);
    this.element = h(
      "main",
      { class: `room arriving ui-${ui}${exhibitSeconds === undefined ? "" : " exhibit"}` },
      this.canvas,
      this.costs.element,
      this.strain.element,
      this.cursors.element,
      this.reactions.element,
      this.pins.element,
      this.pins.offer,
      this.ring,
      this.ghost.element,
      this.hint,
      this.mark,
      this.loading,
      h("div", { class: "topbar" }, this.about, this.people.button, this.people.element),
      this.stats.element,
      this.toolbar.element,
      this.toasts.element,
      this.spoken,
      this.banner.element,
      this.help,
      ...this.panels.map((panel) => panel.element),
    );
    for (const problem of problems) this.toasts.show(problem);
    if (ui === "present") void this.invite(room);
  }

  /** Shows the findings about the model that this visitor uploaded. A press outside closes it. */
  async showFound(notes: readonly ObjectNote[]): Promise<void> {
    const { noteItems } = await import("../upload/objectNotes.ts");
    const list = h("ul", { class: "found" }, ...noteItems(notes));
    const button = this.toolbar.element.querySelector<HTMLElement>(".bring")!;
    this.found = new Panel(button, t("foundInYours"), "found-panel", list);
    this.element.append(this.found.element);
    this.found.open(true);
  }

  private get panels(): Panel[] {
    return [
      ...(this.found ? [this.found] : []),
      this.toolbar.profile,
      this.spawnable.panel,
      this.tuning.panel,
      this.access.panel,
      this.share.panel,
      this.capture.panel,
      this.talk.panel,
      this.reset.panel,
    ];
  }

  /** Shows the invitation, on a big screen. */
  private async invite(room: string): Promise<void> {
    const { text, code } = await invitationTo(room);
    this.element.append(
      h(
        "aside",
        { class: "invitation glass", "aria-label": t("howToComeIn") },
        code,
        h("strong", {}, t("pullAlong")),
        h("span", {}, text),
      ),
    );
  }

  /** Closes all cards, lists and menus. */
  closeAll(): void {
    this.toggleHelp(false);
    this.toolbar.toggleMore(false);
    this.people.show(false);
    this.stats.element.hidden = true;
    this.toolbar.setOverlay(false);
    for (const panel of this.panels) panel.open(false);
  }

  setTitle(title: string): void {
    this.titleText.textContent = title;
    document.title = t("documentTitle", { title });
  }

  /** Shows the scene's texts in the page's language. */
  setTexts({ title, notice, try: toTry = "" }: SceneTexts): void {
    this.setTitle(title);
    this.toTry.textContent = toTry;
    this.notice.hidden = notice === undefined;
    this.notice.textContent = notice ?? "";
    this.notice.title = notice ?? "";
  }

  /** Shows the badges beside the title, whose size is now known. */
  showBadges(): void {
    this.about.classList.add("known");
  }

  /** Links the section of the physics report about this scene. It opens in a new tab, so that a grab does not end. */
  setReport(address: string): void {
    this.measured.href = address;
    this.measured.title = t("measuredHere");
    this.measured.hidden = false;
  }

  /** @param slow undefined: the room runs in real time */
  setSlowMotion(slow: SlowMotion | undefined): void {
    const text = slow === undefined ? "" : t("speed", { percent: Math.round(100 * slow.factor), why: t(slow.why) });
    this.slow.hidden = slow === undefined;
    if (this.slow.textContent === text) return;
    this.slow.textContent = text;
    this.slow.title = slow === undefined ? "" : t("slowMotionNumbers", { why: t(slow.why) });
  }

  /** Says what to do, until the first pull. @param pulls true if this member may pull */
  showHint(pulls: boolean): void {
    const touch = matchMedia("(pointer: coarse)").matches;
    this.hint.replaceChildren(pulls ? t(touch ? "hintTouch" : "hint") : t("hintWatch"), this.toTry);
    this.toTry.hidden = !pulls;
    this.hint.hidden = false;
  }

  hideHint(): void {
    this.hint.hidden = true;
  }

  /** @param at window pixels; undefined: nothing to hold is under the pointer */
  showRing(at: { x: number; y: number } | undefined): void {
    this.ring.hidden = at === undefined;
    this.canvas.classList.toggle("over", at !== undefined);
    if (at) this.ring.style.translate = `${at.x}px ${at.y}px`;
  }

  /** Announces a text to screen readers. */
  say(text: string): void {
    this.spoken.textContent = text;
  }

  /** Shows a loading text; undefined hides it, when the picture is ready. */
  setLoading(text: string | undefined): void {
    this.loading.classList.toggle("gone", text === undefined);
    if (text !== undefined) this.loadingText.textContent = text;
  }

  toggleHelp(open = this.help.hidden): void {
    if (open === !this.help.hidden) return;
    if (open) this.beforeHelp = document.activeElement;
    this.help.hidden = !open;
    if (open) this.help.querySelector("button")!.focus();
    else if (this.beforeHelp instanceof HTMLElement) this.beforeHelp.focus();
  }
}
