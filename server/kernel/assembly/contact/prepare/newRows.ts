/**
 * New rows of contact (PAIR rows) in one region: vertex-triangle from its front, edge-edge from its back.
 */
import * as L from "../../layout/layout";
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
} from "../../math/closestPoints";
import { writeMeasured } from "./pairRow";

/**
 * Part of the distance at rest that contact may ask of neighbors in one surface: rounding or a slight bend must not
 * push them from the start.
 */
const REST_SHARE: f64 = 0.9;

/** First free row of vertex-triangle pairs, and the end of the free ones: edge-edge pairs begin there. */
let front: usize;
let back: usize;
/** A row did not fit. */
export let full: bool;

/** The two surfaces of the rows that are added, and bytes from X to positions and to rest positions. */
let shift: usize;
let toRest: usize;
let thickness: f32;
let surfaces: i32;
let longest: f32;
let itself: bool;

/** Empties the region [from, to). @param positions address of an f32x4 array parallel to X, m */
export function openRegion(from: usize, to: usize, positions: usize): void {
  front = from;
  back = to;
  full = false;
  shift = positions - <usize>load<u32>(L.HEADER, L.H_X);
  toRest = <usize>load<u32>(L.HEADER, L.H_REST) - <usize>load<u32>(L.HEADER, L.H_X);
}

/** The region has grown by this many bytes, and its edge-edge rows have moved to the new end. */
export function widenRegion(bytes: usize): void {
  back += bytes;
}

/** Is there room for one more row? */
// @inline
function hasRoom(): bool {
  if (front + L.PAIR_BYTES <= back) return true;
  full = true;
  return false;
}

export function vertexRowsEnd(): usize {
  return front;
}
export function edgeRowsBegin(): usize {
  return back;
}

/**
 * Later rows belong to these two surfaces.
 * @param distance that contact keeps, m
 * @param sides longest triangle side plus longest edge at rest, m
 */
export function openSurfaces(first: i32, second: i32, distance: f32, sides: f32): void {
  thickness = distance;
  longest = sides;
  itself = first === second;
  turnSurfaces(first, second);
}
/** Later rows have their first primitive on surface `first`. */
export function turnSurfaces(first: i32, second: i32): void {
  surfaces = (first << 16) | second;
}

// @inline
function fixed(address: u32): bool {
  return load<f32>(<usize>address, 12) === 0;
}

/** Can two primitives that contain these particles be nearer at rest than the thickness? False for most pairs. */
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
function write(row: usize, a: u32, b: u32, c: u32, d: u32, x: f64, y: f64, z: f64, squared: f64): void {
  store<u32>(row, a, L.PAIR_ADDRESS);
  store<u32>(row, b, L.PAIR_ADDRESS + 4);
  store<u32>(row, c, L.PAIR_ADDRESS + 8);
  store<u32>(row, d, L.PAIR_ADDRESS + 12);
  writeMeasured(row, x, y, z, squared);
  store<i32>(row, surfaces, L.PAIR_SURFACES);
  store<f32>(row, thickness, L.PAIR_THICKNESS);
}

// @inline
function limit(row: usize, atRest2: f64): void {
  if (atRest2 < <f64>thickness * <f64>thickness)
    store<f32>(row, <f32>(REST_SHARE * Math.sqrt(atRest2)), L.PAIR_THICKNESS);
}

/** Adds vertex p and triangle a b c, unless all four are fixed or a position is not a number. */
export function addVertexTriangle(p: u32, a: u32, b: u32, c: u32): void {
  const squared = closestVertexTriangle(at(p), at(a), at(b), at(c));
  if (squared !== squared || (fixed(p) && fixed(a) && fixed(b) && fixed(c)) || !hasRoom()) return;
  write(front, p, a, b, c, differenceX, differenceY, differenceZ, squared);
  store<i32>(front, weightA === 1 ? 1 : weightB === 1 ? 2 : weightC === 1 ? 3 : 0, L.PAIR_CORNER);
  if (itself && nearAtRest(p, a)) limit(front, closestVertexTriangle(rest(p), rest(a), rest(b), rest(c)));
  front += L.PAIR_BYTES;
}

/** Adds two edges, unless all four particles are fixed or a position is not a number. */
export function addEdges(a0: u32, a1: u32, b0: u32, b1: u32): void {
  const squared = closestEdges(at(a0), at(a1), at(b0), at(b1));
  if (squared !== squared || (fixed(a0) && fixed(a1) && fixed(b0) && fixed(b1)) || !hasRoom()) return;
  back -= L.PAIR_BYTES;
  write(back, a0, a1, b0, b1, differenceX, differenceY, differenceZ, squared);
  store<i32>(back, edgeS > 0 && edgeS < 1 && edgeT > 0 && edgeT < 1 ? 0 : 1, L.PAIR_CORNER);
  if (itself && nearAtRest(a0, b0)) limit(back, closestEdges(rest(a0), rest(a1), rest(b0), rest(b1)));
}
