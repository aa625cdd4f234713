/** The invitation to this room: QR code, address, and code for the lobby; also full screen, for a projector. */
import { isLoopback } from "../../../shared/loopback.ts";
import { h, icon } from "../dom.ts";
import { embedSection } from "../room/embedCode.ts";
import { invitationTo } from "./invitation.ts";
import { Panel } from "../panel.ts";
import { copyText } from "../shareLink.ts";
import { t, tParts } from "../../text/text.ts";

const WARNINGS = { loopback: "warningLoopback", plain: "warningPlain" } as const;

/** @param origin of the shared address. @returns the warning to show with it */
export function warningFor(origin: string): keyof typeof WARNINGS | undefined {
  const { protocol, hostname } = new URL(origin);
  if (isLoopback(hostname)) return "loopback";
  return protocol === "http:" ? "plain" : undefined;
}

export class SharePanel {
  readonly button: HTMLButtonElement;
  readonly panel: Panel;
  private readonly room: string;
  private readonly say: (text: string) => void;
  private url = "";
  /** The address is a link in this page. */
  private readonly leads: boolean;
  private readonly code = h("div", { class: "qr" });
  private readonly address = h("a", { class: "address" });
  private readonly warning = h("p", { class: "warning", hidden: true });

  /** @param say shows a note. @param leads true to show the address as a link that can be followed */
  constructor(room: string, say: (text: string) => void, leads: boolean) {
    this.room = room;
    this.say = say;
    this.leads = leads;
    this.button = h(
      "button",
      {
        class: "tool share",
        type: "button",
        title: t("shareTitle"),
        "aria-label": t("toolLabel", { text: t("share"), title: t("shareTitle") }),
        onclick: () => void this.toggle(),
      },
      icon("share"),
      h("span", { class: "text" }, t("share")),
    );
    const act = (text: string, run: () => void): HTMLElement =>
      h("button", { class: "button", type: "button", onclick: run }, text);
    this.panel = new Panel(
      this.button,
      t("pullAlong"),
      "share-panel",
      this.code,
      this.address,
      h("p", { class: "typed" }, ...tParts("orType", { code: h("code", {}, room) })),
      this.warning,
      h(
        "div",
        { class: "acts" },
        act(t("copyLink"), () => void this.copy()),
        "share" in navigator ? act(t("send"), () => void this.send()) : undefined,
        act(t("forProjector"), () => this.project(true)),
      ),
      leads ? embedSection(() => this.url, say) : undefined,
    );
    document.addEventListener("fullscreenchange", () => {
      if (!document.fullscreenElement) this.project(false);
    });
    this.panel.onClose = () => this.project(false);
  }

  private async toggle(): Promise<void> {
    if (this.panel.isOpen) return this.panel.open(false);
    const { url, text, origin, code } = await invitationTo(this.room);
    this.url = url;
    if (this.leads) this.address.href = url;
    this.address.textContent = text;
    this.code.replaceChildren(code);
    const warning = warningFor(origin);
    this.warning.hidden = warning === undefined;
    this.warning.textContent = warning === undefined ? "" : t(WARNINGS[warning]);
    this.panel.open(true);
  }

  private async copy(): Promise<void> {
    this.say(await copyText(this.url));
  }

  private async send(): Promise<void> {
    await navigator.share({ title: document.title, url: this.url }).catch((error: unknown) => {
      if (!(error instanceof DOMException && error.name === "AbortError")) return this.copy();
    });
  }

  /** Shows the panel in full screen, readable from the last row. */
  private project(on: boolean): void {
    const { element } = this.panel;
    if (element.classList.contains("projected") === on) return;
    element.classList.toggle("projected", on);
    // If the browser refuses full screen, the panel fills the window.
    if (on) void element.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) void document.exitFullscreen();
    if (!on) this.panel.open(false);
  }
}
