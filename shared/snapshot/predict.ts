/**
 * Where a particle will be, and how surely: the prediction of format.ts, section 6, the same bits on both ends.
 *
 * From the displacements of neighbors that are already decoded it takes their mean, moved towards the parallelogram of the triangles beside it
 * where the neighborhood is lively; then it corrects the guess so that the edges to the neighbors keep their lengths (cloth and soft bodies hardly
 * stretch between two frames, so a particle has little freedom but across its edges), and conditions each component on those decoded before.
 * How far the edge lengths are trusted follows from how well they held at the neighbors.
 *
 * Measured on the bench's 61 x 61 cloth, bytes per particle and frame, ideal adaptive code:
 *   mean of neighbors 0.62; mixed with the parallelograms by least squares, refitted every frame and sent along, 0.61; then edge lengths with one
 *   weight per frame 0.537, with a weight by local activity 0.525; the mix by local activity too 0.517; the weight by local stretch as well (this)
 *   0.515, and 0.510 with the trained first probabilities.
 * Rejected: the frame before the previous one as well (0.586 against 0.601 at that stage, but a client could then not join on a keyframe);
 *   logistic mixing of three contexts per bit (0.597 against 0.601); the mix by the past errors of both predictions (0.2 to 0.7 % less); edge
 *   lengths trusted without regard to local stretch (0.517 on this cloth, but 1.19 instead of 0.90 on the same one stretched by 15 %).
 */
import { CENTER_LIMIT, FIRST_ACTIVITY, LEVEL_THRESHOLDS } from "./format.ts";
import { MAX_GATES, MAX_NEIGHBORS, type SnapshotModel } from "./model.ts";

/** Offsets into the scratch array: the names of section 6. */
const PX = 0;
const BX = 3;
const YZ = 6;
const XZ = 7;
const M = 8;
const IX = 9;
const IY = 10;
const IZ = 11;
const R = 12;
const ACT = 15;
const OWN = 16;
const SIGMA = 17;
const CENTER = 18;
const SCRATCH = 19;

/** Bin of floor(8 * level), up to 256: the thresholds are multiples of 1/8. */
const BIN = Uint8Array.from({ length: 257 }, (_, eighths) => LEVEL_THRESHOLDS.filter((t) => 8 * t <= eighths).length);

/** State of one frame being coded; ranks, not particle numbers, index everything. Reusable, one per thread and model. */
export class Predictor {
  readonly model: SnapshotModel;
  /** float64[3*total] position in the previous frame, to be written for a rank before `enter`. */
  readonly previous: Float64Array;
  /** float64[3*total] displacement since then. */
  readonly moved: Float64Array;
  private readonly activity: Float64Array;
  private readonly stretch: Float64Array;
  private readonly s = new Float64Array(SCRATCH);
  private keyframe = false;
  /** What `expect` answers: the nearest integer to the expected displacement, ... */
  base = 0;
  /** ... 4 * bin + phase, which name the residual's contexts, ... */
  slot = 0;
  /** ... and whether the expectation lies below `base`. */
  below = false;

  constructor(model: SnapshotModel) {
    this.model = model;
    this.previous = new Float64Array(3 * model.total);
    this.moved = new Float64Array(3 * model.total);
    this.activity = new Float64Array(model.total);
    this.stretch = new Float64Array(model.total);
  }

  /** Starts a frame. */
  begin(keyframe: boolean): void {
    this.keyframe = keyframe;
  }

