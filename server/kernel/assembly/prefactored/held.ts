/** Bodies that take no part: held after a blow-up, asleep, or spawnable and absent. */
import * as L from "../layout/layout";

/** Returns whether the host holds a body, which it does by setting inverse masses to 0. @param row PREFACTORED row */
export function isHeld(row: usize): bool {
  if (load<i32>(row, L.PREFACTORED_COLUMNS) === 0) return true;
  const order = <usize>load<u32>(row, L.PREFACTORED_ORDER);
  return load<f32>(<usize>load<u32>(row, L.PREFACTORED_FIRST) + <usize>load<u32>(order), 12) === 0;
}
