/** Defaults of scenes. */

/** Defaults of all optional values of a scene; README.md lists them. */
export const SCENE_DEFAULTS = {
  tickHz: 60,
  substeps: 20,
  iterations: 1,
  gravity: [0, -9.81, 0] as [number, number, number],
  worldRadius: 100,
  quantum: 0.0005,
  grabCompliance: 1e-4,
  grabMaxForce: 200,
  grabSpeed: 3,
  grabMaxStretch: 2,
  maxImpulse: 20,
  intersections: "untangle" as "untangle" | "hold",
} as const;

/** Size that a room's memory may grow to, MiB, unless the operator sets another. */
export const ROOM_MEMORY_MB = 512;
