/** All settings of a room that a visitor can change, each at both of its limits. */
import {
  BODY_FIELDS,
  type BodyField,
  type Span,
  spanOf,
  type TuningChange,
  WIND_FIELDS,
} from "../../shared/members/tuningLimits.ts";
import type { SimLayout } from "../../server/sim/world/worldLayout.ts";

export interface Knob {
  /** "gravity down", "density least" ... */
  name: string;
  /** Tunings of one tick, in order. */
  changes: TuningChange[];
  /** Push with the largest impulse as often as a room accepts one (Limits.impulsesPerSecond). */
  pushes?: true;
  /** Spawn all spawnable bodies, from the largest height. */
  spawns?: true;
}

const DIRECTIONS = { down: [0, -1, 0], up: [0, 1, 0], aside: [1, 0, 0] } as const;
type Vector = [number, number, number];

/** Sets a field to the same limit in all bodies that have it. */
function ofField({ limits, tuned }: SimLayout, field: BodyField): Knob[] {
  const having = tuned.bodies.filter((body) => body[field] !== undefined);
  if (having.length === 0) return [];
  return (["least", "most"] as const).map((end) => ({
    name: `${field} ${end}`,
    changes: having.map(({ body, ...scene }) => {
      const span: Span = limits.bodies[body]![field] ?? spanOf(field, scene[field]!);
      return { body, [field]: span[end] };
    }),
  }));
}

function ofAir({ limits }: SimLayout): Knob[] {
  const blown = (velocity: number): TuningChange["wind"] => ({ velocity: [velocity, 0, 0], density: 1.2 });
  const { velocity, ...numbers } = limits.wind;
  const knobs: Knob[] = [
    { name: "wind most", changes: [{ wind: blown(velocity) }] },
    { name: "wind up", changes: [{ wind: { ...blown(velocity), velocity: [0, velocity, 0] } }] },
  ];
  for (const field of WIND_FIELDS) {
    if (field === "seed") continue;
    const { least, most } = numbers[field];
    const gusts = field === "scale" ? { intensity: numbers.intensity.most } : {};
    knobs.push({ name: `wind.${field} most`, changes: [{ wind: { ...blown(velocity), ...gusts, [field]: most } }] });
    if (least > 0)
      knobs.push({
        name: `wind.${field} least`,
        changes: [{ wind: { ...blown(velocity), ...gusts, [field]: least } }],
      });
  }
  return knobs;
}

/** All settings of a scene. */
export function knobsOf(layout: SimLayout): Knob[] {
  const { limits, tuned, bodies } = layout;
  const gravity = Object.entries(DIRECTIONS).map(([name, direction]) => ({
    name: `gravity ${name}`,
    changes: [{ gravity: direction.map((part) => part * limits.gravity) as Vector }],
  }));
  const pinned = tuned.bodies.filter(({ pins }) => pins !== undefined);
  return [
    { name: "as the scene says", changes: [] },
    ...gravity,
    ...ofAir(layout),
    ...BODY_FIELDS.flatMap((field) => ofField(layout, field)),
    ...(pinned.length > 0 ? [{ name: "pins off", changes: pinned.map(({ body }) => ({ body, pins: false })) }] : []),
    { name: "impulses", changes: [], pushes: true as const },
    ...(bodies.some(({ spawnable }) => spawnable) ? [{ name: "spawn high", changes: [], spawns: true as const }] : []),
  ];
}
