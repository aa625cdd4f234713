/** Boxes of the leaves and nodes of the bvtt front (bvttFront.ts), swept from S to x. */
import * as L from "../../layout/layout";
import { surfaceAt } from "../../state/owners";

export const BOX_BYTES: usize = 32;

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
// @inline
export function boxOf(number: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_BOXES) + <usize>number * BOX_BYTES;
}

/** Returns whether nothing of the surface moves: it is a fixed collider's, or its body is inactive or asleep. */
// @inline
export function isLeftOut(surface: i32): bool {
  if (surface >= load<i32>(L.HEADER, L.H_BODY_COUNT)) return load<i32>(surfaceAt(surface), L.SURFACE_STILL) !== 0;
  return load<i32>(<usize>load<u32>(L.HEADER, L.H_BODIES) + <usize>surface * L.BODY_BYTES, L.BODY_INACTIVE) !== 0;
}

/** Fits a leaf's box. Several threads may do this at once: they write the same numbers. */
export function fitLeaf(number: i32): void {
  const leaf = <usize>load<u32>(front(), L.FRONT_LEAVES) + <usize>number * L.LEAF_BYTES;
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  let low = f32x4.splat(Infinity);
  let high = f32x4.splat(-Infinity);
  for (let k = load<i32>(leaf), at = leaf + L.LEAF_PARTICLE; k > 0; k--, at += 4) {
    const particle = <usize>load<u32>(at);
    const x = v128.load(particle);
    const S = v128.load(particle + toSafe);
    // pmin and pmax ignore NaN
    low = f32x4.pmin(f32x4.pmin(low, x), S);
    high = f32x4.pmax(f32x4.pmax(high, x), S);
  }
  storeBox(number, low, f32x4.neg(high));
}

/** Fits the box of a leaf or node of a surface, and all boxes below it. */
export function fitBox(number: i32, surface: i32): void {
  if (isLeftOut(surface)) return;
  const leafCount = load<i32>(front(), L.FRONT_LEAF_COUNT);
  if (number < leafCount) {
    fitLeaf(number);
    return;
  }
  for (let k: usize = 0; k < 16; k += 4) {
    const child = load<i32>(childrenOf(number - leafCount) + k);
    if (child >= 0) fitBox(child, surface);
  }
  uniteBoxes(number - leafCount, number - leafCount + 1);
}

/** Makes the boxes of nodes first .. last from those of their children, the last one first. */
export function uniteBoxes(first: i32, last: i32): void {
  const leafCount = load<i32>(front(), L.FRONT_LEAF_COUNT);
  const boxes = boxOf(0);
  for (let n = last - 1; n >= first; n--) {
    const child = childrenOf(n);
    let low = f32x4.splat(Infinity);
    let high = low;
    for (let k: usize = 0; k < 16; k += 4) {
      const c = load<i32>(child + k);
      if (c < 0) continue;
      const box = boxes + <usize>c * BOX_BYTES;
      low = f32x4.pmin(low, v128.load(box));
      high = f32x4.pmin(high, v128.load(box, 16));
    }
    storeBox(leafCount + n, low, high);
  }
}

// @inline
function childrenOf(node: i32): usize {
  return <usize>load<u32>(front(), L.FRONT_CHILDREN) + ((<usize>node) << 4);
}

/** Stores a box. @param high the negated high corner */
// @inline
function storeBox(number: i32, low: v128, high: v128): void {
  v128.store(boxOf(number), low);
  v128.store(boxOf(number), high, 16);
}