  /** Prepares the prediction of the particle at rank `i` of the body whose first rank is `first`. */
  enter(i: number, first: number): void {
    const { s, moved, activity, stretch } = this;
    s[OWN] = 0;
    s[BX] = s[BX + 1] = s[BX + 2] = 0;
    s[XZ] = s[YZ] = s[M] = 0;
    s[IX] = s[IY] = s[IZ] = 1;
    const k = this.model.neighborCount[i];
    if (k === 0) {
      const known = i > first;
      s[ACT] = known ? activity[i - 1] : FIRST_ACTIVITY;
      for (let c = 0; c < 3; c++) s[PX + c] = known ? moved[3 * (i - 1) + c] : 0;
      return;
    }
    const { neighbors } = this.model;
    let act = 0;
    let t = 0;
    let x = 0;
    let y = 0;
    let z = 0;
    for (let at = MAX_NEIGHBORS * i, end = at + k; at < end; at++) {
      const u = neighbors[at];
      act += activity[u];
      t += stretch[u];
      x += moved[3 * u];
      y += moved[3 * u + 1];
      z += moved[3 * u + 2];
    }
    act /= k;
    t /= k;
    s[ACT] = act;
    s[PX] = x / k;
    s[PX + 1] = y / k;
    s[PX + 2] = z / k;
    const keyframe = this.keyframe;
    // With act = 0 the mix and the weight are 0 and the formulas below return the mean as it is: most of a resting body ends here.
    if (act === 0 && !keyframe) return;
    const a2 = (act * act) / 9;
    this.mixGates(i, keyframe ? 1 : (0.8 * a2) / (a2 + 2));
    if (!keyframe) this.keepLengths(i, k, Math.min(32, a2 / (0.1 + t)));
  }

  /** p = m + alpha (g - m) */
  private mixGates(i: number, alpha: number): void {
    const { s, moved } = this;
    const { gates, gateCount } = this.model;
    const n = gateCount[i];
    if (n === 0) return;
    let x = 0;
    let y = 0;
    let z = 0;
    for (let at = 3 * MAX_GATES * i, end = at + 3 * n; at < end; at += 3) {
      const a = 3 * gates[at];
      const b = 3 * gates[at + 1];
      const c = 3 * gates[at + 2];
      x += moved[a] + moved[b] - moved[c];
      y += moved[a + 1] + moved[b + 1] - moved[c + 1];
      z += moved[a + 2] + moved[b + 2] - moved[c + 2];
    }
    s[PX] += alpha * (x / n - s[PX]);
    s[PX + 1] += alpha * (y / n - s[PX + 1]);
    s[PX + 2] += alpha * (z / n - s[PX + 2]);
  }

  /** The Gauss-Newton step of minimal |r|^2 + sum over edges of w (s + f . r)^2, left in a form that conditions z on x y, and y on x. */
  private keepLengths(i: number, k: number, weight: number): void {
    const { s, moved, previous } = this;
    const { neighbors } = this.model;
    const px = s[PX];
    const py = s[PX + 1];
    const pz = s[PX + 2];
    const ox = previous[3 * i];
    const oy = previous[3 * i + 1];
    const oz = previous[3 * i + 2];
    let xx = 1;
    let xy = 0;
    let xz = 0;
    let yy = 1;
    let yz = 0;
    let zz = 1;
    let bx = 0;
    let by = 0;
    let bz = 0;
    for (let at = MAX_NEIGHBORS * i, end = at + k; at < end; at++) {
      const u = 3 * neighbors[at];
      const ex = ox - previous[u];
      const ey = oy - previous[u + 1];
      const ez = oz - previous[u + 2];
      if (ex === 0 && ey === 0 && ez === 0) continue;
      const qx = px - moved[u];
      const qy = py - moved[u + 1];
      const qz = pz - moved[u + 2];
      const fx = ex + qx;
      const fy = ey + qy;
      const fz = ez + qz;
      // 2 s = |e + q|^2 - |e|^2
      const excess = qx * (ex + qx / 2) + qy * (ey + qy / 2) + qz * (ez + qz / 2);
      const w = weight / (fx * fx + fy * fy + fz * fz + 1);
      const wx = w * fx;
      const wy = w * fy;
      const wz = w * fz;
      xx += wx * fx;
      xy += wx * fy;
      xz += wx * fz;
      yy += wy * fy;
      yz += wy * fz;
      zz += wz * fz;
      bx -= wx * excess;
      by -= wy * excess;
      bz -= wz * excess;
    }
    const iz = 1 / zz;
    const y = yy - yz * yz * iz;
    const m = xy - xz * yz * iz;
    const cy = by - yz * bz * iz;
    const iy = 1 / y;
    s[IX] = 1 / (xx - xz * xz * iz - m * m * iy);
    s[IY] = iy;
    s[IZ] = iz;
    s[BX] = bx - xz * bz * iz - m * cy * iy;
    s[BX + 1] = cy;
    s[BX + 2] = bz;
    s[XZ] = xz;
    s[YZ] = yz;
    s[M] = m;
  }

