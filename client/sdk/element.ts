/**
 * `<pliant-room src="https://host/r/room">`: the page of a room in an iframe, as a custom element. It is laid out like
 * any block element and reports the room's state by events. The server must list the page's origin in
 * PLIANT_EMBED_ORIGINS.
 */

/** Attributes that are passed on as query parameters of the page. */
const PARAMETERS = ["name", "ui", "scene", "lang", "exhibit"] as const;
/** Time for the page to report itself after the frame has loaded, ms. After that the element fires NO_ANSWER. */
const ANSWER_MS = 5000;
const HEIGHT_PX = 400;

/** Messages of the room's page to the page that embeds it: `{pliant: type, ...}`. */
export interface PliantRoomEvents {
  /** The bodies have been drawn for the first time. */
  ready: CustomEvent<{ pliant: "ready" }>;
  /** State of the connection. */
  state: CustomEvent<{ pliant: "state"; state: "connecting" | "open" | "reconnecting" | "ended" }>;
  /** Number of people in the room. */
  members: CustomEvent<{ pliant: "members"; count: number }>;
  /** `BAD_ARGUMENT`: an attribute is invalid. `NO_ANSWER`: the frame does not show a room's page. */
  error: CustomEvent<PliantRoomError>;
}

export interface PliantRoomError {
  code: "BAD_ARGUMENT" | "NO_ANSWER";
  field: string;
  value: string;
  limit: string;
}

// Lets servers that render pages import this module, too.
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

export class PliantRoomElement extends Base {
  static readonly observedAttributes = ["src", "allow", ...PARAMETERS];
  private readonly frame = document.createElement("iframe");
  private readonly hear = (event: MessageEvent): void => this.receive(event);
  private answered = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    const { frame } = this;
    frame.style.cssText = "display: block; width: 100%; height: 100%; border: 0";
    frame.addEventListener("load", () => {
      clearTimeout(this.timer);
      if (frame.src !== "") this.timer = setTimeout(() => this.answered || this.fail("NO_ANSWER"), ANSWER_MS);
    });
    const root = this.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    style.textContent = `:host { display: block; height: ${HEIGHT_PX}px } :host([hidden]) { display: none }`;
    root.append(style, frame);
  }

  connectedCallback(): void {
    addEventListener("message", this.hear);
    this.open();
  }

  disconnectedCallback(): void {
    removeEventListener("message", this.hear);
    clearTimeout(this.timer);
  }

  attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
    if (this.isConnected && before !== after) this.open();
  }

  /** Returns to the scene's own view. */
  home(): void {
    this.tell("home");
  }

  /** Restarts the scene for everyone, if this visitor's role allows it. */
  reset(): void {
    this.tell("reset");
  }

  private open(): void {
    const address = this.address();
    this.frame.allow = this.getAttribute("allow") ?? "fullscreen; xr-spatial-tracking; clipboard-write";
    this.frame.title = this.getAttribute("title") ?? "Pliant";
    if (address?.href === this.frame.src) return;
    this.answered = false;
    clearTimeout(this.timer);
    if (address) this.frame.src = address.href;
    else this.frame.removeAttribute("src");
  }

  private address(): URL | undefined {
    const src = this.getAttribute("src") ?? "";
    const url = URL.canParse(src, document.baseURI) ? new URL(src, document.baseURI) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || !/^\/r\/[^/]+\/?$/.test(url.pathname)) {
      this.fail("BAD_ARGUMENT");
      return undefined;
    }
    for (const name of PARAMETERS) {
      const value = this.getAttribute(name);
      if (value !== null) url.searchParams.set(name, value);
    }
    return url;
  }

  private receive({ source, origin, data }: MessageEvent): void {
    const { frame } = this;
    if (source !== frame.contentWindow || !frame.src || origin !== new URL(frame.src).origin) return;
    const type = (data as { pliant?: unknown } | null)?.pliant;
    if (type !== "ready" && type !== "state" && type !== "members") return;
    this.answered = true;
    this.dispatchEvent(new CustomEvent(type, { detail: data as object }));
  }

  private tell(command: "home" | "reset"): void {
    if (this.frame.src) this.frame.contentWindow?.postMessage({ pliant: command }, new URL(this.frame.src).origin);
  }

  private fail(code: PliantRoomError["code"]): void {
    const limit =
      code === "NO_ANSWER"
        ? "a room's page of a server that lists this origin in PLIANT_EMBED_ORIGINS"
        : "http(s)://host[:port]/r/<room>";
    const detail: PliantRoomError = { code, field: "src", value: this.getAttribute("src") ?? "", limit };
    this.dispatchEvent(new CustomEvent("error", { detail }));
  }
}

// The element may be defined already: by a script of another server, or by the package.
const registry = globalThis.customElements;
if (registry && !registry.get("pliant-room")) registry.define("pliant-room", PliantRoomElement);
