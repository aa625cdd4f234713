/**
 * Past of a sliding body after an impact. Euler's step leaves x1 and v1 of an even motion, from which BDF2 takes 2/3 of
 * all forces. So they get the body's deceleration by friction. (Without it a cube of 10^6 Pa, whose corners hop, slid 8
 * % too far.)
 */
import * as L from "../layout/layout";
import { measureSlip, rounded } from "./colliderContacts";

/**
 * Corrects x1 and v1 if the last step was Euler's and the body slides on colliders.
 * @param row IMPLICIT row, whose contacts are found; state x, v, x1, v1; free where it moves without forces; h s
 * @returns whether it slides
 */
export function brakePast(row: usize, state: usize, free: usize, h: f64): bool {
  const vector = <usize>load<i32>(row, L.IMPLICIT_COUNT) * 24;
  const v = state + vector;
  if (memory.compare(v, v + 2 * vector, vector) !== 0 || !findBraking(row, free, h)) return false;
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  for (let at: usize = 0, m = mass; at < vector; at += 24, m += 8) {
    if (!(load<f64>(m) > 0)) continue;
    add(v + 2 * vector + at, -h);
    add(v + vector + at, 0.5 * h * h);
  }
  return true;
}

// acceleration of the body, m/s^2
let ax: f64 = 0;
let ay: f64 = 0;
let az: f64 = 0;

/**
 * Finds the acceleration by contacts that slid in the last step and slide on: at most that of a body which lies on
 * them, because an impact has more. @param free as for `brakePast`. @returns whether there is one
 */
function findBraking(row: usize, free: usize, h: f64): bool {
  ax = ay = az = 0;
  let touch = <usize>load<u32>(row, L.IMPLICIT_TOUCHES);
  if (!touch) return false;
  const total = massOf(row);
  let most: f64 = 0;
  for (let n = load<i32>(row, L.IMPLICIT_TOUCH_COUNT); n > 0; n--, touch += L.TOUCH_BYTES) {
    if (load<i32>(touch, L.TOUCH_STATE) !== L.TOUCH_SLIDES) continue;
    const slip = measureSlip(touch, free + <usize>load<i32>(touch));
    const drag = load<f64>(touch, L.TOUCH_FRICTION) / (total * rounded(touch, slip));
    ax -= drag * load<f64>(touch, L.TOUCH_SLIP);
    ay -= drag * load<f64>(touch, L.TOUCH_SLIP + 8);
    az -= drag * load<f64>(touch, L.TOUCH_SLIP + 16);
    most = max<f64>(most, (load<f64>(touch, L.TOUCH_DYNAMIC) * load<f64>(touch, L.TOUCH_RESTING)) / (2 * h * h));
  }
  const size = sqrt<f64>(ax * ax + ay * ay + az * az);
  const share = size > most ? most / size : 1;
  ax *= share;
  ay *= share;
  az *= share;
  return size > 0;
}

/** Returns the mass of a body's free particles, kg. */
function massOf(row: usize): f64 {
  const mass = <usize>load<u32>(row, L.IMPLICIT_MASS);
  let sum: f64 = 0;
  for (let i: usize = 0; i < <usize>load<i32>(row, L.IMPLICIT_COUNT); i++) sum += load<f64>(mass + (i << 3));
  return sum;
}

// @inline
function add(at: usize, times: f64): void {
  store<f64>(at, load<f64>(at) + times * ax);
  store<f64>(at, load<f64>(at, 8) + times * ay, 8);
  store<f64>(at, load<f64>(at, 16) + times * az, 16);
}
