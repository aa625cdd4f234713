/**
 * Pins of the room as buttons over the canvas, which remove them, and the offer to pin the points that this member
 * holds.
 */
import type { Pin } from "../../../../shared/members/pin.ts";
import { t } from "../../../text/text.ts";
import { h, svg } from "../../dom.ts";

/** A pushpin; its point is at 12, 22 of the 24 x 24 grid. */
const PIN = "M12 22V14M8 3h8l-1 6 2.500 5h-11L9 9z";

interface Place {
  x: number;
  y: number;
}

export interface PinActions {
  /** Pins all points that this member holds. */
  pinHere: () => void;
  unpin: (pin: number) => void;
}

export class PinLayer {
  readonly element = h("div", { class: "pins", role: "group", "aria-label": t("pinsHere") });
  /** Shown while this member holds a point. It takes no focus: the keyboard's grab ends when the canvas loses it. */
  readonly offer: HTMLButtonElement;
  private readonly unpin: PinActions["unpin"];
  private readonly buttons = new Map<number, HTMLButtonElement>();
  private pins: ReadonlyMap<number, Pin> = new Map();
  private allowed = false;

  constructor({ pinHere, unpin }: PinActions) {
    this.unpin = unpin;
    this.offer = h(
      "button",
      { class: "pin-here glass", type: "button", tabindex: "-1", hidden: true, onclick: pinHere },
      svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: PIN })),
      t("pinHere"),
      h("kbd", {}, "K"),
    );
  }

  setAllowed(allowed: boolean): void {
    this.allowed = allowed;
    for (const button of this.buttons.values()) button.disabled = !allowed;
  }

  /** @param nameOf name of a body */
  set(pins: Readonly<Record<number, Pin>>, nameOf: (body: number) => string): void {
    this.pins = new Map(Object.entries(pins).map(([pin, at]) => [Number(pin), at]));
    for (const [pin, button] of this.buttons) {
      if (this.pins.has(pin)) continue;
      button.remove();
      this.buttons.delete(pin);
    }
    for (const [pin, at] of this.pins) {
      const button = this.buttons.get(pin) ?? this.add(pin);
      const label = t("removePin", { body: at.together ? t("all") : nameOf(at.body) });
      button.title = label;
      button.ariaLabel = label;
    }
  }

  /**
   * @param holds this member holds a point
   * @param placeOf place of a pin in the picture, CSS pixels; undefined: not in sight
   */
  show(holds: boolean, placeOf: (at: Pin) => Place | undefined): void {
    const hidden = !(holds && this.allowed);
    if (this.offer.hidden !== hidden) this.offer.hidden = hidden;
    for (const [pin, at] of this.pins) {
      const button = this.buttons.get(pin)!;
      const place = placeOf(at);
      button.hidden = place === undefined;
      if (place) button.style.translate = `${place.x}px ${place.y}px`;
    }
  }

  private add(pin: number): HTMLButtonElement {
    const button = h(
      "button",
      { class: "pin", type: "button", "data-pin": String(pin), onclick: () => this.unpin(pin) },
      svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: PIN })),
    );
    button.disabled = !this.allowed;
    this.buttons.set(pin, button);
    this.element.append(button);
    return button;
  }
}
