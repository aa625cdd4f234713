/** Keeps a mouse and fingers apart from each other, for the camera's controls. */
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** What three's controls do with a pointer that goes down, and with where a finger is. */
interface Tracking {
  _addPointer(event: PointerEvent): void;
  _trackPointer(event: PointerEvent): void;
}
const tracking = OrbitControls.prototype as unknown as Tracking;

/**
 * three's controls remember where fingers are, and not where a mouse is: one whose end was lost (released over a
 * button, in another window) makes them throw when a finger goes up later.
 */
export class ViewControls extends OrbitControls {
  _addPointer(event: PointerEvent): void {
    const controls = this as unknown as Tracking;
    tracking._addPointer.call(controls, event);
    tracking._trackPointer.call(controls, event);
  }
}

/**
 * three's controls know fingers or a mouse, and throw when one kind ends while the other turns the view: whoever comes
 * later is nobody to them. They hear of pointers at the canvas, and at the document behind it: to be called before they
 * are made.
 */
export function oneKindOfPointer(canvas: Pick<HTMLCanvasElement, "addEventListener">): void {
  const turning = new Map<number, string>();
  const ignored = new Set<number>();
  const on = (
    type: "pointerdown" | "pointermove" | "pointerup" | "pointercancel",
    look: (event: PointerEvent) => void,
  ) => canvas.addEventListener(type, look, { capture: true });
  on("pointerdown", (event) => {
    const { pointerId, pointerType } = event;
    if ([...turning.values()].every((type) => type === pointerType)) return void turning.set(pointerId, pointerType);
    ignored.add(pointerId);
    event.stopImmediatePropagation();
  });
  on("pointermove", (event) => {
    if (ignored.has(event.pointerId)) event.stopImmediatePropagation();
  });
  for (const type of ["pointerup", "pointercancel"] as const)
    on(type, (event) => {
      turning.delete(event.pointerId);
      if (ignored.delete(event.pointerId)) event.stopImmediatePropagation();
    });
}
