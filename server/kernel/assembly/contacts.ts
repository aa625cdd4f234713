/**
 * Particle against another body's triangle: a unilateral constraint with Coulomb friction on displacements.
 *   C = n . (x - q) - r >= 0,  q = sum_i b_i x_i the triangle's closest point, r the thickness of the pair,
 *   n from q to x while x is outside, the triangle's unit normal (times side) when it is behind
 *   dL = -C / (w + sum_i w_i b_i^2),  x += w dL n,  x_i -= w_i b_i dL n
 * A closed body's triangles have one outside; a cloth's triangle keeps the particle on the side where the tick began.
 * Serial, in list order, once per iteration after all colours.
 * A rigid body answers by its particles, and shape matching spreads that. Tried and lost: pushes with its mass and inertia on a pose. Friction in the
 * solve then walked stacks apart (pushes tilt, the floor sets upright later); friction behind the floor held stacks of four, but let them shake or creep.
 */
import { HEADER, H_X, H_XPREV, H_ACC, H_CONTACTS, H_CONTACT_COUNT, CONTACT_PARTICLE, CONTACT_COUNT, CONTACT_RADIUS, CONTACT_SIDE, CONTACT_CORNERS, CONTACT_BYTES } from "./layout";
import { closestPoint, closestX, closestY, closestZ, setWeights, weightA, weightB, weightC } from "./closest";

@inline function shift(at: usize, s: f32, x: f32, y: f32, z: f32): void {
  store<f32>(at, load<f32>(at) + s * x); store<f32>(at, load<f32>(at, 4) + s * y, 4); store<f32>(at, load<f32>(at, 8) + s * z, 8);
}

// the choice of chooseTriangle: direction that parts the pair, and signed distance along it
let normalX: f32, normalY: f32, normalZ: f32, height: f32;

/**
 * Which of the contact's triangles the particle answers to now: the nearest. At an edge or corner that several share, one that has the
 * particle in front wins: then it is outside, and the direction to the closest point turns smoothly around the edge.
 * @returns the triangle's number, or -1 where nothing is closer than r; sets normal, height and (closest.ts) the weights
 */
function chooseTriangle(contact: usize, P: usize, r: f32): i32 {
  const px = load<f32>(P), py = load<f32>(P, 4), pz = load<f32>(P, 8), count = load<i32>(contact, CONTACT_COUNT);
  let best: f32 = Infinity, chosen = -1, inFront = false, wa: f32 = 0, wb: f32 = 0, wc: f32 = 0;
  for (let n = 0; n < count; n++) {
    const corners = contact + CONTACT_CORNERS + <usize>(n * 12);
    const A = <usize>load<u32>(corners), B = <usize>load<u32>(corners, 4), C = <usize>load<u32>(corners, 8);
    const ax = load<f32>(A), ay = load<f32>(A, 4), az = load<f32>(A, 8);
    const ux = load<f32>(B) - ax, uy = load<f32>(B, 4) - ay, uz = load<f32>(B, 8) - az, vx = load<f32>(C) - ax, vy = load<f32>(C, 4) - ay, vz = load<f32>(C, 8) - az;
    let nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    const area = Mathf.sqrt(nx * nx + ny * ny + nz * nz);
    if (!(area > 0)) continue; // a triangle without a normal cannot say which side is out
    const side = load<f32>(contact + <usize>(n << 2), CONTACT_SIDE) / area;
    nx *= side; ny *= side; nz *= side;
    closestPoint(px, py, pz, A, B, C);
    const gx = px - closestX, gy = py - closestY, gz = pz - closestZ, d2 = gx * gx + gy * gy + gz * gz, up = gx * nx + gy * ny + gz * nz;
    // two triangles at a shared edge agree on the closest point to rounding, a few 1e-5 of a distance of a
    // thousandth of the coordinates, doubled by squaring
    const tie = d2 <= best * (1 + 1e-3) && d2 >= best * (1 - 1e-3);
    if (tie ? inFront || up < 0 : d2 > best) continue;
    best = d2; chosen = n; inFront = up >= 0;
    wa = weightA; wb = weightB; wc = weightC;
    const distance = Mathf.sqrt(d2);
    if (inFront && distance > 0) { normalX = gx / distance; normalY = gy / distance; normalZ = gz / distance; height = distance; }
    else { normalX = nx; normalY = ny; normalZ = nz; height = up; }
  }
  if (chosen < 0 || height >= r) return -1;
  setWeights(wa, wb, wc);
  return chosen;
}

