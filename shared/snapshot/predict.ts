/**
 * Predicts a particle's displacement and its uncertainty: section 6 of format.ts in readable form. The fast version is
 * assembly/body.ts. Both round every operation to binary32 in the same order, so they give the same bits
 * (tests/shared/snapshot/parity.test.ts).
 *
 * The guess is the mean displacement of the decoded neighbors. In active neighborhoods it moves towards the
 * parallelogram prediction of the adjacent triangles. Then it is corrected so that the edges to the neighbors keep
 * their lengths, because cloth and soft bodies hardly stretch between two frames and move mostly across their edges.
 * Each component is conditioned on those decoded before. The weight of the edge lengths follows from their error at the
 * neighbors.
 *
 * Measured on the bench's 61 x 61 cloth with an ideal adaptive code, bytes per particle and frame: mean of neighbors
 * 0.620, this predictor 0.509; with the simplifications for the compiled coder and fixed tables 0.514, in half of the
 * time.
 * Rejected: least squares over displacements (0.614), using the frame before the previous one (0.514), lengths of the
 * rest shape (0.527), edge directions of the previous frame (0.524), adaptive tables (0.4 to 1 % less, but no look-up).
 */
import {
  ACTIVITY_GATES,
  EDGE_WEIGHT_LIMIT,
  FIRST_ACTIVITY,
  FIRST_SHIFTED_BIN,
  GATE_SHARE,
  GROWTH_LIMIT,
  LAST_BIN,
  STRETCH_LIMIT,
  STRETCH_OFFSET,
  STRETCH_SCALE,
} from "./format.ts";
import { MAX_GATES, MAX_NEIGHBORS, type SnapshotModel } from "./model.ts";

const f = Math.fround;
/** Bits of the binary32 number 1. */
const LEVEL_BASE = 0x3f800000;
/** 1.5 * 2^23, and its bits: adding it rounds to integers, ties to even. */
const ROUNDER = 12582912;
const ROUNDER_BITS = 0x4b400000;
const INVERSE = [0, 1, f(1 / 2), f(1 / 3), f(1 / 4)];

const scratchFloat = new Float32Array(1);
const scratchInt = new Int32Array(scratchFloat.buffer);

/** The bits of a binary32 number as an int32. */
function bits(x: number): number {
  scratchFloat[0] = x;
  return scratchInt[0]!;
}

type Vec3 = [number, number, number];

/** f32(sum over the four slots), in the order of summing four lanes. */
const sum4 = (s: readonly number[]): number => f(f(s[0]! + s[1]!) + f(s[2]! + s[3]!));
const eightfold = (v: Vec3): Vec3 => [f(8 * v[0]), f(8 * v[1]), f(8 * v[2])];
/** (a.x b.x + a.y b.y) + a.z b.z */
const dot = (a: Vec3, b: Vec3): number => f(f(f(a[0] * b[0]) + f(a[1] * b[1])) + f(a[2] * b[2]));

/** State of one frame while it is coded; all indices are ranks, not particle numbers. */
export class Predictor {
  readonly model: SnapshotModel;
  private readonly keyframe: boolean;
  /** float32[3*total] displacement since the previous frame. */
  private readonly moved: Float32Array;
  /** int32[3*total] position in the previous frame. */
  private readonly previous: Int32Array;
  private readonly activity: Float32Array;
  private readonly stretch: Float32Array;
  // The current particle.
  private p: Vec3 = [0, 0, 0];
  private y: Vec3 = [0, 0, 0];
  private act = 0;
  private t = 0;
  private own = 0;
  private quiet = true;
  private edges: Vec3[] = [];
  private closeness: number[] = [];
  /** Eight times the predicted displacement: (aim - turnX y.x) - turnY y.y */
  private aim: Vec3 = [0, 0, 0];
  private turnX: Vec3 = [0, 0, 0];
  private turnY: Vec3 = [0, 0, 0];
  private variance: Vec3 = [1, 1, 1];
  private root: Vec3 = [1, 1, 1];
  private center = 0;
  /** Result of `expect`: the nearest integer to the predicted displacement. */
  base = 0;
  /** Results of `expect`: the residual's context, and the number of its low bits that are sent raw. */
  context = 0;
  shift = 0;

  constructor(model: SnapshotModel, keyframe: boolean) {
    this.model = model;
    this.keyframe = keyframe;
    this.moved = new Float32Array(3 * model.total);
    this.previous = new Int32Array(3 * model.total);
    this.activity = new Float32Array(model.total);
    this.stretch = new Float32Array(model.total);
  }

