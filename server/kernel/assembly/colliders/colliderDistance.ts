/**
 * Colliders as signed distances: distance of a point from the surface (negative inside), and the outward unit normal.
 * Every distance is exact, hence 1-Lipschitz: no point of the surface is nearer than |d|. Cylinder and funnel are
 * solids of revolution: the distance in the half plane of (radius from the axis, height along it) to a rectangle, or to
 * a segment (the wall's middle) minus half its thickness, so that its rims are round. For a mesh it is the distance to
 * a bounding ball, which shows that a particle is far away. Its triangles collide one by one.
 */
import * as L from "../layout/layout";

// normal of the last call of distanceTo; each thread has its own instance
export let nx: f32, ny: f32, nz: f32;
// the same in a half plane through the axis: outward, along the radius and along the axis
let gr: f32;
let gs: f32;

/**
 * Returns the signed distance from point p to the collider's surface, m (negative inside); sets the outward unit normal
 * nx ny nz. Points are float64: a particle on a distant plane moves by less than a step of float32 there.
 */
export function distanceTo(c: usize, px: f64, py: f64, pz: f64): f32 {
  const type = load<i32>(c, L.COLLIDER_TYPE);
  const ax = load<f32>(c, L.COLLIDER_A);
  const ay = load<f32>(c, L.COLLIDER_A + 4);
  const az = load<f32>(c, L.COLLIDER_A + 8);
  if (type === L.COLLIDER_PLANE) {
    nx = ax;
    ny = ay;
    nz = az;
    return <f32>(px * ax + py * ay + pz * az - load<f32>(c, L.COLLIDER_A + 12));
  }
  let dx = <f32>(px - ax);
  let dy = <f32>(py - ay);
  let dz = <f32>(pz - az);
  if (type === L.COLLIDER_BOX) return distanceToBox(c, dx, dy, dz);
  if (type === L.COLLIDER_CYLINDER || type === L.COLLIDER_FUNNEL) return distanceToRevolved(c, type, dx, dy, dz);
  if (type === L.COLLIDER_CAPSULE) {
    // nearest point of the segment a-b
    const bx = load<f32>(c, L.COLLIDER_B) - ax;
    const by = load<f32>(c, L.COLLIDER_B + 4) - ay;
    const bz = load<f32>(c, L.COLLIDER_B + 8) - az;
    const along: f32 = (dx * bx + dy * by + dz * bz) / (bx * bx + by * by + bz * bz);
    const s: f32 = min<f32>(max<f32>(along, 0), 1);
    dx -= s * bx;
    dy -= s * by;
    dz -= s * bz;
  }
  const length = Mathf.sqrt(dx * dx + dy * dy + dz * dz);
  if (length > 0) {
    nx = dx / length;
    ny = dy / length;
    nz = dz / length;
  } else {
    nx = 0;
    ny = 1;
    nz = 0;
  } // exactly at the center: any direction is valid
  return length - load<f32>(c, L.COLLIDER_RADIUS);
}

function distanceToBox(c: usize, px: f32, py: f32, pz: f32): f32 {
  const r = c + L.COLLIDER_ROTATION;
  const r00 = load<f32>(r);
  const r01 = load<f32>(r, 4);
  const r02 = load<f32>(r, 8);
  const r10 = load<f32>(r, 12);
  const r11 = load<f32>(r, 16);
  const r12 = load<f32>(r, 20);
  const r20 = load<f32>(r, 24);
  const r21 = load<f32>(r, 28);
  const r22 = load<f32>(r, 32);
  const lx = r00 * px + r01 * py + r02 * pz;
  const ly = r10 * px + r11 * py + r12 * pz;
  const lz = r20 * px + r21 * py + r22 * pz;
  const qx = abs<f32>(lx) - load<f32>(c, L.COLLIDER_B);
  const qy = abs<f32>(ly) - load<f32>(c, L.COLLIDER_B + 4);
  const qz = abs<f32>(lz) - load<f32>(c, L.COLLIDER_B + 8);
  let gx: f32 = 0;
  let gy: f32 = 0;
  let gz: f32 = 0;
  let d: f32 = 0;
  if (qx <= 0 && qy <= 0 && qz <= 0) {
    // inside: out through the nearest face
    if (qx >= qy && qx >= qz) {
      d = qx;
      gx = 1;
    } else if (qy >= qz) {
      d = qy;
      gy = 1;
    } else {
      d = qz;
      gz = 1;
    }
  } else {
    gx = max<f32>(qx, 0);
    gy = max<f32>(qy, 0);
    gz = max<f32>(qz, 0);
    d = Mathf.sqrt(gx * gx + gy * gy + gz * gz);
    gx /= d;
    gy /= d;
    gz /= d;
  }
  if (lx < 0) gx = -gx;
  if (ly < 0) gy = -gy;
  if (lz < 0) gz = -gz;
  nx = r00 * gx + r10 * gy + r20 * gz;
  ny = r01 * gx + r11 * gy + r21 * gz;
  nz = r02 * gx + r12 * gy + r22 * gz;
  return d;
}

