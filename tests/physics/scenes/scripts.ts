/** Scripted grabs for each contact scene: a few ticks that show its purpose, then random pulls. */
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { stream, wander, type Script } from "./hands.ts";

export const JELLIES = Array.from({ length: 100 }, (_, n) => `jelly ${n + 1}`);

/** Ticks between two shots of the bullet. */
const SHOT = 120;

/** Random pulls on all bodies from the first tick on, for a short run. */
export const rush = (bodies: readonly string[], ticks: number): Script => ({
  pulls: wander(bodies, { hands: 3, from: 1, until: ticks, reach: 0.06, seed: 1 }),
});

/** @param ticks length of the run; seed selects other pulls */
export const SCRIPTS: Record<string, (ticks: number, seed: number) => Script> = {
  "cloth-through-funnel": (ticks, seed) => ({
    pulls: [
      // by its middle through the mouth and out below, slowly enough for the rest to follow
      {
        body: "sheet",
        at: [0, 0.5, 0],
        from: 60,
        until: 240,
        by: [
          [0, -0.3, 0],
          [0.1, -0.35, 0.1],
          [0.5, -0.3, 0.3],
        ],
      },
      ...wander(["sheet"], { hands: 3, from: 260, until: ticks, reach: 0.5, seed }),
    ],
  }),
  "flag-on-pole": (ticks, seed) => ({
    pulls: [
      // pulled back while the pole winds it up, then out from between the layers
      {
        body: "flag",
        at: [1, 1.3, 0],
        from: 100,
        until: 300,
        by: [
          [0, 0, 0.1],
          [-0.3, -0.2, 0.2],
          [0.4, 0, 0.4],
        ],
      },
      ...wander(["flag"], { hands: 2, from: 320, until: ticks, reach: 0.35, seed }),
    ],
  }),
  "tangled-hands": (ticks, seed) => ({
    pulls: [
      // under the other sheet, around the jelly, and both ends up
      {
        body: "blue sheet",
        at: [0.5, 0.3, 0],
        from: 40,
        until: 200,
        by: [
          [0, 0, 0.5],
          [-0.5, 0, 0.5],
          [-1, 0.3, 0],
        ],
      },
      {
        body: "red sheet",
        at: [0, 0.3, 0.5],
        from: 50,
        until: 220,
        by: [
          [-0.5, 0, 0],
          [-0.4, 0.3, -0.6],
          [0.2, 0.5, -0.9],
        ],
      },
      {
        body: "jelly",
        at: [0.1, 0.45, 0.1],
        from: 90,
        until: 240,
        by: [
          [0, 0.4, 0],
          [0.2, 0.5, 0.1],
        ],
      },
      ...wander(["blue sheet", "red sheet", "jelly"], { hands: 5, from: 240, until: ticks, reach: 0.5, seed }),
    ],
  }),
  "hundred-bodies": (ticks, seed) => ({
    pulls: wander(JELLIES, { hands: 4, from: 40, until: ticks, reach: 0.5, seed }),
  }),
  "bullet-curtain": (ticks, seed) => {
    const random = stream(seed);
    const resets = Array.from({ length: Math.floor(ticks / SHOT) }, (_, n) => (n + 1) * SHOT);
    const either = (size: number): number => size * (2 * random() - 1);
    return {
      resets,
      // every shot at another place, at a curtain under a grab
      blows: resets.map((tick) => ({
        body: "bullet",
        at: [0, 0, 10] as Vec3,
        tick,
        impulse: [either(0.07), either(0.05), 0] as Vec3,
      })),
      pulls: resets.flatMap((tick) =>
        wander(["curtain"], { hands: 2, from: tick - SHOT + 1, until: tick - 1, reach: 0.5, seed: seed + tick }),
      ),
    };
  },
};
