/**
 * Common part of the classes that rewrite a body for another material: the room's memory, and the values that it began
 * with, from which all of them start.
 */
import { statusAt } from "../spawn/spawnableBodies.ts";
import type { Views } from "../world/views.ts";
import type { SimLayout } from "../world/worldLayout.ts";

export abstract class MaterialWriter {
  protected readonly views: Views;
  protected readonly layout: SimLayout;
  protected readonly template: () => Float32Array;

  /** @param template the memory image that the room began as, never stepped */
  constructor(views: Views, layout: SimLayout, template: () => Float32Array) {
    this.views = views;
    this.layout = layout;
    this.template = template;
  }

  /**
   * Writes inverse masses of a body's particles, and of their copies for reset and roll-back.
   * @param heavier mass over that in the scene
   * @param unpinned inverse masses of particles that the scene pins, by their number in the body
   */
  protected writeInverseMasses(b: number, heavier: number, unpinned: ReadonlyMap<number, number> = new Map()): void {
    const { layout } = this;
    const { f32, i32 } = this.views;
    const { first, count } = layout.bodies[b]!;
    const from = this.template();
    // a held body has no inverse masses now
    const there = i32[statusAt(layout, b)] === 0;
    const copies = there ? [layout.x, layout.initial, layout.good] : [layout.initial, layout.good];
    for (let i = 0; i < count; i++) {
      const inverse = unpinned.get(i) ?? from[layout.initial / 4 + 4 * (first + i) + 3]! / heavier;
      for (const rows of copies) f32[rows / 4 + 4 * (first + i) + 3] = inverse;
    }
  }
}

/** Stiffness against a stretch with no strain across it, over Young's modulus. */
export function confined(flat: boolean, nu: number): number {
  return flat ? 1 / (1 - nu * nu) : (1 - nu) / ((1 + nu) * (1 - 2 * nu));
}
