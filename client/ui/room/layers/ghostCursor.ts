/**
 * Two-second animation of a hand that pulls, to explain the room without words. It only draws: it follows the point
 * that it seems to grab, and disappears at the first real pull.
 */
import { h, icon, wear } from "../../dom.ts";

export class GhostCursor {
  private readonly palm = h("span", { class: "palm" }, icon("hand"));
  readonly element = h(
    "div",
    { class: "ghost", "aria-hidden": "true", hidden: true },
    h("span", { class: "band" }),
    this.palm,
  );

  constructor() {
    this.palm.addEventListener("animationend", () => this.end());
  }

  get shown(): boolean {
    return !this.element.hidden;
  }

  /** @param color of this member */
  begin(color: string): void {
    this.element.hidden = true;
    wear(this.element, color);
    this.element.hidden = false;
  }

  /** Moves the animation to its point, window pixels. It pulls to the side that has more room. */
  follow({ x, y }: { x: number; y: number }): void {
    this.element.style.translate = `${x}px ${y}px`;
    this.element.classList.toggle("leftward", x > 0.6 * innerWidth);
  }

  end(): void {
    this.element.hidden = true;
    this.element.classList.add("seen");
  }
}
