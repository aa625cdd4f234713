/**
 * Once per tick: which surface particle may touch which triangle of another body. Every body's triangles are sorted by centroid into a
 * uniform grid over its box (counting sort), whose cell is as wide as a triangle's reach, so 27 cells around a particle hold all
 * triangles within reach. Each particle keeps its nearest triangles (up to CONTACT_TRIANGLES) of each other body: one is not enough,
 * because within the tick it may slide over an edge onto a neighbor, and an edge whose other side is unknown looks like a ridge.
 * Serial, in body and particle order: the list is the same for any number of threads.
 */
import {
  HEADER, H_SURFACE, H_BODY_COUNT, H_GRID, H_GRID_CELLS, H_CONTACTS, H_CONTACT_COUNT, H_CONTACT_CAPACITY, H_CONTACT_OVERFLOW, H_TICK_SECONDS, H_X, H_V,
  SURFACE_FIRST, SURFACE_COUNT, SURFACE_TRIANGLES, SURFACE_TRIANGLE_COUNT, SURFACE_RADIUS, SURFACE_SOLID, SURFACE_BYTES,
  CONTACT_PARTICLE, CONTACT_COUNT, CONTACT_RADIUS, CONTACT_SIDE, CONTACT_CORNERS, CONTACT_TRIANGLES, CONTACT_BYTES,
} from "./layout";
import { meetsSurface } from "./filters";
import { closestPoint, closestX, closestY, closestZ } from "./closest";

// box of the body under the last `measure`, and its fastest particle; one instance belongs to one thread
let lx: f32, ly: f32, lz: f32, hx: f32, hy: f32, hz: f32, fastest: f32;

/** Box and greatest speed of a body's surface particles. */
function measure(surface: usize): void {
  const first = <usize>load<u32>(surface, SURFACE_FIRST), count = load<i32>(surface, SURFACE_COUNT);
  const toV = <usize>load<u32>(HEADER, H_V) - <usize>load<u32>(HEADER, H_X);
  let low = v128.load(first), high = low, speed2: f32 = 0;
  for (let i = 0, at = first; i < count; i++, at += 16) {
    const x = v128.load(at);
    low = f32x4.min(low, x); high = f32x4.max(high, x);
    const a = load<f32>(at + toV), b = load<f32>(at + toV, 4), c = load<f32>(at + toV, 8);
    speed2 = max<f32>(speed2, a * a + b * b + c * c);
  }
  lx = f32x4.extract_lane(low, 0); ly = f32x4.extract_lane(low, 1); lz = f32x4.extract_lane(low, 2);
  hx = f32x4.extract_lane(high, 0); hy = f32x4.extract_lane(high, 1); hz = f32x4.extract_lane(high, 2);
  fastest = Mathf.sqrt(speed2);
}

/** Fills the contact list; SURFACE tables, grid and list capacity come from the header. */
export function findContacts(): void {
  store<i32>(HEADER, 0, H_CONTACT_COUNT);
  const bodies = load<i32>(HEADER, H_BODY_COUNT), surfaces = <usize>load<u32>(HEADER, H_SURFACE);
  if (bodies < 2) return;
  for (let b = 0; b < bodies; b++) {
    const B = surfaces + <usize>b * SURFACE_BYTES;
    if (load<i32>(B, SURFACE_TRIANGLE_COUNT) == 0 || load<i32>(B, SURFACE_SOLID) > 1) continue;
    measure(B);
    const bx0 = lx, by0 = ly, bz0 = lz, bx1 = hx, by1 = hy, bz1 = hz, speedB = fastest;
    for (let a = 0; a < bodies; a++) {
      if (a == b) continue;
      const A = surfaces + <usize>a * SURFACE_BYTES;
      if (load<i32>(A, SURFACE_SOLID) > 1 || !meetsSurface(B, a)) continue;
      measure(A);
      const radius = load<f32>(A, SURFACE_RADIUS) + load<f32>(B, SURFACE_RADIUS);
      // both may move towards each other for a whole tick before the list is made anew; 1.5 covers a speed that grows meanwhile
      const reach: f32 = radius + 1.5 * (speedB + fastest) * load<f32>(HEADER, H_TICK_SECONDS) + radius;
      if (lx > bx1 + reach || hx < bx0 - reach || ly > by1 + reach || hy < by0 - reach || lz > bz1 + reach || hz < bz0 - reach) continue;
      // blown up, to infinity or NaN anywhere: the guard deals with it
      if (!(reach + (bx1 - bx0) + (by1 - by0) + (bz1 - bz0) + (hx - lx) + (hy - ly) + (hz - lz) < Infinity)) continue;
      // anew for every pair, because the cell's width follows the pair's reach
      sortTriangles(B, bx0, by0, bz0, bx1, by1, bz1, reach);
      query(A, B, radius, reach, bx0, by0, bz0, bx1, by1, bz1);
    }
  }
}

