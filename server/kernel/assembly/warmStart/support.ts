/**
 * Shared code of the warm start's kinds: fields of each lane's body, sums over bodies, and the support of particles.
 */
import * as L from "../layout/layout";

/** Loads a field (f32) of the bodies of four lanes. @param rows BODY rows; lanes address of four body numbers */
// @inline
export function ofBody(rows: usize, lanes: usize, field: usize): v128 {
  return f32x4(
    load<f32>(rows + <usize>load<u32>(lanes, 0) * L.BODY_BYTES + field),
    load<f32>(rows + <usize>load<u32>(lanes, 4) * L.BODY_BYTES + field),
    load<f32>(rows + <usize>load<u32>(lanes, 8) * L.BODY_BYTES + field),
    load<f32>(rows + <usize>load<u32>(lanes, 12) * L.BODY_BYTES + field),
  );
}

/** A field (f64) of each lane's body += value, lane by lane. */
// @inline
export function addTo(rows: usize, lanes: usize, field: usize, value: v128): void {
  addLane(rows + <usize>load<u32>(lanes, 0) * L.BODY_BYTES + field, f32x4.extract_lane(value, 0));
  addLane(rows + <usize>load<u32>(lanes, 4) * L.BODY_BYTES + field, f32x4.extract_lane(value, 1));
  addLane(rows + <usize>load<u32>(lanes, 8) * L.BODY_BYTES + field, f32x4.extract_lane(value, 2));
  addLane(rows + <usize>load<u32>(lanes, 12) * L.BODY_BYTES + field, f32x4.extract_lane(value, 3));
}

// @inline
function addLane(at: usize, value: f32): void {
  store<f64>(at, load<f64>(at) + <f64>value);
}

// @inline
function push(address: usize, x: f32, y: f32, z: f32): void {
  store<f32>(address, load<f32>(address) + x);
  store<f32>(address, load<f32>(address, 4) + y, 4);
  store<f32>(address, load<f32>(address, 8) + z, 8);
}

/** support += w G b at one corner of four elements. */
// @inline
export function support(addresses: usize, toSupport: usize, x: v128, y: v128, z: v128): void {
  push(
    <usize>load<u32>(addresses, 0) + toSupport,
    f32x4.extract_lane(x, 0),
    f32x4.extract_lane(y, 0),
    f32x4.extract_lane(z, 0),
  );
  push(
    <usize>load<u32>(addresses, 4) + toSupport,
    f32x4.extract_lane(x, 1),
    f32x4.extract_lane(y, 1),
    f32x4.extract_lane(z, 1),
  );
  push(
    <usize>load<u32>(addresses, 8) + toSupport,
    f32x4.extract_lane(x, 2),
    f32x4.extract_lane(y, 2),
    f32x4.extract_lane(z, 2),
  );
  push(
    <usize>load<u32>(addresses, 12) + toSupport,
    f32x4.extract_lane(x, 3),
    f32x4.extract_lane(y, 3),
    f32x4.extract_lane(z, 3),
  );
}
