/** Sentences about events of the room: as toasts, or for screen readers only. */
import { GrabWatch } from "../../state/grabNews.ts";
import type { RoomState } from "../../state/roomState.ts";
import { t, textOfCode } from "../../text/text.ts";
import { reactionName } from "../cards/talkPanel.ts";
import type { RoomShell } from "./roomShell.ts";

export class Announcements {
  private readonly shell: RoomShell;
  private readonly state: RoomState;
  private readonly bodyName: (body: number) => string;
  private readonly grabWatch = new GrabWatch();
  /** Number of pins. */
  private pinned = 0;

  constructor(shell: RoomShell, state: RoomState, bodyName: (body: number) => string) {
    this.shell = shell;
    this.state = state;
    this.bodyName = bodyName;
  }

  /** @param member number of a member of this room */
  isMe(member: number): boolean {
    return member === this.state.welcome?.member;
  }

  chat(lines: readonly { member: number; name: string; text: string }[]): void {
    for (const { member, name, text } of lines) if (!this.isMe(member)) this.say(t("saidLine", { name, text }));
  }

  /** Announces a label that a member gave to a body. */
  label(member: number, text: string): void {
    this.chat([{ member, name: this.nameOf(member), text }]);
  }

  /** Shows a reaction at its member's cursor, or at its name. */
  reaction(member: number, reaction: number): void {
    const { cursors, people, reactions } = this.shell;
    reactions.show(reaction, cursors.of(member) ?? people.of(member));
    const name = reactionName(reaction);
    if (name !== undefined && !this.isMe(member))
      this.shell.say(t("reacted", { name: this.nameOf(member), reaction: name }));
  }

  reset(member: number): void {
    // Member 0 is the server; a notice gives its reason.
    if (member > 0)
      this.say(this.isMe(member) ? t("youStartedAgain") : t("startedAgain", { name: this.nameOf(member) }));
  }

  /** Announces that a member put a body in, or took it out. */
  bodyChange(
    member: number,
    changed: number,
    mine: "youPutIn" | "youTookOut",
    theirs: "somebodyPutIn" | "somebodyTookOut",
  ): void {
    if (member === 0) return;
    const body = this.bodyName(changed);
    this.say(this.isMe(member) ? t(mine, { body }) : t(theirs, { name: this.nameOf(member), body }));
  }

  /** @param count number of pins after the member's change */
  pins(member: number, count: number): void {
    const more = count - this.pinned;
    this.pinned = count;
    if (member === 0 || more === 0) return;
    if (this.isMe(member)) this.say(t(more > 0 ? "youPinned" : "youUnpinned"));
    else this.say(t(more > 0 ? "somebodyPinned" : "somebodyUnpinned", { name: this.nameOf(member) }));
  }

  /** Announces grabs of other members since the last call. */
  grabs(): void {
    const news = this.grabWatch.look(this.state.grabsByMember, this.state.welcome?.member);
    const sentences = news.map(({ member, body }) =>
      body === undefined
        ? t("letGo", { name: this.nameOf(member) })
        : t("holds", { name: this.nameOf(member), body: body === "all" ? t("all") : this.bodyName(body) }),
    );
    if (sentences.length > 0) this.shell.say(sentences.join(" "));
  }

  notice(code: string, text: string, details: unknown): void {
    this.say(this.noticeText(code, details) ?? textOfCode("notice", code) ?? text);
  }

  /** Text of a notice whose details matter. */
  private noticeText(code: string, details: unknown): string | undefined {
    const known = (details ?? {}) as {
      text?: unknown;
      seconds?: unknown;
      member?: unknown;
      by?: { body?: number; collider?: number };
      field?: unknown;
    };
    if (code === "INPUT_REJECTED" && known.field === "pin") return t("tooManyPins");
    if (code === "ANNOUNCEMENT" && typeof known.text === "string") return known.text;
    if (code === "WENT_BACK" && typeof known.seconds === "number" && typeof known.member === "number")
      return t("wentBack", { count: Math.max(1, Math.round(known.seconds)), name: this.whoIs(known.member) });
    if (code !== "PLACE_TAKEN") return undefined;
    // Name the body or collider that occupies the place.
    const { body, collider } = known.by ?? {};
    const name = body !== undefined ? this.bodyName(body) : this.state.topology?.colliders[collider ?? -1]?.name;
    return name === undefined ? undefined : t("inTheWay", { name });
  }

  private nameOf(member: number): string {
    return this.state.members.find((m) => m.member === member)?.name ?? t("somebody");
  }

  private whoIs(member: number): string {
    return member === 0 ? t("theOwner") : this.isMe(member) ? t("you") : this.nameOf(member);
  }

  private say(text: string): void {
    this.shell.toasts.show(text);
  }
}