let cell: f32, nx: i32, ny: i32, nz: i32;

/** Grid of triangle centroids: cellStart[cells + 1] then triangle addresses in cell order, in the scratch at H_GRID. */
function sortTriangles(B: usize, x0: f32, y0: f32, z0: f32, x1: f32, y1: f32, z1: f32, reach: f32): void {
  const triangles = <usize>load<u32>(B, SURFACE_TRIANGLES), count = load<i32>(B, SURFACE_TRIANGLE_COUNT);
  const limit = load<i32>(HEADER, H_GRID_CELLS), starts = <usize>load<u32>(HEADER, H_GRID);
  let extent2: f32 = 0;
  for (let i = 0, t = triangles; i < count; i++, t += 12) {
    const a = v128.load(<usize>load<u32>(t)), b = v128.load(<usize>load<u32>(t, 4)), c = v128.load(<usize>load<u32>(t, 8));
    const m = f32x4.mul(f32x4.add(a, f32x4.add(b, c)), f32x4.splat(1.0 / 3.0));
    extent2 = max<f32>(extent2, max<f32>(length2(f32x4.sub(a, m)), max<f32>(length2(f32x4.sub(b, m)), length2(f32x4.sub(c, m)))));
  }
  cell = Mathf.sqrt(extent2) + reach;
  // fewer, wider cells when the body is large: the counts below stay within the scratch
  for (;;) {
    const wide = (x1 - x0) / cell, high = (y1 - y0) / cell, deep = (z1 - z0) / cell;
    if ((wide + 1) * (high + 1) * (deep + 1) <= <f32>limit) break;
    cell *= 1.5;
  }
  nx = <i32>((x1 - x0) / cell) + 1; ny = <i32>((y1 - y0) / cell) + 1; nz = <i32>((z1 - z0) / cell) + 1;
  const cells = nx * ny * nz;
  memory.fill(starts, 0, <usize>(cells + 1) << 2);
  for (let i = 0, t = triangles; i < count; i++, t += 12) {
    const at = starts + (<usize>cellOfTriangle(t, x0, y0, z0) << 2);
    store<i32>(at, load<i32>(at) + 1);
  }
  // counts -> ends; the last entry, one past the cells, is the end of all
  for (let i = 1; i <= cells; i++) store<i32>(starts + (<usize>i << 2), load<i32>(starts + (<usize>i << 2)) + load<i32>(starts + (<usize>(i - 1) << 2)));
  // filling from the back keeps triangle order within a cell and turns ends into starts
  const list = starts + (<usize>(limit + 1) << 2);
  for (let i = count - 1; i >= 0; i--) {
    const t = triangles + <usize>i * 12, at = starts + (<usize>cellOfTriangle(t, x0, y0, z0) << 2);
    const place = load<i32>(at) - 1;
    store<i32>(at, place);
    store<u32>(list + (<usize>place << 2), <u32>t);
  }
}

@inline function length2(a: v128): f32 {
  const x = f32x4.extract_lane(a, 0), y = f32x4.extract_lane(a, 1), z = f32x4.extract_lane(a, 2);
  return x * x + y * y + z * z;
}

function cellOfTriangle(t: usize, x0: f32, y0: f32, z0: f32): i32 {
  const a = v128.load(<usize>load<u32>(t)), b = v128.load(<usize>load<u32>(t, 4)), c = v128.load(<usize>load<u32>(t, 8));
  const m = f32x4.mul(f32x4.add(a, f32x4.add(b, c)), f32x4.splat(1.0 / 3.0));
  const i = clampCell((f32x4.extract_lane(m, 0) - x0) / cell, nx), j = clampCell((f32x4.extract_lane(m, 1) - y0) / cell, ny), k = clampCell((f32x4.extract_lane(m, 2) - z0) / cell, nz);
  return (i * ny + j) * nz + k;
}

@inline function clampCell(f: f32, n: i32): i32 { return f > 0 ? min<i32>(<i32>f, n - 1) : 0; }