  private movedAt(rank: number): Vec3 {
    return [this.moved[3 * rank]!, this.moved[3 * rank + 1]!, this.moved[3 * rank + 2]!];
  }

  private neighbors(i: number): number[] {
    const at = MAX_NEIGHBORS * i;
    return Array.from(this.model.neighbors.subarray(at, at + this.model.neighborCount[i]!));
  }

  /** Prepares the particle at rank `i` of the body whose first rank is `first`. */
  enter(i: number, first: number, previous: Vec3): void {
    this.previous.set(previous, 3 * i);
    this.own = 0;
    this.p = [0, 0, 0];
    this.quiet = true;
    this.t = 0;
    this.turnX = [0, 0, 0];
    this.turnY = [0, 0, 0];
    this.variance = [1, 1, 1];
    this.root = [1, 1, 1];
    const around = this.neighbors(i);
    const k = around.length;
    if (k === 0) {
      this.p = i > first ? this.movedAt(i - 1) : [0, 0, 0];
      this.aim = eightfold(this.p);
      this.act = i > first ? this.activity[i - 1]! : FIRST_ACTIVITY;
      return;
    }
    const slots = (of: (u: number) => number): number => {
      const [a, b, c, d] = [0, 1, 2, 3].map((n) => (n < k ? of(around[n]!) : 0)) as [number, number, number, number];
      return f(a + f(b + f(c + d)));
    };
    this.act = f(slots((u) => this.activity[u]!) * INVERSE[k]!);
    const older = this.ofOlder(around, this.activity);
    this.t = this.ofOlder(around, this.stretch);
    const a2 = f(older * older);
    const sum: Vec3 = [0, 0, 0];
    for (let c = 0; c < 3; c++) sum[c] = slots((u) => this.moved[3 * u + c]!);
    this.mixGates(i, sum, this.keyframe ? 1 : f(f(GATE_SHARE * a2) / f(a2 + ACTIVITY_GATES)));
    this.aim = eightfold(this.p);
    if (this.keyframe || older === 0) return;
    this.quiet = false;
    this.keepLengths(i, around, Math.min(EDGE_WEIGHT_LIMIT, f(a2 / f(f(STRETCH_SCALE * this.t) + STRETCH_OFFSET))));
  }

  /** Mean over the neighbors except the newest, unless it is the only one. */
  private ofOlder(around: readonly number[], values: Float32Array): number {
    const [newest, a, b, c] = around.map((u) => values[u]!);
    return around.length === 1 ? newest! : f(f(a! + f((b ?? 0) + (c ?? 0))) * INVERSE[around.length - 1]!);
  }

  /** p = (1 - alpha) mean of the neighbors + alpha mean of the gates */
  private mixGates(i: number, sum: Vec3, alpha: number): void {
    const { gates, gateCount, neighborCount } = this.model;
    const n = gateCount[i]!;
    const share = n === 0 ? 0 : alpha;
    const ofMean = f(INVERSE[neighborCount[i]!]! * f(1 - share));
    const ofGates = f(share * INVERSE[n]!);
    for (let c = 0; c < 3; c++) {
      const [a, b] = [0, 1].map((g) => {
        const at = 3 * (MAX_GATES * i + g);
        return g < n
          ? f(
              f(this.moved[3 * gates[at]! + c]! + this.moved[3 * gates[at + 1]! + c]!) -
                this.moved[3 * gates[at + 2]! + c]!,
            )
          : 0;
      }) as [number, number];
      this.p[c] = f(f(sum[c]! * ofMean) + f(f(a + b) * ofGates));
    }
  }

  /** Half the change of an edge's squared length if its ends move by q relative to each other: q . (e + q / 2) */
  private excess(e: Vec3, q: Vec3): number {
    return dot(q, [f(e[0] + f(q[0] * 0.5)), f(e[1] + f(q[1] * 0.5)), f(e[2] + f(q[2] * 0.5))]);
  }