export function solveContacts(): void {
  const count = load<i32>(HEADER, H_CONTACT_COUNT);
  const toPrev = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X), toAcc = <usize>load<u32>(HEADER, H_ACC) - <usize>load<u32>(HEADER, H_X);
  let contact = <usize>load<u32>(HEADER, H_CONTACTS);
  for (let n = 0; n < count; n++, contact += CONTACT_BYTES) {
    const P = <usize>load<u32>(contact, CONTACT_PARTICLE), r = load<f32>(contact, CONTACT_RADIUS);
    const nearest = chooseTriangle(contact, P, r);
    if (nearest < 0) continue;
    const corners = contact + CONTACT_CORNERS + <usize>(nearest * 12);
    const A = <usize>load<u32>(corners), B = <usize>load<u32>(corners, 4), C = <usize>load<u32>(corners, 8);
    const nx = normalX, ny = normalY, nz = normalZ, value = height - r;
    const a = weightA, b = weightB, c = weightC;
    const w = load<f32>(P, 12), wa = load<f32>(A, 12), wb = load<f32>(B, 12), wc = load<f32>(C, 12);
    const W = w + wa * a * a + wb * b * b + wc * c * c;
    if (!(W > 0)) continue;
    // at most one thickness an iteration: bodies that start inside each other part quickly, not explosively
    const depth = min<f32>(-value, r), lambda = depth / W;
    shift(P, w * lambda, nx, ny, nz);
    shift(A, -wa * a * lambda, nx, ny, nz); shift(B, -wb * b * lambda, nx, ny, nz); shift(C, -wc * c * lambda, nx, ny, nz);
    // friction: the relative tangential displacement of this substep, cut by at most mu times the normal one
    let tx = (load<f32>(P) - load<f32>(P + toPrev)) - a * (load<f32>(A) - load<f32>(A + toPrev)) - b * (load<f32>(B) - load<f32>(B + toPrev)) - c * (load<f32>(C) - load<f32>(C + toPrev));
    let ty = (load<f32>(P, 4) - load<f32>(P + toPrev, 4)) - a * (load<f32>(A, 4) - load<f32>(A + toPrev, 4)) - b * (load<f32>(B, 4) - load<f32>(B + toPrev, 4)) - c * (load<f32>(C, 4) - load<f32>(C + toPrev, 4));
    let tz = (load<f32>(P, 8) - load<f32>(P + toPrev, 8)) - a * (load<f32>(A, 8) - load<f32>(A + toPrev, 8)) - b * (load<f32>(B, 8) - load<f32>(B + toPrev, 8)) - c * (load<f32>(C, 8) - load<f32>(C + toPrev, 8));
    const along = tx * nx + ty * ny + tz * nz;
    tx -= along * nx; ty -= along * ny; tz -= along * nz;
    const slide = Mathf.sqrt(tx * tx + ty * ty + tz * tz);
    if (!(slide > 0)) continue;
    const mu = load<f32>(P + toAcc, 12) * load<f32>(A + toAcc, 12);
    const cut: f32 = -min<f32>(1, mu * depth / slide) / W;
    shift(P, w * cut, tx, ty, tz);
    shift(A, -wa * a * cut, tx, ty, tz); shift(B, -wb * b * cut, tx, ty, tz); shift(C, -wc * c * cut, tx, ty, tz);
  }
}
