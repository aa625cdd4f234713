/**
 * Scripts that the latency benchmark injects into a page before the page's own: they stamp pointer events, sent and
 * received messages, and the first picture that differs. Their text is sent to the browser, so each function is
 * self-contained. Times are milliseconds since the epoch on the machine's monotonic clock, comparable between pages and
 * server.
 */

/** A message that was sent or received. `type` is the protocol's number. */
interface Stamp {
  type: number;
  ms: number;
}

export interface SentStamp extends Stamp {
  /** Time at which the browser received the last pointer event before it. */
  eventMs: number;
}

export interface FrameStamp extends Stamp {
  tick: number;
  /** Time at which the page's handler returned: the frame is decoded. */
  decodedMs: number;
}

export interface PictureStamp {
  /** Start of the animation frame. */
  startMs: number;
  /** Time at which the picture was complete in the canvas: its pixels have been read. */
  drawnMs: number;
  /** Tick that it shows. */
  tick: number;
  /** True if pixels differ from the picture before it. */
  changed: boolean;
}

export interface PullerLog {
  sent: SentStamp[];
}

export interface WatcherLog {
  frames: FrameStamp[];
  pictures: PictureStamp[];
  /** Time of the last drawn picture. */
  quietSinceMs: number;
}

interface PageWindow {
  pliantPuller: PullerLog;
  pliantWatcher: WatcherLog;
  pliant?: { tick: number; drawn: number };
  /**
   * Window pixel around which pictures are compared, until the first one that differs: reading pixels waits for the
   * picture. Undefined: no comparison.
   */
  watchAt?: { x: number; y: number } | undefined;
}

/** Installs the probe of the page that pulls. */
export function installPuller(): void {
  const log: PullerLog = { sent: [] };
  (window as unknown as PageWindow).pliantPuller = log;
  let eventMs = Number.NaN;
  for (const kind of ["pointerdown", "pointermove"])
    addEventListener(kind, (event) => void (eventMs = performance.timeOrigin + event.timeStamp), { capture: true });
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    // A message is an array of up to 15 fields that begins with a small number: the second byte is the type.
    log.sent.push({ type: (data as Uint8Array)[1]!, ms: performance.timeOrigin + performance.now(), eventMs });
    send.call(this, data);
  };
}

/**
 * For the page that watches. It drops messages about grabs (68), so that only the body changes in its picture, and no
 * cursor or band.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the page receives only this function's own text
export function installWatcher(): void {
  const HANDS = 68;
  const KEYFRAME = 65;
  const DELTA = 66;
  const HALF = 60;
  const page = window as unknown as PageWindow;
  const log: WatcherLog = { frames: [], pictures: [], quietSinceMs: 0 };
  page.pliantWatcher = log;
  const now = () => performance.timeOrigin + performance.now();

  const uint = (bytes: Uint8Array, at: number): number => {
    const head = bytes[at]!;
    if (head < 0x80) return head;
    let value = 0;
    for (let i = 1; i <= (head === 0xcc ? 1 : head === 0xcd ? 2 : 4); i++) value = value * 256 + bytes[at + i]!;
    return value;
  };

  const handler = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage")!;
  Object.defineProperty(WebSocket.prototype, "onmessage", {
    get() {
      return handler.get!.call(this);
    },
    set(this: WebSocket, listen: ((event: MessageEvent) => void) | null) {
      handler.set!.call(
        this,
        listen &&
          ((event: MessageEvent) => {
            const ms = now();
            const bytes = new Uint8Array(event.data as ArrayBuffer);
            const type = bytes[1]!;
            if (type === HANDS) return;
            listen.call(this, event);
            if (type === KEYFRAME || type === DELTA)
              log.frames.push({ type, tick: uint(bytes, 2), ms, decodedMs: now() });
          }),
      );
    },
  });

  let drawn = 0;
  let before = new Uint8Array(0);
  const look = (startMs: number) => {
    const { pliant, watchAt } = page;
    if (!pliant || pliant.drawn === drawn) return;
    drawn = pliant.drawn;
    log.quietSinceMs = now();
    const canvas = document.querySelector<HTMLCanvasElement>("canvas.view");
    const gl = canvas?.getContext("webgl2");
    if (!canvas || !gl || !watchAt) {
      before = new Uint8Array(0);
      return;
    }
    const box = canvas.getBoundingClientRect();
    const scale = canvas.width / box.width;
    const pixels = new Uint8Array(4 * (2 * HALF) ** 2);
    gl.readPixels(
      Math.round((watchAt.x - box.left) * scale) - HALF,
      Math.round((box.bottom - watchAt.y) * scale) - HALF,
      2 * HALF,
      2 * HALF,
      gl.RGBA,
      gl.UNSIGNED_BYTE,
      pixels,
    );
    const changed = before.length === pixels.length && pixels.some((value, i) => value !== before[i]);
    before = pixels;
    if (changed) page.watchAt = undefined;
    log.pictures.push({ startMs, drawnMs: now(), tick: pliant.tick, changed });
  };
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) =>
    request((frameMs) => {
      const startMs = now();
      callback(frameMs);
      look(startMs);
    });
}
