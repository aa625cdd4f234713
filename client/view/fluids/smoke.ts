/**
 * Smoke of a gas, from the displayed positions of its tracers. A tracer takes up smoke in the source and loses it
 * slowly. Light: density on a coarse grid, summed from each tracer toward the key light. All of it is picture only.
 */
import type { SmokeSource } from "../../../shared/topology.ts";

/** Time in which a tracer's smoke fades to 1/e, s. */
const FADE_S = 2.4;
/** Smoke of a tracer that never met the source, so that the gas is faintly visible everywhere. */
const HAZE = 0.001;
/** Rate of the uptake in the middle of the source, 1/s; none at its edge. */
const UPTAKE = 12;
/** Rate at which a tracer's smoke approaches the mean of its cell, 1/s. */
const MIXING = 0.6;
/** Cells along the longest side of the density grid. */
const CELLS = 14;
/** Cells toward the light that shade a tracer. */
const STEPS = 8;
/** Time between two pictures that is a jump, s. */
const JUMP_S = 5;
/** Part of the longest side over which smoke fades toward walls and the top: otherwise it has the shape of its box. */
const MARGIN = 0.16;
/** Optical depth of one full tracer in a cell. */
const SHADING = 0.7;

export class Smoke {
  /** float32[count]: light in 255ths plus smoke, below 1, as the shader reads them. */
  readonly packed: Float32Array;
  private readonly smoke: Float32Array;
  private readonly source: SmokeSource | undefined;
  private readonly light: readonly [number, number, number];
  private readonly density = new Float32Array(CELLS ** 3);
  private readonly counts = new Uint16Array(CELLS ** 3);
  private lastSeconds: number | undefined;

  /** @param light direction to the light, unit vector */
  constructor(count: number, source: SmokeSource | undefined, light: readonly [number, number, number]) {
    this.smoke = new Float32Array(count).fill(source ? HAZE : 0.3);
    this.packed = new Float32Array(count);
    this.source = source;
    this.light = light;
  }

  /** @param seconds simulated time of the positions */
  update(positions: Float32Array, seconds: number): void {
    // After a jump, as in a replay, time begins anew. A slow page draws a picture in some seconds.
    const passed = seconds - (this.lastSeconds ?? seconds);
    this.lastSeconds = seconds;
    const step = passed > 0 && passed < JUMP_S ? Math.min(1, passed) : 0;
    if (this.source) this.takeUp(positions, this.source, step);
    this.shade(positions, this.source ? Math.min(1, MIXING * step) : 0);
  }

  private takeUp(positions: Float32Array, { center: [x, y, z], radius }: SmokeSource, step: number): void {
    const { smoke } = this;
    const kept = Math.exp(-step / FADE_S);
    for (let k = 0; k < smoke.length; k++) {
      const away = Math.hypot(positions[3 * k]! - x, positions[3 * k + 1]! - y, positions[3 * k + 2]! - z) / radius;
      const gain = away < 1 ? UPTAKE * step * (1 - away * away) : 0;
      smoke[k] = Math.min(0.99, Math.max(HAZE, smoke[k]! * kept) + gain);
    }
  }

  /** @param mixed share of the way to the mean of the cell */
  private shade(positions: Float32Array, mixed: number): void {
    const { density, counts, smoke, packed, light } = this;
    const low = [Infinity, Infinity, Infinity];
    let size = 1e-6;
    const high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < positions.length; i++) {
      low[i % 3] = Math.min(low[i % 3]!, positions[i]!);
      high[i % 3] = Math.max(high[i % 3]!, positions[i]!);
    }
    for (let r = 0; r < 3; r++) size = Math.max(size, high[r]! - low[r]!);
    const scale = (CELLS - 1) / size;
    density.fill(0);
    counts.fill(0);
    const cellOf = (k: number, r: number): number => (positions[3 * k + r]! - low[r]!) * scale;
    const at = (i: number, j: number, l: number): number => i + CELLS * (j + CELLS * l);
    const ownOf = (k: number): number => at(cellOf(k, 0) | 0, cellOf(k, 1) | 0, cellOf(k, 2) | 0);
    for (let k = 0; k < smoke.length; k++) {
      density[ownOf(k)]! += smoke[k]!;
      counts[ownOf(k)]!++;
    }
    for (let k = 0; k < smoke.length; k++) {
      const own = ownOf(k);
      smoke[k]! += mixed * (density[own]! / counts[own]! - smoke[k]!);
      let sum = 0;
      for (let step = 1; step <= STEPS; step++) {
        const i = cellOf(k, 0) + step * light[0];
        const j = cellOf(k, 1) + step * light[1];
        const l = cellOf(k, 2) + step * light[2];
        if (i < 0 || j < 0 || l < 0 || i >= CELLS || j >= CELLS || l >= CELLS) break;
        sum += density[at(i | 0, j | 0, l | 0)]!;
      }
      const shown = this.source ? inside(positions, 3 * k, low, high, MARGIN * size) : 1;
      packed[k] = Math.round(255 * Math.exp(-SHADING * sum)) + shown * smoke[k]!;
    }
  }
}

/** 0 at the walls and the top of a box, 1 farther inside than the margin. @param i first index of the position */
function inside(
  positions: Float32Array,
  i: number,
  low: readonly number[],
  high: readonly number[],
  margin: number,
): number {
  let nearest = high[1]! - positions[i + 1]!;
  for (const r of [0, 2]) nearest = Math.min(nearest, positions[i + r]! - low[r]!, high[r]! - positions[i + r]!);
  const share = Math.min(1, nearest / margin);
  return share * share * (3 - 2 * share);
}
