/**
 * Mouse, pen and finger input. A press on a body grabs, pushes or places it; other presses go to the camera controls.
 * Listens in the capture phase on the canvas's parent, so that a grabbing pointer never turns the camera.
 */
import type { GrabController } from "./grabController.ts";
import type { Picked, RoomView } from "../view/roomView.ts";

export interface PointerInputOptions {
  view: RoomView;
  grabs: GrabController;
  /** Parent element of the canvas. */
  area: HTMLElement;
  canvas: HTMLCanvasElement;
  /** True if a click pushes instead of grabbing. */
  pushing: () => boolean;
  push: (picked: Picked) => void;
  /** True if a click chooses the place of a body. */
  placing: () => boolean;
  place: (clientX: number, clientY: number) => void;
  /** Reports where the mouse points, window pixels; undefined after it left the canvas. */
  hover: (at: { x: number; y: number } | undefined) => void;
  /** True if the player can act: the connection is open. */
  enabled: () => boolean;
}

/** A press this far beside a body still grabs it, CSS pixels. */
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
      // Presses with other buttons or with modifier keys belong to the camera.
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
      // Capture fails for synthetic pointers of tests.
      try {
        canvas.setPointerCapture(event.pointerId);
      } catch {
        // The browser has already released the pointer; pointerup still arrives.
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
      // A mouse reports notches, a touch pad small fractions of a notch.
      grabs.depth(event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY / 100 : event.deltaY / 3);
      swallow(event);
    },
    { capture: true, passive: false },
  );
}
