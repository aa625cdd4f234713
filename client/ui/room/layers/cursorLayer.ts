/**
 * Cursors of other members as elements over the canvas, so that names stay sharp at any picture resolution. A cursor
 * outside of the picture is shown as an arrow at its edge.
 */
import type { ShownCursor } from "../../../view/grabs/cursorsView.ts";
import { h, svg, wear } from "../../dom.ts";

/** Distance of an edge arrow from the picture's edge, CSS pixels; larger at top and bottom, where tools are. */
const INSET = { side: 26, top: 84, bottom: 92 };
/** Within this distance of the right edge, names are to the left of their arrow, CSS pixels. */
const NAME_WIDTH = 170;

const ARROW = "M2 2 6.5 17 9.800 10.400 16.500 7.200Z";

interface Entry {
  element: HTMLElement;
  name: HTMLElement;
}

const arrow = (): SVGSVGElement => svg("svg", { viewBox: "0 0 19 19" }, svg("path", { d: ARROW }));

export class CursorLayer {
  readonly element = h("div", { class: "cursors", "aria-hidden": "true" });
  private readonly entries = new Map<number, Entry>();

  /** @param cursors of all members. @param width of the picture, CSS pixels, as height */
  show(cursors: readonly ShownCursor[], width: number, height: number): void {
    const kept = new Set<number>();
    for (const cursor of cursors) {
      kept.add(cursor.member);
      this.place(this.entryOf(cursor.member), cursor, width, height);
    }
    for (const [member, { element }] of this.entries) {
      if (kept.has(member)) continue;
      element.remove();
      this.entries.delete(member);
    }
  }

  /** Element of a member's cursor; undefined: it has none. */
  of(member: number): Element | undefined {
    return this.entries.get(member)?.element;
  }

  private entryOf(member: number): Entry {
    const known = this.entries.get(member);
    if (known) return known;
    const name = h("span");
    const element = h("div", { class: "cursor", "data-member": String(member) }, arrow(), name);
    this.element.append(element);
    const entry = { element, name };
    this.entries.set(member, entry);
    return entry;
  }

  private place(
    { element, name }: Entry,
    { x, y, name: text, color }: ShownCursor,
    width: number,
    height: number,
  ): void {
    if (name.textContent !== text) name.textContent = text;
    wear(element, color);
    const outside = x < 0 || x > width || y < 0 || y > height;
    const at = outside
      ? {
          x: Math.min(width - INSET.side, Math.max(INSET.side, x)),
          y: Math.min(height - INSET.bottom, Math.max(INSET.top, y)),
        }
      : { x, y };
    element.classList.toggle("outside", outside);
    element.classList.toggle("leftward", at.x > width - NAME_WIDTH);
    element.style.translate = `${at.x}px ${at.y}px`;
    // The arrow shape points up and to the left.
    element.style.setProperty("--turn", outside ? `${Math.atan2(y - at.y, x - at.x) + 0.75 * Math.PI}rad` : "0rad");
  }
}
