/**
 * Grabbing with the keyboard: arrows move a mark over the picture, and space grabs the body under it. During a grab,
 * arrows pull, page up and page down change the depth, and space releases. In push and placing mode, space acts as a
 * click at the mark. After PhET's grab-and-move interaction.
 */
import type { Picked, RoomView } from "../view/roomView.ts";
import type { GrabController } from "./grabController.ts";

export interface KeyboardPointerOptions {
  view: RoomView;
  grabs: GrabController;
  canvas: HTMLCanvasElement;
  /** Element that shows the mark. */
  mark: HTMLElement;
  /** @returns true if the click was used by another mode (push, placing) */
  click: (clientX: number, clientY: number, picked: Picked | undefined) => boolean;
  /** True if the player can act: the connection is open. */
  enabled: () => boolean;
  /** Announces the result to screen readers. */
  did: (what: "held" | "nothing" | "released", picked?: Picked) => void;
  /** Aborted to stop listening. */
  signal: AbortSignal;
}

/** Pointer id of the keyboard; ids of real pointers are never negative. */
const POINTER = -1;
/** Distance of one arrow press, CSS pixels; FINE_PX with shift. */
const STEP_PX = 24;
const FINE_PX = 4;
/** A press this far beside a body still grabs it, CSS pixels: as for fingers. */
const TOLERANCE_PX = 22;

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** Wheel notches per key press. */
const DEPTHS: Readonly<Record<string, number>> = { PageUp: 1, PageDown: -1 };

export class KeyboardPointer {
  private readonly options: KeyboardPointerOptions;
  /** Position of the mark, window pixels; undefined until the first key press. */
  private at: { x: number; y: number } | undefined;

  constructor(options: KeyboardPointerOptions) {
    this.options = options;
    const { canvas, signal } = options;
    canvas.addEventListener("keydown", (event) => this.key(event), { signal });
    canvas.addEventListener("blur", () => this.leave(), { signal });
    canvas.addEventListener("pointerdown", () => this.leave(), { signal });
  }

  private get holding(): boolean {
    return this.options.grabs.holds(POINTER);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    const depth = DEPTHS[event.key];
    if (arrow) this.move(arrow, event.shiftKey ? FINE_PX : STEP_PX);
    else if (depth !== undefined && this.holding) this.options.grabs.depth(depth);
    else if (event.key === " " || event.key === "Enter") this.press(event.repeat);
    else return;
    event.preventDefault();
  }

  private move([dx, dy]: readonly [number, number], step: number): void {
    const { x, y } = this.start();
    const box = this.options.canvas.getBoundingClientRect();
    this.at = {
      x: Math.min(box.right - 1, Math.max(box.left, x + dx * step)),
      y: Math.min(box.bottom - 1, Math.max(box.top, y + dy * step)),
    };
    if (this.holding) this.options.grabs.move(POINTER, this.at.x, this.at.y);
    this.show();
  }

  private press(repeated: boolean): void {
    const { view, grabs, enabled, click, did } = this.options;
    if (repeated || !enabled()) return;
    if (this.holding) {
      grabs.end(POINTER);
      return did("released");
    }
    this.at = this.start();
    const { x, y } = this.at;
    this.show();
    const picked = view.pick(x, y, TOLERANCE_PX);
    if (click(x, y, picked)) return;
    if (picked && grabs.begin(POINTER, picked, x, y)) return did("held", picked);
    // Put the mark over the body nearest to the middle, so that the next press grabs it.
    this.at = undefined;
    this.at = this.start();
    this.show();
    did("nothing");
  }

  /** Returns the mark's position; the first one is over the body nearest to the middle. */
  private start(): { x: number; y: number } {
    if (this.at) return this.at;
    const { view, canvas } = this.options;
    const middle = view.pickMiddle();
    const found = middle && view.project(middle.point);
    const box = canvas.getBoundingClientRect();
    return found ?? { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  }

  private show(): void {
    const { mark } = this.options;
    mark.hidden = this.at === undefined;
    if (this.at) mark.style.translate = `${this.at.x}px ${this.at.y}px`;
  }

  /** Releases the grab and hides the mark, when the focus or the pointer goes elsewhere. */
  private leave(): void {
    if (this.holding) this.options.grabs.end(POINTER);
    this.at = undefined;
    this.show();
  }
}