/** Cylinder and funnel. @param px, py, pz from end a */
function distanceToRevolved(c: usize, type: i32, px: f32, py: f32, pz: f32): f32 {
  let ux = load<f32>(c, L.COLLIDER_B) - load<f32>(c, L.COLLIDER_A);
  let uy = load<f32>(c, L.COLLIDER_B + 4) - load<f32>(c, L.COLLIDER_A + 4);
  let uz = load<f32>(c, L.COLLIDER_B + 8) - load<f32>(c, L.COLLIDER_A + 8);
  const length = Mathf.sqrt(ux * ux + uy * uy + uz * uz);
  ux /= length;
  uy /= length;
  uz /= length;
  const s = px * ux + py * uy + pz * uz;
  let rx = px - s * ux;
  let ry = py - s * uy;
  let rz = pz - s * uz;
  const rho = Mathf.sqrt(rx * rx + ry * ry + rz * rz);
  if (rho > 0) {
    rx /= rho;
    ry /= rho;
    rz /= rho;
  } else if (abs<f32>(ux) < 0.6) {
    // on the axis any direction across it is valid
    const k: f32 = 1 / Mathf.sqrt(uy * uy + uz * uz);
    rx = 0;
    ry = -uz * k;
    rz = uy * k;
  } else {
    const k: f32 = 1 / Mathf.sqrt(ux * ux + uy * uy);
    rx = -uy * k;
    ry = ux * k;
    rz = 0;
  }
  const radius = load<f32>(c, L.COLLIDER_RADIUS);
  const d =
    type === L.COLLIDER_CYLINDER
      ? distanceToRectangle(rho - radius, s, length)
      : distanceToWall(rho - radius, s, load<f32>(c, L.COLLIDER_RADIUS_B) - radius, length) -
        load<f32>(c, L.COLLIDER_HALF_WALL);
  nx = gr * rx + gs * ux;
  ny = gr * ry + gs * uy;
  nz = gr * rz + gs * uz;
  return d;
}

/** Distance in a cylinder's half plane. @param qr from its side, outward, m; s along the axis from its bottom, m */
function distanceToRectangle(qr: f32, s: f32, length: f32): f32 {
  const half: f32 = 0.5 * length;
  const middle = s - half;
  const qs = abs<f32>(middle) - half;
  let d: f32;
  if (qr <= 0 && qs <= 0) {
    gr = qr >= qs ? 1 : 0;
    gs = qr >= qs ? 0 : 1;
    d = qr >= qs ? qr : qs;
  } else {
    gr = max<f32>(qr, 0);
    gs = max<f32>(qs, 0);
    d = Mathf.sqrt(gr * gr + gs * gs);
    gr /= d;
    gs /= d;
  }
  if (middle < 0) gs = -gs;
  return d;
}

/** Distance from the middle of a funnel's wall. @param r from its radius at end a, m; s along the axis from there, m */
function distanceToWall(r: f32, s: f32, slope: f32, length: f32): f32 {
  const side: f32 = Mathf.sqrt(slope * slope + length * length);
  const t = (r * slope + s * length) / (side * side);
  if (t > 0 && t < 1) {
    // beside the wall: the distance to its line; its normal is valid even in the wall's middle
    const off = (r * length - s * slope) / side;
    const out: f32 = off > 0 ? 1 : -1;
    gr = (out * length) / side;
    gs = (-out * slope) / side;
    return out * off;
  }
  const k: f32 = t > 0 ? 1 : 0;
  gr = r - k * slope;
  gs = s - k * length;
  const d = Mathf.sqrt(gr * gr + gs * gs);
  if (d > 0) {
    gr /= d;
    gs /= d;
  } else {
    // in the middle of a rim: out along the axis
    gr = 0;
    gs = t > 0 ? 1 : -1;
  }
  return d;
}
