/**
 * Mouse, pen and fingers: what begins on a body holds it (or pushes it), everything else is left to the camera's
 * controls. Listens in the capture phase on the canvas's parent, so that a pointer that holds something never turns the
 * camera as well.
 */
import type { GrabController } from "./grabController.ts";
import type { Picked, RoomView } from "../view/roomView.ts";

export interface PointerInputOptions {
  view: RoomView;
  grabs: GrabController;
  /** The parent of the canvas. */
  area: HTMLElement;
  canvas: HTMLCanvasElement;
  /** True: a click pushes instead of holding. */
  pushing: () => boolean;
  push: (picked: Picked) => void;
  /** True: a click says where a body is to go. */
  placing: () => boolean;
  place: (clientX: number, clientY: number) => void;
  /** The mouse points here (window pixels); undefined when it left. */
  hover: (at: { x: number; y: number } | undefined) => void;
  /** The player can act: the line is up. */
  enabled: () => boolean;
}

/** How far beside a body still takes hold, CSS pixels. */
const TOLERANCE: Record<string, number> = { mouse: 6, pen: 8, touch: 22 };

export function listenToPointers(options: PointerInputOptions): void {
  const { view, grabs, area, canvas } = options;
  const swallow = (event: Event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  const inCanvas = (event: Event) => event.target === canvas;

  area.addEventListener(
    "pointerdown",
    (event) => {
      // Other buttons and modifiers are the camera's.
      if (
        !inCanvas(event) ||
        event.button !== 0 ||
        event.ctrlKey ||
        event.metaKey ||
        event.shiftKey ||
        !options.enabled()
      )
        return;
      if (options.placing()) {
        options.place(event.clientX, event.clientY);
        return swallow(event);
      }
      const picked = view.pick(event.clientX, event.clientY, TOLERANCE[event.pointerType] ?? 6);
      if (!picked) return;
      if (options.pushing()) {
        options.push(picked);
        return swallow(event);
      }
      if (!grabs.begin(event.pointerId, picked, event.clientX, event.clientY)) return;
      // Synthetic pointers of tests cannot be captured.
      try {
        canvas.setPointerCapture(event.pointerId);
      } catch {
        // The browser has already let the pointer go; pointerup still arrives.
      }
      canvas.classList.add("holding");
      swallow(event);
    },
    { capture: true },
  );

  area.addEventListener(
    "pointermove",
    (event) => {
      if (grabs.holds(event.pointerId)) {
        grabs.move(event.pointerId, event.clientX, event.clientY);
        swallow(event);
      }
      if (event.pointerType === "mouse" && inCanvas(event)) options.hover({ x: event.clientX, y: event.clientY });
    },
    { capture: true },
  );

  const end = (event: PointerEvent) => {
    if (!grabs.holds(event.pointerId)) return;
    grabs.end(event.pointerId);
    canvas.classList.toggle("holding", grabs.count > 0);
    swallow(event);
  };
  area.addEventListener("pointerup", end, { capture: true });
  area.addEventListener("pointercancel", end, { capture: true });
  canvas.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") options.hover(undefined);
  });

  area.addEventListener(
    "wheel",
    (event) => {
      if (!inCanvas(event) || grabs.count === 0) return;
      // Notches on a mouse, small fractions of one on a touch pad.
      grabs.depth(event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY / 100 : event.deltaY / 3);
      swallow(event);
    },
    { capture: true, passive: false },
  );
}
