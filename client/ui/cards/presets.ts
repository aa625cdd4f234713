/**
 * Presets of the physics panel: one tap changes several values, within the room's limits. *Soft* and *Stiff* go on from
 * the current values; the others set their values.
 */
import {
  type BodyField,
  SPANS,
  type Tuning,
  type TuningChange,
  type TuningLimits,
} from "../../../shared/members/tuningLimits.ts";
import type { PlainKey } from "../../text/text.ts";

/** Gravity of the Moon, m/s^2. */
const MOON = 1.62;
/** Velocity damping as if the bodies were in honey, 1/s. */
const HONEY = 8;
const SLOW = 0.25;
/** Wind, m/s and the share of its gusts. */
const WINDY = { speed: 10, intensity: 0.4 };
/** Factor of *Soft* and *Stiff*. */
const STRONG = 4;

interface Preset {
  text: PlainKey;
  /** Changes for the room now. */
  changes: (now: Tuning, limits: TuningLimits) => TuningChange[];
}

const gravity =
  (strength: number): Preset["changes"] =>
  (_now, limits) => [{ gravity: [0, -Math.min(strength, limits.gravity), 0] }];

/** Sets a field of all bodies that have it. */
function all(now: Tuning, limits: TuningLimits, field: BodyField, of: (value: number) => number): TuningChange[] {
  return now.bodies.flatMap(({ body, [field]: value }) => {
    if (value === undefined) return [];
    const { least, most } = limits.bodies[body]?.[field] ?? SPANS[field];
    const next = Math.min(most, Math.max(least, of(value)));
    return next === value ? [] : [{ body, [field]: next }];
  });
}

const stiffness =
  (factor: number): Preset["changes"] =>
  (now, limits) =>
    (["youngsModulus", "bendingStiffness"] as const).flatMap((field) =>
      all(now, limits, field, (value) => value * factor),
    );

function windy({ wind }: Tuning, limits: TuningLimits): TuningChange[] {
  const { least, most } = limits.wind.intensity;
  return [
    {
      wind: {
        velocity: [Math.min(WINDY.speed, limits.wind.velocity), 0, 0],
        intensity: Math.min(most, Math.max(least, WINDY.intensity)),
        ...(wind.density === 0 && { density: 1.2 }),
        ...(wind.intensity === 0 && { scale: 2, seed: 1 }),
      },
    },
  ];
}

export const PRESETS: readonly Preset[] = [
  { text: "presetMoon", changes: gravity(MOON) },
  { text: "presetWeightless", changes: gravity(0) },
  { text: "presetHoney", changes: (now, limits) => all(now, limits, "damping", () => HONEY) },
  { text: "presetWindy", changes: windy },
  { text: "presetSlow", changes: () => [{ timeScale: SLOW }] },
  { text: "presetSoft", changes: stiffness(1 / STRONG) },
  { text: "presetStiff", changes: stiffness(STRONG) },
];

/** True if the preset would change anything here. */
export const isUseful = ({ text, changes }: Preset, now: Tuning, limits: TuningLimits): boolean =>
  !["presetHoney", "presetSoft", "presetStiff"].includes(text) || changes(now, limits).length > 0;
