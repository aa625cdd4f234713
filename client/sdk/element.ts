/**
 * `<pliant-room src="https://host/r/room">`: a room's own page in a frame, as an element. It sizes as any block does,
 * tells what happens in the room by events, and needs nothing of the page but the server's leave
 * (PLIANT_EMBED_ORIGINS).
 */

/** Attributes of the element that are the page's parameters. */
const PARAMETERS = ["name", "ui", "scene", "lang", "exhibit"] as const;
/** After the frame has loaded: a room's page has said by then that it is there, ms. */
const ANSWER_MS = 5000;
const HEIGHT_PX = 400;

/** What the room's page says to the page that frames it: `{pliant: type, ...}`. */
export interface PliantRoomEvents {
  /** The bodies have been drawn for the first time. */
  ready: CustomEvent<{ pliant: "ready" }>;
  /** Of the line. */
  state: CustomEvent<{ pliant: "state"; state: "connecting" | "open" | "reconnecting" | "ended" }>;
  /** How many people are there. */
  members: CustomEvent<{ pliant: "members"; count: number }>;
  /** `BAD_ARGUMENT`: an attribute cannot be followed. `NO_ANSWER`: the frame shows no room's page. */
  error: CustomEvent<PliantRoomError>;
}

export interface PliantRoomError {
  code: "BAD_ARGUMENT" | "NO_ANSWER";
  field: string;
  value: string;
  limit: string;
}

// A server that renders pages may import this too.
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

  /** The scene's own view. */
  home(): void {
    this.tell("home");
  }

  /** The scene begins again, for everyone, if this visitor may do that. */
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

// A page may have this from two servers, or from one and from the package.
const registry = globalThis.customElements;
if (registry && !registry.get("pliant-room")) registry.define("pliant-room", PliantRoomElement);
