/**
 * Places of labels under bodies: side by side if there is room, else one below another, beside all tools and below
 * bodies without a label, which would seem to have the label's name.
 */
import type { TopologyBody } from "../../../../shared/topology.ts";
import type { Edges } from "../../../view/roomView.ts";

export interface Placed {
  /** Middle of the body's lower edge. */
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Gap between two labels side by side, and between a body and its label. */
const BESIDE = 6;
const BELOW = 9;
/** A label moves at most so far below its body to leave other bodies free, px. */
const REACH = 90;
/** Height of a label of two lines. */
const LINES = 36;
/** Largest number of bodies that a lesson names in the picture. */
const MOST_NAMED = 8;

/**
 * @returns bodies that a lesson names: all, or those on which its balls act, if there are not too many. The name of a
 *   ball would cover the body below it.
 */
export function comparedBodies(bodies: readonly Pick<TopologyBody, "kind">[]): number[] {
  const acted = bodies.some(({ kind }) => kind !== "ball");
  const named = bodies.flatMap(({ kind }, body) => (acted && kind === "ball" ? [] : [body]));
  return bodies.length > 1 && named.length > 1 && named.length <= MOST_NAMED ? named : [];
}

/**
 * @param tools that no label covers
 * @param width of the window
 * @param bodies and balls without a label
 * @returns the upper left corner of each label; undefined: its place is taken
 */
export function labelPlaces(
  labels: readonly Placed[],
  tools: readonly Edges[],
  width: number,
  bodies: readonly Edges[] = [],
): ({ left: number; top: number } | undefined)[] {
  const taken: Edges[] = [];
  const places = labels.map(() => undefined as { left: number; top: number } | undefined);
  const order = [...labels.keys()].sort((a, b) => labels[a]!.x - labels[b]!.x);
  for (const k of order) {
    const label = labels[k]!;
    // The whole label is inside the window if its body is.
    const whole = label.x > 0 && label.x < width;
    const most = whole ? width - label.width : Infinity;
    const left = Math.max(whole ? 0 : -Infinity, Math.min(most, label.x - label.width / 2));
    const box = { left, right: left + label.width + BESIDE, top: 0, bottom: label.height };
    moveTo(box, label.y + BELOW);
    const others = [...taken, ...bodies.filter(({ bottom }) => bottom < label.y + REACH)];
    // Each move ends below one more of them.
    for (let met = others.find((one) => meet(box, one)); met; met = others.find((one) => meet(box, one)))
      moveTo(box, met.bottom);
    const tool = tools.find((one) => meet(box, one));
    if (tool) {
      // A body is better covered in part than without its name.
      moveTo(box, tool.top - label.height);
      for (const other of taken.toSorted((a, b) => b.bottom - a.bottom))
        if (meet(box, other)) moveTo(box, other.top - label.height);
      if (box.top < 0) continue;
    }
    taken.push(box);
    places[k] = { left, top: box.top };
  }
  return places;
}

/** Least distance of two labels side by side, px; those of stacked bodies stand one below the other anyway. */
export function leastGap(feet: readonly Pick<Placed, "x" | "y">[]): number {
  let least = Infinity;
  feet.forEach((a, n) => {
    for (const b of feet.slice(n + 1)) if (Math.abs(a.y - b.y) < LINES) least = Math.min(least, Math.abs(a.x - b.x));
  });
  return least;
}

const meet = (a: Edges, b: Edges): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function moveTo(box: Edges, top: number): void {
  box.bottom += top - box.top;
  box.top = top;
}
