/** What a scene leaves out. */

/** Defaults of everything a scene may leave out; README.md lists them. */
export const SCENE_DEFAULTS = {
  tickHz: 60,
  substeps: 20,
  iterations: 1,
  gravity: [0, -9.81, 0] as [number, number, number],
  worldRadius: 100,
  quantum: 0.0005,
  grabCompliance: 1e-4,
  grabMaxForce: 200,
  handSpeed: 3,
  grabMaxStretch: 2,
  maxImpulse: 20,
  intersections: "untangle" as "untangle" | "hold",
} as const;

/** MiB that a room's memory grows to, unless the operator says otherwise. */
export const ROOM_MEMORY_MB = 512;
