/**
 * Pulling without a pointer: arrows move a mark over the picture, space takes hold of what is under it, arrows pull,
 * page up and page down push it away and fetch it, space lets go. What a click does in another mode (push, put in), the
 * space bar does at the mark. After PhET's grab-and-move interaction.
 */
import type { Picked, RoomView } from "../view/roomView.ts";
import type { GrabController } from "./grabController.ts";

export interface KeyboardHandOptions {
  view: RoomView;
  grabs: GrabController;
  canvas: HTMLCanvasElement;
  /** Shows where the hand is. */
  mark: HTMLElement;
  /** @returns whether a click means something else now, and has been done */
  click: (clientX: number, clientY: number, picked: Picked | undefined) => boolean;
  /** The player can act: the line is up. */
  enabled: () => boolean;
  /** For who cannot see it. */
  did: (what: "held" | "nothing" | "released", picked?: Picked) => void;
  /** Ends the listening. */
  signal: AbortSignal;
}

/** The hand of the keyboard among this member's pointers, whose ids are not negative. */
const POINTER = -1;
/** One press of an arrow, CSS pixels; with shift a fine one. */
const STEP_PX = 24;
const FINE_PX = 4;
/** How far beside a body still takes hold, CSS pixels: as for fingers. */
const TOLERANCE_PX = 22;

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** Notches of a wheel. */
const DEPTHS: Readonly<Record<string, number>> = { PageUp: 1, PageDown: -1 };

export class KeyboardHand {
  private readonly options: KeyboardHandOptions;
  /** Window pixels; undefined until an arrow has been pressed. */
  private at: { x: number; y: number } | undefined;

  constructor(options: KeyboardHandOptions) {
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
    // Nobody has to search: the next press holds what is nearest to the middle.
    this.at = undefined;
    this.at = this.start();
    this.show();
    did("nothing");
  }

  /** The mark's place; at first over what is nearest to the middle. */
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

  /** Somebody goes on with something else. */
  private leave(): void {
    if (this.holding) this.options.grabs.end(POINTER);
    this.at = undefined;
    this.show();
  }
}
