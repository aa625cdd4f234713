/** Limits of tuning as wide as those of a scene, for tests of other limits. */
import { MOST_GRAVITY, MOST_WIND, type TuningLimits, WIND_SPANS } from "../../../shared/members/tuningLimits.ts";

export const wideLimits = (bodies: number): TuningLimits => ({
  gravity: MOST_GRAVITY,
  wind: { velocity: MOST_WIND, ...WIND_SPANS },
  bodies: Array.from({ length: bodies }, () => ({})),
});
