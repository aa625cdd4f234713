/**
 * Reactions, chat, sound and the camera that follows: one tool and its card. Lines are shown as text, never parsed, and
 * without links.
 */
import type { Said } from "../../../shared/protocol/fromServer.ts";
import { Limits } from "../../../shared/protocol/protocol.ts";
import { REACTIONS } from "../../../shared/members/reactions.ts";
import { h, icon, labelOf, wear } from "../dom.ts";
import { Panel } from "../panel.ts";
import { t, type PlainKey } from "../../text/text.ts";

export interface TalkActions {
  react: (reaction: number) => void;
  say: (text: string) => void;
  /** Turns contact sounds on or off. */
  sound: (on: boolean) => void;
  /** The camera follows a body or a member, or nothing. */
  follow: (target: Followed | undefined) => void;
}

/** A body or a member, by its number. */
export type Followed = { body: number } | { member: number };

const REACTION_NAMES = [
  "reactionUp",
  "reactionClap",
  "reactionLaugh",
  "reactionWow",
  "reactionHeart",
  "reactionParty",
] as const satisfies readonly PlainKey[];
/** Lines shown; the oldest go. */
const MOST_LINES = 100;
/** Least time between two reactions of this member, ms: half of the server's rate limit. */
const REACTION_MS = 500;
/** Bodies and members offered to follow. */
const MOST_FOLLOWED = 64;

export const reactionName = (reaction: number): string | undefined =>
  REACTION_NAMES[reaction] && t(REACTION_NAMES[reaction]);

export class TalkPanel {
  readonly button: HTMLButtonElement;
  readonly panel: Panel;
  private readonly unread = h("b", { class: "unread", hidden: true });
  private readonly log = h("div", { class: "lines", role: "log", tabindex: "0", "aria-label": t("chat") });
  private readonly field = h("input", {
    id: "chat-line",
    maxlength: String(Limits.lineLength),
    autocomplete: "off",
    enterkeyhint: "send",
  });
  private readonly form: HTMLFormElement;
  private readonly closed = h("p", { class: "closed", hidden: true }, t("chatClosed"));
  private readonly sound = h("input", { type: "checkbox", id: "talk-sound" });
  private readonly following = h("select", { id: "talk-follow" });
  private readonly reactions: HTMLElement;
  private lastReactionMs = -Infinity;
  private bodies: readonly string[] = [];
  private members: readonly { member: number; name: string }[] = [];

  constructor(actions: TalkActions) {
    this.button = h(
      "button",
      {
        class: "tool talk",
        type: "button",
        title: t("talkTitle"),
        "aria-label": labelOf(t("chat"), t("talkTitle")),
        onclick: () => this.toggle(),
      },
      icon("talk"),
      h("span", { class: "text" }, t("chat")),
      this.unread,
    );
    this.reactions = h(
      "div",
      { class: "reactions", role: "group", "aria-label": t("reactions") },
      ...REACTIONS.map((picture, reaction) => this.reactionButton(picture, reaction, actions)),
    );
    this.form = h("form", { onsubmit: (event) => this.submit(event, actions) }, this.field, this.sendButton());
    this.field.setAttribute("aria-label", t("chatLine"));
    this.field.setAttribute("placeholder", t("chatLine"));
    this.sound.addEventListener("change", () => actions.sound(this.sound.checked));
    this.following.addEventListener("change", () => actions.follow(followedOf(this.following.value)));
    this.panel = new Panel(
      this.button,
      t("chat"),
      "talk-panel",
      this.reactions,
      this.log,
      this.form,
      this.closed,
      h("hr"),
      h("div", { class: "line" }, this.sound, h("label", { for: "talk-sound" }, t("contactSounds"))),
      h("label", { for: "talk-follow" }, t("cameraFollows")),
      this.following,
    );
    this.offer();
  }

  /** False in the modes without this tool. */
  get isOffered(): boolean {
    return getComputedStyle(this.button).display !== "none";
  }

