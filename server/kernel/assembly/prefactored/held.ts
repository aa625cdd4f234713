/** Kinds and states of prefactored bodies. */
import * as L from "../layout/layout";

/** Returns whether a body consists of tetrahedra. @param row PREFACTORED row */
export function isSolid(row: usize): bool {
  return load<i32>(row, L.PREFACTORED_TET_ROWS) > 0;
}

/** Returns whether a body's elastic forces are computed at PREFACTORED_LEAD of its predicted motion (step.ts). */
export function isAhead(row: usize): bool {
  return load<f32>(row, L.PREFACTORED_LEAD) < 1;
}

/**
 * Inertia of P over the masses' up to which contact is solved in its metric: sound crosses about 7 edges in a substep.
 * Without the limit one of six stiffer cubes rebounded above its start, up to 12 times as high.
 */
const STIFF: f32 = 300;

/** Returns whether a body is a solid whose contact is solved in the metric of P (metric.ts, press.ts). */
export function usesMetric(row: usize): bool {
  return isSolid(row) && load<f32>(row, L.PREFACTORED_STIFFER) < STIFF;
}

/**
 * Returns whether a body takes no part: held after a blow-up, asleep, or spawnable and absent. The host holds it by
 * setting inverse masses to 0. @param row PREFACTORED row
 */
export function isHeld(row: usize): bool {
  if (load<i32>(row, L.PREFACTORED_COLUMNS) === 0) return true;
  const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  return load<f32>(<usize>load<u32>(row, L.PREFACTORED_FIRST) + <usize>load<u32>(order), 12) === 0;
}

/** Substeps after the last push in which the energy is guarded: until then, forces have faded to 2^-FADED. */
const FADED = 24;

/** Address of the state behind a body's kept forces. */
export function stateOf(row: usize): usize {
  return <usize>load<u32>(row, L.PREFACTORED_KEPT) + ((<usize>load<i32>(row, L.PREFACTORED_COLUMNS)) << 4);
}

/** Returns whether other bodies have pushed a body when it last met them, in this substep or the one before. */
export function isMet(row: usize): bool {
  return load<i32>(stateOf(row), 4) !== 0;
}

/** Notes whether other bodies push a body in this substep. */
export function noteMet(row: usize, met: bool): void {
  store<i32>(row, met ? 1 : 0, L.PREFACTORED_MET);
  store<i32>(stateOf(row), met ? 1 : 0, 4);
}

/** Returns whether a body kept forces from the substep before this one. */
export function keepsForces(row: usize): bool {
  return load<i32>(stateOf(row)) !== 0;
}

/** Notes whether contacts have pushed a body in this substep, or let its forces fade. */
export function noteForces(row: usize, pushed: bool): void {
  store<i32>(stateOf(row), pushed ? FADED : max<i32>(0, load<i32>(stateOf(row)) - 1));
}
