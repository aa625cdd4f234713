/**
 * Speed at which a gap below the contact thickness opens. Usually a substep restores a share of it. That is a shock to
 * soft bodies that touch exactly at the start: cubes of 1e6 Pa side by side left each other at 0.27 m/s. So for a while
 * after such a start (server/sim/intersections) gaps open no faster than those above colliders.
 */
import * as L from "../layout/layout";
import { RISE } from "../colliders/collide";

/** Returns the largest part of the thickness by which a gap opens in this substep. */
export function mostOpening(): f32 {
  return load<u32>(L.HEADER, L.H_TICK) < load<u32>(L.HEADER, L.H_OPENS_SLOWLY)
    ? RISE * load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS)
    : Infinity;
}
