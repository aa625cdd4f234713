/**
 * Storage of listed pairs (pairs.ts): one region of PAIR rows, vertex-triangle from the front, edge-edge from the back.
 * For chunks of the list (pairChunks.ts), pages of their own, each filled from the front or from the back. Concatenated
 * in the order of the parts they are the list of one thread.
 */
import {
  HEADER,
  H_REST,
  H_X,
  CHUNK_VERTEX_PAGES,
  CHUNK_EDGE_PAGES,
  PAGE_NEXT,
  PAGE_ROWS,
  PAGE_AT,
  PAGE_CAPACITY,
  PAGE_BYTES,
  PAIR_ADDRESS,
  PAIR_SURFACES,
  PAIR_THICKNESS,
  PAIR_CORNER,
  PAIR_BYTES,
} from "../layout/layout";
import { edgesStayApart, vertexTriangleStaysApart } from "./trajectories";
import {
  closestEdges,
  closestVertexTriangle,
  differenceX,
  differenceY,
  differenceZ,
  edgeS,
  edgeT,
  weightA,
  weightB,
  weightC,
} from "../math/closestPoints";
import { takePage } from "./pairPages";
import { writeMeasured } from "./pairRow";

/**
 * Largest contact distance between neighbors in one surface, as a part of their distance at rest: rounding or a slight
 * bend must not push them from the start.
 */
const REST_SHARE: f64 = 0.9;

// first free vertex-triangle row, end of the free edge-edge rows, and their limits: each other, or the ends of pages
let front: usize;
let back: usize;
let frontEnd: usize;
let backBegin: usize;
let paged: bool;
export let full: bool;
// first and last pages; 0: none
let vertexPages: usize;
let vertexPage: usize;
let edgePages: usize;
let edgePage: usize;

/** Values of the current pair of surfaces; m, bytes. */
let shift: usize;
let toTrajectories: usize;
let toRest: usize;
let reach: f64;
let thickness: f32;
let surfaces: i32;
let longest: f32;
let itself: bool;

export function openRegion(from: usize, to: usize, positions: usize, trajectories: usize): void {
  front = from;
  back = to;
  full = false;
  paged = false;
  openArrays(positions, trajectories);
}

/** Extends the region after it has grown by `bytes`, with edge-edge rows at its new end. */
export function widenRegion(bytes: usize): void {
  back += bytes;
}

/** Uses pages instead, taken as they are needed. */
export function openPages(positions: usize, trajectories: usize): void {
  front = 0;
  frontEnd = 0;
  back = 0;
  backBegin = 0;
  full = false;
  paged = true;
  vertexPages = 0;
  vertexPage = 0;
  edgePages = 0;
  edgePage = 0;
  openArrays(positions, trajectories);
}

/** Stores the pages in a CHUNK row. */
export function closePages(chunk: usize): void {
  closeVertexPage();
  closeEdgePage();
  store<u32>(chunk, <u32>vertexPages, CHUNK_VERTEX_PAGES);
  store<u32>(chunk, <u32>edgePages, CHUNK_EDGE_PAGES);
}

function closeVertexPage(): void {
  if (vertexPage) store<i32>(vertexPage, <i32>(front - vertexPage - PAGE_AT) / PAIR_BYTES, PAGE_ROWS);
}
function closeEdgePage(): void {
  if (edgePage) store<i32>(edgePage, PAGE_CAPACITY - <i32>(back - edgePage - PAGE_AT) / PAIR_BYTES, PAGE_ROWS);
}

/** @returns whether there is room for one more row */
// @inline
function roomInFront(): bool {
  return front + PAIR_BYTES <= (paged ? frontEnd : back) || moreInFront();
}
// @inline
function roomBehind(): bool {
  return (paged ? backBegin : front) + PAIR_BYTES <= back || moreBehind();
}

function moreInFront(): bool {
  const page = paged && !full ? takePage() : 0;
  if (!page) {
    full = true;
    return false;
  }
  closeVertexPage();
  if (vertexPage) store<u32>(vertexPage, <u32>page, PAGE_NEXT);
  else vertexPages = page;
  vertexPage = page;
  front = page + PAGE_AT;
  frontEnd = page + PAGE_BYTES;
  return true;
}

function moreBehind(): bool {
  const page = paged && !full ? takePage() : 0;
  if (!page) {
    full = true;
    return false;
  }
  closeEdgePage();
  if (edgePage) store<u32>(edgePage, <u32>page, PAGE_NEXT);
  else edgePages = page;
  edgePage = page;
  backBegin = page + PAGE_AT;
  back = page + PAGE_BYTES;
  return true;
}

function openArrays(positions: usize, trajectories: usize): void {
  shift = positions - <usize>load<u32>(HEADER, H_X);
  toTrajectories = trajectories - <usize>load<u32>(HEADER, H_X);
  toRest = <usize>load<u32>(HEADER, H_REST) - <usize>load<u32>(HEADER, H_X);
}
export function vertexRowsEnd(): usize {
  return front;
}
export function edgeRowsBegin(): usize {
  return back;
}

