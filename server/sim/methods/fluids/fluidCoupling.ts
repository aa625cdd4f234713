/**
 * Coupling of two fluids of smoothed particles: points of the other fluid are neighbors, which count by their volume.
 *
 *   rho_i/rho_0 += s_ij W_ij/W_0,  s_ij = (2 l_j/(l_i + l_j))^3,  H the mean of both, l spacings
 *   impulses +-h (m P_i s_ij - 5 nu m (v_ij . x_ij)/(x_ij^2 + 0.01 H^2)) grad_i W_ij/W_0 on both points
 *
 * Each fluid applies the forces of its own pressure and viscosity in its own steps, whose lengths may differ. Impulses
 * are opposite and central, so momentum and angular momentum stay.
 */
import type { FluidPoints, MethodState } from "../method.ts";
import { mostMoved, type Neighbors } from "./neighbors.ts";
import { W_0 } from "./wendland.ts";

/** Largest ratio of masses in the force on the lighter point: a larger one would be unstable. */
const HEAVIEST = 4;

export class FluidCoupling {
  private readonly own: FluidPoints;
  private readonly other: FluidPoints;
  private readonly state: MethodState;
  private readonly H: number;
  /** s_ij */
  private readonly share: number;
  private readonly listed: Float64Array;
  private readonly ball: Uint32Array;
  /** Pairs: own and other point, and slope of W over W_0 and the distance, 1/m^2. */
  private readonly i: number[] = [];
  private readonly j: number[] = [];
  private slope = new Float64Array(0);

  /** @param state of the other fluid */
  constructor(own: FluidPoints, other: FluidPoints, state: MethodState) {
    [this.own, this.other, this.state] = [own, other, state];
    this.H = (own.H + other.H) / 2;
    this.share = (other.H / this.H) ** 3;
    this.listed = new Float64Array(state.x.length);
    this.ball = new Uint32Array(own.body.count + 1);
  }

  /**
   * Lists pairs, valid until two of the points have moved by `skin` together.
   * @param skin m
   */
  list(_: Float64Array, neighbors: Neighbors, skin: number): void {
    const { i, j, ball, listed } = this;
    const { x } = this.state;
    listed.set(x);
    i.length = j.length = 0;
    for (let k = 0; 3 * k < x.length; k++) {
      const near = neighbors.near([x[3 * k]!, x[3 * k + 1]!, x[3 * k + 2]!], this.H + skin, ball);
      for (let n = 0; n < near; n++) {
        i.push(ball[n]!);
        j.push(k);
      }
    }
    this.slope = new Float64Array(i.length);
  }

  /** Largest displacement of the other fluid's points since the last `list`, m. */
  moved(): number {
    return mostMoved(this.state.x, this.listed)[0];
  }

  /** @param density float64[N] of the own points, inout */
  addDensity(x: Float64Array, density: Float64Array): void {
    const { i, j, slope, H } = this;
    for (let p = 0; p < i.length; p++) {
      let square = 0;
      for (let r = 0; r < 3; r++) square += (x[3 * i[p]! + r]! - this.state.x[3 * j[p]! + r]!) ** 2;
      const u = Math.max(0, 1 - Math.sqrt(square) / H);
      density[i[p]!]! += (this.share * u ** 4 * (5 - 4 * u)) / W_0;
      slope[p] = (-20 * u ** 3) / (W_0 * H * H);
    }
  }

  /**
   * Applies opposite impulses to the points of both fluids.
   * @param own their velocities are inout
   * @param P float64[N] pressure over density, m^2/s^2; nu m^2/s
   */
  press({ x, v }: MethodState, P: Float64Array, nu: number): void {
    const { own, other, i, j, slope, H } = this;
    const { x: y, v: w } = this.state;
    const pushed = Math.min(own.mass, HEAVIEST * other.mass) * this.share;
    const rubbed = (10 * nu * own.mass * other.mass) / (own.mass + other.mass);
    const d = new Float64Array(3);
    for (let p = 0; p < i.length; p++) {
      if (slope[p] === 0) continue;
      const [a, b] = [3 * i[p]!, 3 * j[p]!];
      let square = 0;
      let rate = 0;
      for (let r = 0; r < 3; r++) {
        d[r] = x[a + r]! - y[b + r]!;
        square += d[r]! * d[r]!;
        rate += d[r]! * (v[a + r]! - w[b + r]!);
      }
      const impulse = own.h * slope[p]! * ((rubbed * rate) / (square + 0.01 * H * H) - pushed * P[i[p]!]!);
      for (let r = 0; r < 3; r++) {
        v[a + r]! += impulse * own.light[i[p]!]! * d[r]!;
        w[b + r]! -= impulse * other.light[j[p]!]! * d[r]!;
      }
    }
  }
}