  /**
   * The Gauss-Newton step of minimal |r|^2 + sum over edges of w (s + f . r)^2, in a form that conditions y on x, and z
   * on x and y.
   */
  private keepLengths(i: number, around: readonly number[], weight: number): void {
    this.edges = [];
    this.closeness = [];
    const terms = Array.from({ length: 9 }, () => [0, 0, 0, 0]);
    around.forEach((u, slot) => {
      const e = [0, 1, 2].map((c) => f(this.previous[3 * i + c]! - this.previous[3 * u + c]!)) as Vec3;
      const q = [0, 1, 2].map((c) => f(this.p[c]! - this.moved[3 * u + c]!)) as Vec3;
      const d = [0, 1, 2].map((c) => f(e[c]! + q[c]!)) as Vec3;
      const close = f(1 / f(dot(e, e) + 1));
      const s = this.excess(e, q);
      const w = f(dot(d, d) * close) <= GROWTH_LIMIT ? f(weight * close) : 0;
      const [wx, wy, wz] = [f(w * d[0]), f(w * d[1]), f(w * d[2])];
      [wx * d[0], wx * d[1], wx * d[2], wy * d[1], wy * d[2], wz * d[2], wx * s, wy * s, wz * s].forEach((x, n) => {
        terms[n]![slot] = f(x);
      });
      this.edges.push(e);
      this.closeness.push(close);
    });
    const [sxx, xy, xz, syy, yz, szz, nx, ny, nz] = terms.map(sum4) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const [xx, yy, zz] = [f(1 + sxx), f(1 + syy), f(1 + szz)];
    const d2 = f(f(yy * zz) - f(yz * yz));
    const c1 = f(f(xy * zz) - f(xz * yz));
    const c2 = f(f(xz * yy) - f(xy * yz));
    const d3 = f(f(f(xx * d2) - f(xy * c1)) - f(xz * c2));
    const [i3, i2, i1] = [f(1 / d3), f(1 / d2), f(1 / zz)];
    this.root = [f(Math.sqrt(f(d3 * i2))), f(Math.sqrt(f(d2 * i1))), f(Math.sqrt(zz))];
    this.variance = [f(d2 * i3), f(zz * i2), i1];
    const back = [f(f(f(f(nx * d2) - f(ny * c1)) - f(nz * c2)) * i3), f(f(f(ny * zz) - f(nz * yz)) * i2), f(nz * i1)];
    const p = this.p;
    this.turnX = [0, f(8 * f(c1 * i2)), f(8 * f(xz * i1))];
    this.turnY = [0, 0, f(8 * f(yz * i1))];
    this.aim = eightfold([f(p[0] - back[0]!), f(p[1] - back[1]!), f(p[2] - back[2]!)]);
    this.aim[1] = f(this.aim[1] + f(this.turnX[1] * p[0]));
    this.aim[2] = f(f(this.aim[2] + f(this.turnX[2] * p[0])) + f(this.turnY[2] * p[1]));
  }

  /** Predicts component `c` (0, 1, 2, in this order). */
  expect(c: number): void {
    let center = this.aim[c]!;
    if (c > 0) center = f(center - f(this.turnX[c]! * this.y[0]));
    if (c > 1) center = f(center - f(this.turnY[c]! * this.y[1]));
    this.center = center;
    const place = (bits(f(center + ROUNDER)) - ROUNDER_BITS) | 0;
    const bin = Math.min(LAST_BIN, (bits(f(f(f(this.act * this.act) * this.variance[c]!) + 1)) - LEVEL_BASE) >> 23);
    this.base = (place + 4) >> 3;
    if (bin < FIRST_SHIFTED_BIN) {
      this.shift = 0;
      this.context = 8 * bin + (place & 7);
    } else {
      this.shift = (bin - FIRST_SHIFTED_BIN + 2) >> 1;
      this.context = 8 * FIRST_SHIFTED_BIN + (bin & 1);
    }
  }

  /** Sets the actual displacement `y` of component `c`. */
  settle(i: number, c: number, y: number): void {
    const rounded = f(y);
    this.moved[3 * i + c] = rounded;
    this.y[c] = rounded;
    this.own = f(this.own + f(Math.abs(f(f(8 * rounded) - this.center)) * this.root[c]!));
  }

  /** Call it after the third component: stores the values that later particles use. */
  leave(i: number): void {
    this.activity[i] = this.own;
    this.stretch[i] = this.t;
    if (this.quiet) return;
    const around = this.neighbors(i);
    const y = this.movedAt(i);
    const terms = [0, 0, 0, 0];
    around.forEach((u, slot) => {
      const s = this.excess(this.edges[slot]!, [
        f(y[0] - this.moved[3 * u]!),
        f(y[1] - this.moved[3 * u + 1]!),
        f(y[2] - this.moved[3 * u + 2]!),
      ]);
      terms[slot] = f(f(s * this.closeness[slot]!) * s);
    });
    this.stretch[i] = Math.min(STRETCH_LIMIT, f(sum4(terms) * INVERSE[around.length]!));
  }
}
