/**
 * Contacts of a ball that is squeezed, or rests on rigid bodies, with the firm triangles on its list (balls.ts), as
 * rows beside those with colliders (rigidGround.ts): triangles of mesh colliders and of rigid bodies. Solved by
 * balls.ts after the rows, a ball between a mover and such a triangle was pushed from one to the other without the
 * mover's yielding, and was thrown at 50 to 350 m/s.
 */
import * as L from "../layout/layout";
import { closestPoint, closestX, closestY, closestZ, weightA, weightB, weightC } from "../math/closestOnTriangle";
import { lowFrom, lowPrevFrom, place } from "../math/places";
import { dotAt } from "../math/vectors";
import { motionOf, rigidRow, surfaceOf } from "../state/owners";
import { POINT } from "./ballLists";
import { CORNER } from "./ballSweep";

/** Distance up to which triangles get rows, in radii, as for colliders. */
const NEAR: f64 = 0.05;
/** Cosine between normals on one thing that count as one. */
const ONE_WAY: f64 = 0.9995;

/** Number of the surface that owns a particle. */
function surfaceNumber(particle: usize): i32 {
  return <i32>((surfaceOf(particle) - <usize>load<u32>(L.HEADER, L.H_SURFACE)) / L.SURFACE_BYTES);
}

/**
 * Adds the near triangles at the start of the substep: bodies, surface, mover, normal, gap, and the displacement of the
 * triangle there. Of triangles of one thing in one direction the nearest is added.
 * @param start f64x3 the ball's center at the start; at where the first goes, room for `most`; room TRIANGLE bytes
 * @returns number of contacts
 */
export function addTriangles(shape: usize, start: usize, at: usize, most: i32, room: usize): i32 {
  const ball = <usize>load<u32>(shape, L.SHAPE_BALL);
  let count = 0;
  for (let n = load<i32>(ball, L.BALL_COUNT), entry = <usize>load<u32>(ball, L.BALL_LIST); n > 0; n--, entry += 4) {
    if (count === most) break;
    const listed = load<u32>(entry);
    if (listed & POINT) continue;
    const contact = at + <usize>count * L.RIGID_CONTACT_BYTES;
    if (addTriangle(shape, start, <usize>listed, contact, room) && isNew(at, contact)) count++;
  }
  return count;
}

function addTriangle(shape: usize, start: usize, triangle: usize, contact: usize, room: usize): bool {
  const A = <usize>load<u32>(triangle);
  const B = <usize>load<u32>(triangle, 4);
  const C = <usize>load<u32>(triangle, 8);
  const two = rigidRow(A);
  if (load<f32>(A, 12) !== 0 && !two) return false;
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  putBefore(room, A + toPrev, start);
  putBefore(room + CORNER, B + toPrev, start);
  putBefore(room + 2 * CORNER, C + toPrev, start);
  closestPoint(0, 0, 0, room, room + CORNER, room + 2 * CORNER);
  const distance = sqrt(closestX * closestX + closestY * closestY + closestZ * closestZ);
  const R = load<f64>(shape, L.SHAPE_RADIUS);
  const began = distance - R - <f64>load<f32>(A + toPrev, 12);
  if (!(distance > 0 && began < NEAR * R)) return false;
  store<u32>(contact, <u32>two, L.RIGID_CONTACT_SECOND);
  store<i32>(contact, surfaceNumber(A), L.RIGID_CONTACT_COLLIDER);
  store<u32>(contact, two ? 0 : <u32>motionOf(A), L.RIGID_CONTACT_MOVER);
  store<f64>(contact, -closestX / distance, L.RIGID_CONTACT_NORMAL);
  store<f64>(contact, -closestY / distance, L.RIGID_CONTACT_NORMAL + 8);
  store<f64>(contact, -closestZ / distance, L.RIGID_CONTACT_NORMAL + 16);
  store<f64>(contact, began, L.RIGID_CONTACT_GAP);
  // the particle whose friction holds here
  store<u32>(contact, <u32>A, L.RIGID_CONTACT_LANE);
  for (let k: usize = 0; k < 3; k++) {
    const by = weightA * moved(A, k) + weightB * moved(B, k) + weightC * moved(C, k);
    store<f64>(contact + (k << 3), two ? 0 : by, L.RIGID_CONTACT_CARRIED);
  }
  return true;
}

/** Stores where a particle was, relative to the ball's center. @param prev address in XPREV */
function putBefore(to: usize, prev: usize, start: usize): void {
  const toLow = lowPrevFrom() - (<usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X));
  for (let k: usize = 0; k < 3; k++)
    store<f64>(to + (k << 3), place(prev + (k << 2), toLow) - load<f64>(start + (k << 3)));
}

/** Returns component k of a particle's displacement in this substep, m. */
function moved(particle: usize, k: usize): f64 {
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const x = particle + (k << 2);
  return place(x, lowFrom()) - place(x + toPrev, lowPrevFrom() - toPrev);
}

/** Returns whether no contact before `last` is of the same thing and direction; else the nearer one is kept there. */
function isNew(first: usize, last: usize): bool {
  for (let at = first; at < last; at += L.RIGID_CONTACT_BYTES) {
    if (load<i32>(at, L.RIGID_CONTACT_COLLIDER) !== load<i32>(last, L.RIGID_CONTACT_COLLIDER)) continue;
    if (!(dotAt(at + L.RIGID_CONTACT_NORMAL, last + L.RIGID_CONTACT_NORMAL) > ONE_WAY)) continue;
    if (load<f64>(last, L.RIGID_CONTACT_GAP) < load<f64>(at, L.RIGID_CONTACT_GAP))
      memory.copy(at, last, L.RIGID_CONTACT_BYTES);
    return false;
  }
  return true;
}