/**
 * Begins rows of these two surfaces.
 * @param within largest listed distance, m; distance that contact keeps, m; sides longest triangle side plus longest
 * edge at rest, m
 */
export function openSurfaces(first: i32, second: i32, within: f64, distance: f32, sides: f32): void {
  reach = within;
  thickness = distance;
  longest = sides;
  itself = first === second;
  turnSurfaces(first, second);
}
/** Sets which surface the row's first primitive belongs to. */
export function turnSurfaces(first: i32, second: i32): void {
  surfaces = (first << 16) | second;
}

// @inline
function fixed(address: u32): bool {
  return load<f32>(<usize>address, 12) === 0;
}

/**
 * Returns whether two primitives may be near each other at rest. `a`, `b`: one particle of each. False for most pairs,
 * which are further apart than the primitives are long.
 */
// @inline
function nearAtRest(a: u32, b: u32): bool {
  const d = f32x4.abs(f32x4.sub(v128.load(<usize>a + toRest), v128.load(<usize>b + toRest)));
  return (
    max<f32>(f32x4.extract_lane(d, 0), max<f32>(f32x4.extract_lane(d, 1), f32x4.extract_lane(d, 2))) <=
    longest + thickness
  );
}

// @inline
function rest(address: u32): v128 {
  return v128.load(<usize>address + toRest);
}

// @inline
function at(address: u32): v128 {
  return v128.load(<usize>address + shift);
}

// @inline
function trajectory(address: u32): v128 {
  return v128.load(<usize>address + toTrajectories);
}

// @inline
function write(row: usize, a: u32, b: u32, c: u32, d: u32, x: f64, y: f64, z: f64, squared: f64): void {
  store<u32>(row, a, PAIR_ADDRESS);
  store<u32>(row, b, PAIR_ADDRESS + 4);
  store<u32>(row, c, PAIR_ADDRESS + 8);
  store<u32>(row, d, PAIR_ADDRESS + 12);
  writeMeasured(row, x, y, z, squared);
  store<i32>(row, surfaces, PAIR_SURFACES);
  store<f32>(row, thickness, PAIR_THICKNESS);
}

// @inline
function limit(row: usize, atRest2: f64): void {
  if (atRest2 < <f64>thickness * <f64>thickness)
    store<f32>(row, <f32>(REST_SHARE * Math.sqrt(atRest2)), PAIR_THICKNESS);
}

/** Lists vertex p and triangle a b c if they may come within reach and are not all fixed. */
export function addVertexTriangle(p: u32, a: u32, b: u32, c: u32): void {
  const squared = closestVertexTriangle(at(p), at(a), at(b), at(c));
  if (fixed(p) && fixed(a) && fixed(b) && fixed(c)) return;
  // current values, also in the row of a pair that is not near yet
  const x = differenceX;
  const y = differenceY;
  const z = differenceZ;
  if (
    !(squared <= reach * reach) &&
    vertexTriangleStaysApart(
      at(p),
      at(a),
      at(b),
      at(c),
      trajectory(p),
      trajectory(a),
      trajectory(b),
      trajectory(c),
      reach,
    )
  )
    return;
  if (!roomInFront()) return;
  write(front, p, a, b, c, x, y, z, squared);
  store<i32>(front, weightA === 1 ? 1 : weightB === 1 ? 2 : weightC === 1 ? 3 : 0, PAIR_CORNER);
  if (itself && nearAtRest(p, a)) limit(front, closestVertexTriangle(rest(p), rest(a), rest(b), rest(c)));
  front += PAIR_BYTES;
}

/** Lists edges a and b in the same way. */
export function addEdges(a0: u32, a1: u32, b0: u32, b1: u32): void {
  const squared = closestEdges(at(a0), at(a1), at(b0), at(b1));
  if (fixed(a0) && fixed(a1) && fixed(b0) && fixed(b1)) return;
  const x = differenceX;
  const y = differenceY;
  const z = differenceZ;
  if (
    !(squared <= reach * reach) &&
    edgesStayApart(
      at(a0),
      at(a1),
      at(b0),
      at(b1),
      trajectory(a0),
      trajectory(a1),
      trajectory(b0),
      trajectory(b1),
      reach,
    )
  )
    return;
  if (!roomBehind()) return;
  back -= PAIR_BYTES;
  write(back, a0, a1, b0, b1, x, y, z, squared);
  store<i32>(back, edgeS > 0 && edgeS < 1 && edgeT > 0 && edgeT < 1 ? 0 : 1, PAIR_CORNER);
  if (itself && nearAtRest(a0, b0)) limit(back, closestEdges(rest(a0), rest(a1), rest(b0), rest(b1)));
}
