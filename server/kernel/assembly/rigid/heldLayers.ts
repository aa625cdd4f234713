/**
 * Layers of cloth between a ball and a collider. Only the lowest one lies on the collider (heldCorners.ts). A ball
 * pressed the upper one into it without resistance, and the exact response pushed them apart again, 50 pairs a substep
 * in a bag of marbles. So a layer in contact with particles that do not move is held like them, layer by layer. It
 * resists only what presses it onto its support; other pushes end the hold.
 */
import * as L from "../layout/layout";
import { countWork } from "../state/work";
import { rigidRow } from "../state/owners";
import { countSolved, solvedAt } from "../state/solvedBlocks";
import { holdCorner, holdOnLayer, isSeen, releaseCorner } from "./heldCorners";

/** Most layers. */
const LAYERS = 4;
/** A pair within this factor of its thickness is in contact. */
const TOUCHING: f64 = 1.1;
/** Least weight of a particle that must not move to support a layer, and of one that is then held. */
const SUPPORTS: f32 = 0.1;
const SUPPORTED: f32 = 0.25;
/** Counted work of a packed block that is looked at once. */
const UNITS_OF_LOOK = 5;

// @inline
function particleOf(lane: usize, k: usize): usize {
  return <usize>load<u32>(lane + (k << 4));
}

// @inline
function weightOf(lane: usize, k: usize): f32 {
  return load<f32>(lane + (k << 4), L.CONTACT_BLOCK_WEIGHT);
}

/** Call when the particles near balls that lie on colliders are held. */
export function holdLayers(): void {
  const blocks = countSolved();
  for (let layer = 0, found = true; layer < LAYERS && found; layer++) {
    found = false;
    countWork(UNITS_OF_LOOK * blocks);
    for (let n = 0; n < blocks; n++)
      for (let lane = solvedAt(n), end = lane + 16; lane < end; lane += 4)
        if (load<i32>(lane, L.CONTACT_BLOCK_NEAR)) found = holdPair(lane) || found;
  }
}

/** Ends all holds of particles in near pairs. */
export function releaseLayers(): void {
  const blocks = countSolved();
  countWork(UNITS_OF_LOOK * blocks);
  for (let n = 0; n < blocks; n++) {
    const block = solvedAt(n);
    for (let k: usize = 0; k < 64; k += 4)
      if (load<i32>(block + (k & 12), L.CONTACT_BLOCK_NEAR)) releaseCorner(<usize>load<u32>(block + k));
  }
}

/** Holds one side of a pair near a ball if the other one does not move. @returns whether more is seen or held */
function holdPair(lane: usize): bool {
  let seen = false;
  for (let k: usize = 0; k < 4; k++) seen = seen || isSeen(particleOf(lane, k));
  if (!seen) return false;
  let any = false;
  // a layer below may be out of the ball's reach
  for (let k: usize = 0; k < 4; k++) {
    const particle = particleOf(lane, k);
    if (isSeen(particle)) continue;
    holdCorner(particle, false);
    any = isSeen(particle) || any;
  }
  const first = stays(lane, 1);
  if (first === stays(lane, -1) || !touches(lane)) return any;
  const sign: f32 = first ? -1 : 1;
  for (let k: usize = 0; k < 4; k++) {
    const particle = particleOf(lane, k);
    if (sign * weightOf(lane, k) < SUPPORTED || load<f32>(particle, 12) === 0 || rigidRow(particle)) continue;
    holdOnLayer(particle, lane, sign);
    any = true;
  }
  return any;
}

/** Returns whether the particles of one side do not move. */
function stays(lane: usize, sign: f32): bool {
  for (let k: usize = 0; k < 4; k++)
    if (sign * weightOf(lane, k) > SUPPORTS && load<f32>(particleOf(lane, k), 12) !== 0) return false;
  return true;
}

function touches(lane: usize): bool {
  const last = particleOf(lane, 3);
  let gap: f64 = 0;
  for (let k: usize = 0; k < 3; k++) {
    const at = particleOf(lane, k);
    let along: f64 = 0;
    for (let r: usize = 0; r < 3; r++)
      along +=
        <f64>load<f32>(lane + (r << 4), L.CONTACT_BLOCK_NORMAL) *
        (<f64>load<f32>(at + (r << 2)) - <f64>load<f32>(last + (r << 2)));
    gap += <f64>weightOf(lane, k) * along;
  }
  return gap < TOUCHING * <f64>load<f32>(lane, L.CONTACT_BLOCK_THICKNESS);
}
