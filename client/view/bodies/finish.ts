/**
 * Surface finishes: how a body's material reflects, scatters and passes light.
 *
 *   glow   share of light that comes through the body: jelly is lit from within and glows against the light
 *   rim    light scattered at grazing angles
 *   thread distance of a weave's threads, m; 0: no weave
 */
import type { Finish } from "../../../shared/scene/scene.ts";
import type { TopologyBody } from "../../../shared/topology.ts";

export interface FinishValues {
  roughness: number;
  metalness: number;
  glow: number;
  rim: number;
  thread: number;
}

export const FINISHES: Record<Finish, FinishValues> = {
  jelly: { roughness: 0.14, metalness: 0, glow: 1, rim: 0.3, thread: 0 },
  rubber: { roughness: 0.42, metalness: 0, glow: 0.3, rim: 0.2, thread: 0 },
  foam: { roughness: 0.95, metalness: 0, glow: 0.4, rim: 0.12, thread: 0 },
  clay: { roughness: 0.85, metalness: 0, glow: 0, rim: 0.05, thread: 0 },
  metal: { roughness: 0.3, metalness: 0.9, glow: 0, rim: 0, thread: 0 },
  canvas: { roughness: 0.88, metalness: 0, glow: 0.12, rim: 0.22, thread: 0.006 },
  silk: { roughness: 0.38, metalness: 0, glow: 0.2, rim: 0.5, thread: 0 },
  leather: { roughness: 0.6, metalness: 0, glow: 0, rim: 0.1, thread: 0 },
  paper: { roughness: 0.95, metalness: 0, glow: 0.3, rim: 0.05, thread: 0 },
};

export const DEFAULT_FINISH = { cloth: "canvas", soft: "rubber", ball: "rubber", points: "rubber" } as const;

/** Roughness of balls and points without a finish. */
export const SMOOTH: Partial<Record<TopologyBody["kind"], number>> = { ball: 0.28, points: 0.35 };
