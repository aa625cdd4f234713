/** Makes three's camera controls work when mouse and fingers are used at the same time. */
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** Methods of three's controls that register a pointer and record its position. */
interface Tracking {
  _addPointer(event: PointerEvent): void;
  _trackPointer(event: PointerEvent): void;
}
const tracking = OrbitControls.prototype as unknown as Tracking;

/**
 * Camera controls that record the position of a mouse, too. three's own record only fingers. If the end of a mouse
 * press is lost (released over a button, in another window), they throw when a finger is lifted later.
 */
export class ViewControls extends OrbitControls {
  _addPointer(event: PointerEvent): void {
    const controls = this as unknown as Tracking;
    tracking._addPointer.call(controls, event);
    tracking._trackPointer.call(controls, event);
  }
}

/**
 * Lets the controls see only one kind of pointer at a time. three's controls throw if one kind ends while the other
 * turns the view, so later pointers of another kind are ignored. Call it before the controls are created, because they
 * listen at the canvas and at the document behind it.
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