  toggle(): void {
    if (!this.isOffered) return;
    this.panel.open(!this.panel.isOpen);
    if (!this.panel.isOpen) return;
    this.unread.hidden = true;
    this.log.scrollTop = this.log.scrollHeight;
    // On a phone, the on-screen keyboard would cover the reactions.
    if (!matchMedia("(pointer: coarse)").matches) this.field.focus();
  }

  /** @param earlier true: they replace all lines shown */
  show(lines: readonly Said[], earlier: boolean): void {
    if (earlier) this.log.replaceChildren();
    for (const { member, name, color, text } of lines) {
      const author = h("b", { dir: "auto" }, name);
      const line = h("p", { "data-member": String(member) }, author, " ", h("span", { dir: "auto" }, text));
      wear(line, color);
      this.log.append(line);
    }
    while (this.log.childElementCount > MOST_LINES) this.log.firstElementChild!.remove();
    this.log.scrollTop = this.log.scrollHeight;
    this.unread.hidden = earlier || this.panel.isOpen || lines.length === 0;
  }

  /**
   * @param online true while the connection is open. @param writes true if this member may write.
   * @param closed true if the owner has closed the chat
   */
  setAllowed(online: boolean, writes: boolean, closed: boolean): void {
    for (const button of this.reactions.querySelectorAll("button")) button.disabled = !online;
    this.form.hidden = !writes;
    this.field.disabled = !online;
    this.closed.hidden = !closed;
  }

  /** Sets the names of the bodies that the camera may follow. */
  setBodies(names: readonly string[]): void {
    this.bodies = names;
    this.offer();
  }

  /** Sets the other members that the camera may follow. */
  setMembers(members: readonly { member: number; name: string }[]): void {
    this.members = members;
    this.offer();
  }

  /** Shows the followed body or member; undefined: none. */
  setFollowing(target: Followed | undefined): void {
    this.following.value = target ? optionOf(target) : "";
  }

  private reactionButton(picture: string, reaction: number, actions: TalkActions): HTMLElement {
    const name = reactionName(reaction)!;
    const react = (): void => {
      const nowMs = performance.now();
      if (nowMs - this.lastReactionMs < REACTION_MS) return;
      this.lastReactionMs = nowMs;
      actions.react(reaction);
    };
    return h("button", { type: "button", title: name, "aria-label": name, onclick: react }, picture);
  }

  private sendButton(): HTMLElement {
    return h("button", { class: "button", type: "submit", "aria-label": t("chatSend"), title: t("chatSend") }, "↑");
  }

  private submit(event: Event, actions: TalkActions): void {
    event.preventDefault();
    const text = this.field.value.trim();
    if (text === "") return;
    actions.say(text);
    this.field.value = "";
  }

  private offer(): void {
    const { value } = this.following;
    const option = (target: Followed, name: string): HTMLElement => h("option", { value: optionOf(target) }, name);
    const groups = [
      h("optgroup", { label: t("followBodies") }, ...this.bodies.map((name, body) => option({ body }, name))),
      h("optgroup", { label: t("peopleHere") }, ...this.members.map(({ member, name }) => option({ member }, name))),
    ];
    for (const group of groups) while (group.childElementCount > MOST_FOLLOWED) group.lastElementChild!.remove();
    this.following.replaceChildren(
      h("option", { value: "" }, t("followNothing")),
      ...groups.filter((group) => group.childElementCount > 0),
    );
    this.following.value = value;
    if (this.following.selectedIndex < 0) this.following.value = "";
  }
}

const optionOf = (target: Followed): string => ("body" in target ? `body ${target.body}` : `member ${target.member}`);

function followedOf(value: string): Followed | undefined {
  const [kind, number] = value.split(" ");
  if (kind === "body") return { body: Number(number) };
  return kind === "member" ? { member: Number(number) } : undefined;
}
