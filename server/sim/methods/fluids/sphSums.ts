/**
 * Sums over neighbors for smoothed particles (smoothedParticles.ts has the equations). Points are visited in the order
 * of their cells, so that neighbors are close in memory, and each pair once, from its first point. A list of pairs with
 * a skin serves several steps; each step selects the pairs within H from it.
 */
import type { Pairs } from "./fluidForces.ts";
import type { MethodState } from "../method.ts";
import { Neighbors } from "./neighbors.ts";
import { W_0 } from "./wendland.ts";

export class SphSums {
  readonly neighbors: Neighbors;
  /** Positions, velocities and accelerations in the order of `neighbors`: float64[3N] each. */
  readonly x: Float64Array;
  readonly v: Float64Array;
  readonly a: Float64Array;
  /** Pairs within H, as indices into these arrays, and the first pair of each index. */
  readonly pairs: Pairs = pairsOf(0);
  private readonly group: Uint32Array;
  /** In the same order: densities or pressures. */
  private readonly sum: Float64Array;
  private readonly H: number;

  /** @param H m */
  constructor(count: number, H: number) {
    this.H = H;
    this.neighbors = new Neighbors(count);
    [this.x, this.v, this.a] = [new Float64Array(3 * count), new Float64Array(3 * count), new Float64Array(3 * count)];
    this.sum = new Float64Array(count);
    this.group = new Uint32Array(count + 1);
  }

  /** Lists pairs, valid until two points have moved by `skin` together, m. */
  list(x: Float64Array, skin: number): void {
    const { neighbors, pairs } = this;
    neighbors.findInOrder(x, this.H + skin);
    if (pairs.i.length < neighbors.pairs) Object.assign(pairs, pairsOf(Math.ceil(1.5 * neighbors.pairs)));
  }

  /** Begins a step: copies the state in the order of `neighbors`. */
  gather({ x, v }: MethodState): void {
    const { order } = this.neighbors;
    for (let n = 0; n < order.length; n++)
      for (let r = 0, k = 3 * order[n]!, at = 3 * n; r < 3; r++) {
        this.x[at + r] = x[k + r]!;
        this.v[at + r] = v[k + r]!;
      }
    this.a.fill(0);
  }

  /**
   * Selects the pairs within H: rho/rho_0 = sum_j W_ij/W_0.
   * @param density float64[N] out, by numbers
   * @param more whether slopes and weights for fluidForces.ts are needed
   */
  sumDensity(density: Float64Array, more: boolean): void {
    const { x, sum, H, pairs, group } = this;
    const { order, group: from, second } = this.neighbors;
    const { i, j, slope, weight } = pairs;
    const scale = 1 / W_0;
    const steep = (-20 * scale) / (H * H);
    const per = 1 / H;
    sum.fill(scale);
    let count = 0;
    for (let n = 0; n < order.length; n++) {
      group[n] = count;
      const ax = x[3 * n]!;
      const ay = x[3 * n + 1]!;
      const az = x[3 * n + 2]!;
      let own = 0;
      const end = from[n + 1]!;
      for (let p = from[n]!; p < end; p++) {
        const b = second[p]!;
        const dx = ax - x[3 * b]!;
        const dy = ay - x[3 * b + 1]!;
        const dz = az - x[3 * b + 2]!;
        const square = dx * dx + dy * dy + dz * dz;
        // pairs that are too far are overwritten: a mispredicted branch costs more than a pair
        j[count] = b;
        slope[count] = square;
        count += Number(square < H * H);
      }
      for (let p = group[n]!; p < count; p++) {
        const q = Math.sqrt(slope[p]!) * per;
        const u = 1 - q;
        const cube = u * u * u;
        const w = scale * cube * u * (1 + 4 * q);
        slope[p] = steep * cube;
        if (more) {
          i[p] = n;
          weight[p] = w;
        }
        own += w;
        sum[j[p]!]! += w;
      }
      sum[n]! += own;
    }
    group[order.length] = count;
    pairs.count = count;
    for (let n = 0; n < order.length; n++) density[order[n]!] = sum[n]!;
  }

  /**
   * a_i -= sum_j (P_i + P_j) grad_i W_ij/W_0, and viscosity.
   * @param P float64[N], by numbers: pressure over density, m^2/s^2
   * @param viscosity m^2/s
   */
  push(P: Float64Array, viscosity: number): void {
    const { x, v, a, sum: pressure, H, pairs, group } = this;
    const { order } = this.neighbors;
    const { j, slope } = pairs;
    const eps = 0.01 * H * H;
    const nu = 10 * viscosity;
    for (let n = 0; n < order.length; n++) pressure[n] = P[order[n]!]!;
    for (let n = 0; n < order.length; n++) {
      const ka = 3 * n;
      const ax = x[ka]!;
      const ay = x[ka + 1]!;
      const az = x[ka + 2]!;
      const ux = v[ka]!;
      const uy = v[ka + 1]!;
      const uz = v[ka + 2]!;
      const own = pressure[n]!;
      let fx = 0;
      let fy = 0;
      let fz = 0;
      const end = group[n + 1]!;
      for (let p = group[n]!; p < end; p++) {
        const b = j[p]!;
        const kb = 3 * b;
        const dx = ax - x[kb]!;
        const dy = ay - x[kb + 1]!;
        const dz = az - x[kb + 2]!;
        const rate = dx * (ux - v[kb]!) + dy * (uy - v[kb + 1]!) + dz * (uz - v[kb + 2]!);
        const f = slope[p]! * ((nu * rate) / (dx * dx + dy * dy + dz * dz + eps) - own - pressure[b]!);
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
        a[kb]! -= f * dx;
        a[kb + 1]! -= f * dy;
        a[kb + 2]! -= f * dz;
      }
      a[ka]! += fx;
      a[ka + 1]! += fy;
      a[ka + 2]! += fz;
    }
  }

  /**
   * Pressure in the last step by the virial of a point's pairs, Pa: scale sum_j (P_i + P_j) r |dW/dr|/W_0.
   * @param x float64[3N], by numbers, m
   * @param scale kg/m^3
   */
  virial(x: Float64Array, P: Float64Array, scale: number): Float64Array {
    const { group } = this;
    const { order } = this.neighbors;
    const { j, slope } = this.pairs;
    const pressure = new Float64Array(P.length);
    for (let n = 0; n < order.length; n++)
      for (let p = group[n]!; p < group[n + 1]!; p++) {
        const [a, b] = [order[n]!, order[j[p]!]!];
        let square = 0;
        for (let r = 0; r < 3; r++) square += (x[3 * a + r]! - x[3 * b + r]!) ** 2;
        const part = -scale * (P[a]! + P[b]!) * slope[p]! * square;
        pressure[a]! += part;
        pressure[b]! += part;
      }
    return pressure;
  }
}

const pairsOf = (most: number): Pairs => ({
  count: 0,
  i: new Uint32Array(most),
  j: new Uint32Array(most),
  slope: new Float64Array(most),
  weight: new Float64Array(most),
});
