/**
 * Particles against analytic colliders: continuous (swept) test, non-penetration, Coulomb friction on displacements.
 *
 * Every collider is its signed distance d(p), which is 1-Lipschitz, so marching along the motion xPrev -> x in steps of d - r never
 * jumps over a surface (conservative advancement): "no contact" is certain. Cull without marching: the motion stays clear while
 * d(xPrev) + d(x) - 2r > |x - xPrev|. A particle whose motion enters and leaves again within the substep is put back at its entry.
 * Response, with the normal n at the contact and dx = x - xPrev:
 *   x moves out along n to the surface by depth p;  tangential displacement is cut by min(1, mu p/|dx_t|)     (Coulomb)
 *   and no velocity away from the collider remains from the push itself (restitution 0).
 */
import {
  HEADER, H_X, H_XPREV, H_V, H_ACC, H_COLLIDERS, H_COLLIDER_COUNT,
  COLLIDER_TYPE, COLLIDER_FRICTION, COLLIDER_RADIUS, COLLIDER_A, COLLIDER_B, COLLIDER_ROTATION, COLLIDER_BOUND, COLLIDER_BYTES,
  COLLIDER_PLANE, COLLIDER_SPHERE, COLLIDER_BOX,
} from "./layout";

// normal of the last call of distanceTo; one instance belongs to one thread
let nx: f32, ny: f32, nz: f32;

/** Signed distance from point p to the collider's surface, m (negative inside); sets the outward unit normal nx ny nz. */
export function distanceTo(c: usize, px: f32, py: f32, pz: f32): f32 {
  const type = load<i32>(c, COLLIDER_TYPE);
  const ax = load<f32>(c, COLLIDER_A), ay = load<f32>(c, COLLIDER_A + 4), az = load<f32>(c, COLLIDER_A + 8);
  if (type == COLLIDER_PLANE) {
    nx = ax; ny = ay; nz = az;
    return px * ax + py * ay + pz * az - load<f32>(c, COLLIDER_A + 12);
  }
  if (type == COLLIDER_BOX) return distanceToBox(c, px - ax, py - ay, pz - az);
  let dx = px - ax, dy = py - ay, dz = pz - az;
  if (type != COLLIDER_SPHERE) {
    // capsule: nearest point of the segment a-b
    const bx = load<f32>(c, COLLIDER_B) - ax, by = load<f32>(c, COLLIDER_B + 4) - ay, bz = load<f32>(c, COLLIDER_B + 8) - az;
    const along: f32 = (dx * bx + dy * by + dz * bz) / (bx * bx + by * by + bz * bz);
    const s: f32 = min<f32>(max<f32>(along, 0), 1);
    dx -= s * bx; dy -= s * by; dz -= s * bz;
  }
  const length = Mathf.sqrt(dx * dx + dy * dy + dz * dz);
  if (length > 0) { nx = dx / length; ny = dy / length; nz = dz / length; }
  else { nx = 0; ny = 1; nz = 0; } // exactly in the middle: every direction is right
  return length - load<f32>(c, COLLIDER_RADIUS);
}

function distanceToBox(c: usize, px: f32, py: f32, pz: f32): f32 {
  const r = c + COLLIDER_ROTATION;
  const r00 = load<f32>(r), r01 = load<f32>(r, 4), r02 = load<f32>(r, 8), r10 = load<f32>(r, 12), r11 = load<f32>(r, 16), r12 = load<f32>(r, 20), r20 = load<f32>(r, 24), r21 = load<f32>(r, 28), r22 = load<f32>(r, 32);
  const lx = r00 * px + r01 * py + r02 * pz, ly = r10 * px + r11 * py + r12 * pz, lz = r20 * px + r21 * py + r22 * pz;
  const qx = abs<f32>(lx) - load<f32>(c, COLLIDER_B), qy = abs<f32>(ly) - load<f32>(c, COLLIDER_B + 4), qz = abs<f32>(lz) - load<f32>(c, COLLIDER_B + 8);
  let gx: f32 = 0, gy: f32 = 0, gz: f32 = 0, d: f32 = 0;
  if (qx <= 0 && qy <= 0 && qz <= 0) {
    // inside: out through the nearest face
    if (qx >= qy && qx >= qz) { d = qx; gx = 1; } else if (qy >= qz) { d = qy; gy = 1; } else { d = qz; gz = 1; }
  } else {
    gx = max<f32>(qx, 0); gy = max<f32>(qy, 0); gz = max<f32>(qz, 0);
    d = Mathf.sqrt(gx * gx + gy * gy + gz * gz);
    gx /= d; gy /= d; gz /= d;
  }
  if (lx < 0) gx = -gx;
  if (ly < 0) gy = -gy;
  if (lz < 0) gz = -gz;
  nx = r00 * gx + r10 * gy + r20 * gz; ny = r01 * gx + r11 * gy + r21 * gz; nz = r02 * gx + r12 * gy + r22 * gz;
  return d;
}

/** A grazing motion shortens its steps for ever; what is left after this many is treated as a hit, which errs on the safe side. */
const MAX_MARCH = 24;