  /**
   * Predicts component `c` (0, 1, 2, in this order) and answers in `base`, `slot` and `below`: small integers, because a fraction that crosses
   * a call which V8 does not inline costs an allocation.
   */
  expect(c: number): void {
    const { s } = this;
    let center: number;
    if (c === 0) center = s[PX] + s[BX] * s[IX];
    else if (c === 1) center = s[PX + 1] + (s[BX + 1] - s[M] * s[R]) * s[IY];
    else center = s[PX + 2] + (s[BX + 2] - s[XZ] * s[R] - s[YZ] * s[R + 1]) * s[IZ];
    center = center > CENTER_LIMIT ? CENTER_LIMIT : center < -CENTER_LIMIT ? -CENTER_LIMIT : center;
    const sigma = Math.sqrt(s[IX + c]);
    s[CENTER] = center;
    s[SIGMA] = sigma;
    const base = Math.floor(center + 0.5);
    const h = center - base;
    const level = (s[ACT] + 0.5 * s[OWN]) * sigma;
    const phase = Math.floor(8 * Math.abs(h));
    this.base = base;
    this.below = h < 0;
    this.slot = 4 * BIN[level >= 32 ? 256 : Math.floor(8 * level)] + (phase > 3 ? 3 : phase);
  }

  /** Takes the displacement `y` that component `c` turned out to have. */
  settle(i: number, c: number, y: number): void {
    const { s } = this;
    this.moved[3 * i + c] = y;
    s[R + c] = y - s[PX + c];
    s[OWN] += Math.abs(y - s[CENTER]) / s[SIGMA];
  }

  /** After the third component: what later particles will ask of this one. */
  leave(i: number): void {
    this.activity[i] = this.s[OWN];
    const { moved, previous, model } = this;
    const k = model.neighborCount[i];
    let sum = 0;
    if (!this.keyframe) {
      const yx = moved[3 * i];
      const yy = moved[3 * i + 1];
      const yz = moved[3 * i + 2];
      for (let at = MAX_NEIGHBORS * i, end = at + k; at < end; at++) {
        const u = 3 * model.neighbors[at];
        const qx = yx - moved[u];
        const qy = yy - moved[u + 1];
        const qz = yz - moved[u + 2];
        if (qx === 0 && qy === 0 && qz === 0) continue;
        const gx = previous[3 * i] - previous[u] + qx / 2;
        const gy = previous[3 * i + 1] - previous[u + 1] + qy / 2;
        const gz = previous[3 * i + 2] - previous[u + 2] + qz / 2;
        const excess = qx * gx + qy * gy + qz * gz;
        sum += (excess * excess) / (gx * gx + gy * gy + gz * gz + 1);
      }
    }
    this.stretch[i] = k === 0 ? 0 : sum / k;
  }
}

const predictors = new WeakMap<SnapshotModel, Predictor>();

/** The one predictor of a model in this thread: coding is synchronous, so encoder and decoder can share it. */
export function predictorOf(model: SnapshotModel): Predictor {
  let predictor = predictors.get(model);
  if (predictor === undefined) {
    predictor = new Predictor(model);
    predictors.set(model, predictor);
  }
  return predictor;
}
