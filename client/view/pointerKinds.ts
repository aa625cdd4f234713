/** Keeps a mouse and fingers apart from each other, for the camera's controls. */

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