/** Moves the particles begin..end out of all colliders and corrects their velocities. Colliders act in scene order. */
export function collide(begin: i32, end: i32, h: f32): void {
  const colliders = load<i32>(HEADER, H_COLLIDER_COUNT);
  if (!colliders) return;
  const inverseH: f32 = 1 / h;
  let xAt = <usize>load<u32>(HEADER, H_X) + (<usize>begin << 4), prevAt = <usize>load<u32>(HEADER, H_XPREV) + (<usize>begin << 4);
  let vAt = <usize>load<u32>(HEADER, H_V) + (<usize>begin << 4), accAt = <usize>load<u32>(HEADER, H_ACC) + (<usize>begin << 4);
  const firstCollider = <usize>load<u32>(HEADER, H_COLLIDERS);
  for (let i = begin; i < end; i++, xAt += 16, prevAt += 16, vAt += 16, accAt += 16) {
    if (load<f32>(xAt, 12) == 0) continue;
    let x = load<f32>(xAt), y = load<f32>(xAt, 4), z = load<f32>(xAt, 8);
    const px = load<f32>(prevAt), py = load<f32>(prevAt, 4), pz = load<f32>(prevAt, 8), r = load<f32>(prevAt, 12);
    const rough = load<f32>(accAt, 12);
    let touched = false;
    for (let n = 0, c = firstCollider; n < colliders; n++, c += COLLIDER_BYTES) {
      let dx = x - px, dy = y - py, dz = z - pz;
      const move2 = dx * dx + dy * dy + dz * dz;
      // most are nowhere near: the end of the motion is further from the collider's ball than the motion is long
      // (a + b)^2 <= 2 a^2 + 2 b^2 spares the root of move2
      const cx = x - load<f32>(c, COLLIDER_A), cy = y - load<f32>(c, COLLIDER_A + 4), cz = z - load<f32>(c, COLLIDER_A + 8);
      const bound = load<f32>(c, COLLIDER_BOUND) + r;
      if (cx * cx + cy * cy + cz * cz > 2 * (bound * bound + move2)) continue;
      let d1 = distanceTo(c, x, y, z) - r;
      if (d1 > 0 && d1 * d1 > move2) continue; // even from here back along the whole motion the surface is out of reach
      let mx = nx, my = ny, mz = nz; // the normal that answers
      const d0 = distanceTo(c, px, py, pz) - r;
      const move = Mathf.sqrt(move2);
      if (d0 <= 0) {
        // From within the margin: away from the surface where it began, or on into it, through to another side even, which the end alone
        // does not show on a thin plate.
        const inward = dx * nx + dy * ny + dz * nz;
        if (inward >= 0) { if (d1 > 0) continue; }
        else if (d1 > 0 || nx * mx + ny * my + nz * mz < 0.5) { mx = nx; my = ny; mz = nz; d1 = d0 + inward; }
      } else if (d1 > 0 && d0 + d1 > move) continue; // clear all the way
      if (d0 > 0 && move > 0) {
        // march to the entry
        let t: f32 = d0 / move, step = 0;
        let hit = false;
        while (t < 1) {
          const d = distanceTo(c, px + t * dx, py + t * dy, pz + t * dz) - r;
          if (d <= 1e-4 * r || ++step > MAX_MARCH) { hit = true; break; }
          t += d / move;
        }
        if (!hit && d1 > 0) continue;
        // Through to another side (or out again): answer at the entry. A shallow hit slides along the surface where it ended.
        if (hit && (d1 > 0 || nx * mx + ny * my + nz * mz < 0.5)) {
          mx = nx; my = ny; mz = nz;
          // depth along the entry normal
          d1 = (x - (px + t * dx)) * mx + (y - (py + t * dy)) * my + (z - (pz + t * dz)) * mz;
        }
      }
      const depth = -d1;
      if (!(depth > 0)) continue;
      x += depth * mx; y += depth * my; z += depth * mz;
      dx = x - px; dy = y - py; dz = z - pz;
      const dn = dx * mx + dy * my + dz * mz;
      const tx = dx - dn * mx, ty = dy - dn * my, tz = dz - dn * mz;
      const slide = Mathf.sqrt(tx * tx + ty * ty + tz * tz);
      if (slide > 0) {
        const cut: f32 = min<f32>(1, rough * load<f32>(c, COLLIDER_FRICTION) * depth / slide);
        x -= cut * tx; y -= cut * ty; z -= cut * tz;
      }
      touched = true;
      // the answer's normal velocity: what is left of the approach, never a push away
      const away = (x - px) * mx + (y - py) * my + (z - pz) * mz;
      if (away > 0) {
        // written as a shift of xPrev, so that several colliders add up and the velocity below sees all of them
        store<f32>(prevAt, load<f32>(prevAt) + away * mx);
        store<f32>(prevAt, load<f32>(prevAt, 4) + away * my, 4);
        store<f32>(prevAt, load<f32>(prevAt, 8) + away * mz, 8);
      }
    }
    if (!touched) continue;
    store<f32>(xAt, x); store<f32>(xAt, y, 4); store<f32>(xAt, z, 8);
    const scale: f32 = inverseH / (1 + h * load<f32>(vAt, 12));
    store<f32>(vAt, (x - load<f32>(prevAt)) * scale);
    store<f32>(vAt, (y - load<f32>(prevAt, 4)) * scale, 4);
    store<f32>(vAt, (z - load<f32>(prevAt, 8)) * scale, 8);
  }
}