function query(A: usize, B: usize, radius: f32, reach: f32, x0: f32, y0: f32, z0: f32, x1: f32, y1: f32, z1: f32): void {
  const first = <usize>load<u32>(A, SURFACE_FIRST), count = load<i32>(A, SURFACE_COUNT), solid = load<i32>(B, SURFACE_SOLID);
  const starts = <usize>load<u32>(HEADER, H_GRID), list = starts + (<usize>(load<i32>(HEADER, H_GRID_CELLS) + 1) << 2);
  const contacts = <usize>load<u32>(HEADER, H_CONTACTS), capacity = load<i32>(HEADER, H_CONTACT_CAPACITY);
  for (let n = 0, at = first; n < count; n++, at += 16) {
    const px = load<f32>(at), py = load<f32>(at, 4), pz = load<f32>(at, 8);
    if (px < x0 - reach || px > x1 + reach || py < y0 - reach || py > y1 + reach || pz < z0 - reach || pz > z1 + reach) continue;
    // unclamped cell of the particle, then its 3x3x3 neighbourhood inside the grid
    const ci = <i32>Mathf.floor((px - x0) / cell), cj = <i32>Mathf.floor((py - y0) / cell), ck = <i32>Mathf.floor((pz - z0) / cell);
    const used = load<i32>(HEADER, H_CONTACT_COUNT), contact = contacts + <usize>used * CONTACT_BYTES;
    if (used == capacity) { store<i32>(HEADER, load<i32>(HEADER, H_CONTACT_OVERFLOW) + 1, H_CONTACT_OVERFLOW); return; }
    store<i32>(contact, 0, CONTACT_COUNT);
    for (let i = max<i32>(ci - 1, 0); i <= min<i32>(ci + 1, nx - 1); i++)
      for (let j = max<i32>(cj - 1, 0); j <= min<i32>(cj + 1, ny - 1); j++)
        for (let k = max<i32>(ck - 1, 0); k <= min<i32>(ck + 1, nz - 1); k++) {
          const c = starts + (<usize>((i * ny + j) * nz + k) << 2);
          for (let s = load<i32>(c), end = load<i32>(c, 4); s < end; s++) {
            const t = <usize>load<u32>(list + (<usize>s << 2));
            closestPoint(px, py, pz, <usize>load<u32>(t), <usize>load<u32>(t, 4), <usize>load<u32>(t, 8));
            const dx = px - closestX, dy = py - closestY, dz = pz - closestZ, d2 = dx * dx + dy * dy + dz * dz;
            if (d2 <= reach * reach) keep(contact, d2, t);
          }
        }
    const count = load<i32>(contact, CONTACT_COUNT);
    if (!count) continue;
    for (let i = 0; i < count; i++) {
      const side = contact + (<usize>i << 2), corners = contact + CONTACT_CORNERS + <usize>(i * 12), t = <usize>load<u32>(corners);
      const A = load<u32>(t), B = load<u32>(t, 4), C = load<u32>(t, 8);
      store<u32>(corners, A); store<u32>(corners, B, 4); store<u32>(corners, C, 8);
      store<f32>(side, solid ? 1 : sideOf(px, py, pz, <usize>A, <usize>B, <usize>C), CONTACT_SIDE);
    }
    store<u32>(contact, <u32>at, CONTACT_PARTICLE);
    store<f32>(contact, radius, CONTACT_RADIUS);
    store<i32>(HEADER, used + 1, H_CONTACT_COUNT);
  }
}

/**
 * Inserts triangle `t` at squared distance `d` into a contact that is being filled: nearest first, address as the tie-break, the farthest
 * drops out. Until the list is complete a row's side holds its distance and its first corner the triangle's address.
 */
function keep(contact: usize, d: f32, t: usize): void {
  const count = load<i32>(contact, CONTACT_COUNT);
  let place = count;
  while (place > 0) {
    const other = load<f32>(contact + (<usize>(place - 1) << 2), CONTACT_SIDE);
    if (other < d || (other == d && <usize>load<u32>(contact + <usize>((place - 1) * 12), CONTACT_CORNERS) < t)) break;
    place--;
  }
  if (place == CONTACT_TRIANGLES) return;
  for (let i = min<i32>(count, CONTACT_TRIANGLES - 1); i > place; i--) {
    store<f32>(contact + (<usize>i << 2), load<f32>(contact + (<usize>(i - 1) << 2), CONTACT_SIDE), CONTACT_SIDE);
    store<u32>(contact + <usize>(i * 12), load<u32>(contact + <usize>((i - 1) * 12), CONTACT_CORNERS), CONTACT_CORNERS);
  }
  store<f32>(contact + (<usize>place << 2), d, CONTACT_SIDE);
  store<u32>(contact + <usize>(place * 12), <u32>t, CONTACT_CORNERS);
  store<i32>(contact, min<i32>(count + 1, CONTACT_TRIANGLES), CONTACT_COUNT);
}

/** +1 on the side that the triangle's normal (b-a) x (c-a) points to, else -1. */
function sideOf(px: f32, py: f32, pz: f32, a: usize, b: usize, c: usize): f32 {
  const ax = load<f32>(a), ay = load<f32>(a, 4), az = load<f32>(a, 8);
  const ux = load<f32>(b) - ax, uy = load<f32>(b, 4) - ay, uz = load<f32>(b, 8) - az, vx = load<f32>(c) - ax, vy = load<f32>(c, 4) - ay, vz = load<f32>(c, 8) - az;
  return (px - ax) * (uy * vz - uz * vy) + (py - ay) * (uz * vx - ux * vz) + (pz - az) * (ux * vy - uy * vx) >= 0 ? 1 : -1;
}
