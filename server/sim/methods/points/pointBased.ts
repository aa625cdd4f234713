/**
 * Points that carry stress without a mesh (Physically Based Deformable Models, "Point-based animation"; Mueller et al.
 * 2004). The gradient of the deformation X -> x at point i is that of moving least squares over its neighbors:
 *
 *   A_i = sum_j w_ij X_ij X_ij^T,   d_ij = A_i^-1 w_ij X_ij,   J_i = sum_j x_ij d_ij^T        (eq. 8 to 12)
 *   w = (1 - r^2/H^2)^3,  X_ij = X_j - X_i                                                    (eq. 2, scaled)
 *
 * exact for affine maps, so a rigid motion has no strain. With F = J Q, the volume v of a point, and Saint
 * Venant-Kirchhoff's law and a term for the volume (stVenantKirchhoff.ts),
 *
 *   U_i = v (mu e:e + lambda tr(e)^2/2 + k (det F - 1)^2/2),   e = (F^T F - 1)/2              (eq. 14, 24)
 *   f_j = -v P Q^T d_ij,   f_i = +v P Q^T sum_j d_ij,   P = dU/dF/v                           (eq. 18 to 20)
 *
 * Momentum and angular momentum are kept: forces of a point add up to 0, and P F^T is symmetric. Motion that the
 * gradient misses (points that move against their neighbors) costs c w |x_ij - J X_ij|^2/2, the residual of the least
 * squares, with c = RESIDUAL E v/sum_j w |X_ij|^2 (after Ganzenmueller 2015, for SPH): 0 for affine maps, of order H^2
 * otherwise.
 *
 * Q is the elastic part of the deformation up to the points' rest X. It is 1 until strain flows. If the deviatoric
 * strain e' is above the yield, F <- F exp(-g e'), g = creep h (1 - yield/|e'|), which keeps the volume (Mueller's
 * additive plastic strain, section 6, would not rotate with the body; this is Gerszewski et al. 2009). Once FLOWED has
 * flowed, the points' current positions become their rest, with new neighbors, and Q <- J Q: no strain changes. The old
 * distances between points are then lost, so in bodies that flow, near points repel each other. Melting: the yield
 * falls to 0 with the temperature, and the body becomes a Maxwell fluid of viscosity mu/creep.
 *
 * K leaves out the rotation of stress by F (Gauss and Newton): it is symmetric and positive semidefinite.
 */
import type { PointsBody } from "../../../../shared/scene/scene.ts";
import type { PointBased as Spec } from "../../../../shared/scene/sceneMethodTypes.ts";
import { SceneError } from "../../../../shared/scene/sceneError.ts";
import type { BodyTemplate } from "../../body/template.ts";
import type { ForceModel } from "../elements/forceModel.ts";
import { GRABS, integrate, type Integrator } from "../elements/integrators.ts";
import type { Constants, Method, MethodBody, MethodKind } from "../method.ts";
import { cofactorsOf, cubeRoot, green, IDENTITY, multiply, multiplyTransposed } from "../matrices.ts";
import { LeastSquares } from "./movingLeastSquares.ts";
import { StVenantKirchhoff } from "../elements/stVenantKirchhoff.ts";

/** H in spacings: 18 neighbors in a cubic lattice. */
const REACH = 1.5;
/** Stiffness against motion that the gradient misses, in E. */
const RESIDUAL = 0.1;
/**
 * In bodies that flow, points nearer than CROWDED spacings repel each other, with the stiffness CROWDING times E times
 * the spacing.
 */
const CROWDED = 0.8;
const CROWDING = 0.2;
/** Strain that flows before the rest positions move. */
const FLOWED = 0.1;
/** Largest share of strain that flows in a step. */
const MOST_FLOW = 0.3;
/** Largest number of points times steps of a tick. */
const MOST_STEPPED = 2 ** 15;
/** Offsets in the extra state: number of steps, and strain that has flowed since the rest moved; then X and Q. */
const [STEPS, FLOW, REST] = [0, 1, 2];

const integratorOf = (spec: Spec): Integrator => spec.integrator ?? "implicit";

export const pointBased: MethodKind = {
  grab: (spec) => GRABS[integratorOf(spec as Spec)],
  plan(template, spec, body, path) {
    const stepped = (spec.steps ?? 4) * body.count;
    if (stepped > MOST_STEPPED)
      throw new SceneError(
        path.replace(/type$/, "steps"),
        spec.steps ?? 4,
        `small enough that points times steps are at most ${MOST_STEPPED} a tick`,
      );
    const { density, youngsModulus: E, poissonsRatio: nu } = template.material as Required<PointsBody["material"]>;
    const law = [
      E / (2 * (1 + nu)),
      (E * nu) / ((1 + nu) * (1 - 2 * nu)),
      E * ((spec as Spec).volumeStiffness ?? 0),
      E * RESIDUAL,
    ];
    const flows = (spec as Spec).yield !== undefined;
    const crowd = [flows ? CROWDED * template.meanEdge : 0, CROWDING * E * template.meanEdge];
    const constants = {
      law: Float64Array.of(...law, REACH * template.meanEdge, ...crowd),
      volume: template.mass.map((m) => m / density),
    };
    const squares = new LeastSquares(body.count, constants.law[4]!);
    squares.find(template.positions);
    if (squares.loose > 0)
      throw new SceneError(
        path.replace(/method\/type$/, "mesh/cells"),
        `${squares.loose} points whose neighbors lie in a plane`,
        "2 or more in every direction: points in a plane have no gradient across it",
      );
    return constants;
  },
  more: remembered,
  open: (constants, spec, body) => stepped(new Points(constants), spec as Spec, body),
};

function remembered({ positions }: Pick<BodyTemplate, "positions">): Float64Array {
  const N = positions.length / 3;
  const more = new Float64Array(REST + 12 * N);
  more.set(positions, REST);
  for (let k = 0; k < 9 * N; k++) more[REST + 3 * N + k] = IDENTITY[k % 9]!;
  return more;
}

function stepped(points: Points, spec: Spec, body: MethodBody): Method {
  const inner = integrate(points, integratorOf(spec), body);
  return {
    step(state, outside) {
      const { more, x } = state;
      points.rest(more);
      if (spec.yield !== undefined) {
        points.at(x);
        points.flow(yieldAt(spec, more[STEPS]! * body.h), (spec.creep ?? 10) * body.h, more);
        if (more[FLOW]! > FLOWED) points.settle(x, more);
      }
      more[STEPS]! += 1;
      inner.step(state, outside);
    },
    energy({ x, more }) {
      points.rest(more);
      points.at(x);
      return points.energy();
    },
  };
}

interface Law {
  /** Pa. */
  residual: number;
  /** Distance below which points repel each other, m. */
  crowded: number;
  /** Stiffness of that repulsion, N/m. */
  crowding: number;
}

/**
 * Yield at a time.
 * @param seconds since the body began
 */
function yieldAt({ yield: cold = 0, temperature = 0, warmUp = 0 }: Spec, seconds: number): number {
  const heat = temperature * (seconds < warmUp ? seconds / warmUp : 1);
  return heat < 1 ? cold * (1 - heat) : 0;
}

class Points implements ForceModel {
  readonly squares: LeastSquares;
  private readonly law: Law;
  private readonly elastic: StVenantKirchhoff;
  private readonly volume: Float64Array;
  private x = new Float64Array(0) as Float64Array;
  private Q = new Float64Array(0) as Float64Array;
  /** For each point: c; J; F; v P Q^T; changes of J and of v P Q^T. */
  private readonly c: Float64Array;
  private readonly J: Float64Array;
  private readonly F: Float64Array;
  private readonly T: Float64Array;
  private readonly dJ: Float64Array;
  private readonly dT: Float64Array;
  private readonly e = new Float64Array(9);
  private readonly cofactors = new Float64Array(9);
  private readonly product = new Float64Array(9);

  constructor({ law, volume }: Constants) {
    const [mu, lambda, bulk, residual, H, crowded, crowding] = law as Float64Array;
    this.law = { residual: residual!, crowded: crowded!, crowding: crowding! };
    this.elastic = new StVenantKirchhoff({ mu: mu!, lambda: lambda!, bulk: bulk! });
    this.volume = volume as Float64Array;
    const N = this.volume.length;
    this.squares = new LeastSquares(N, H!);
    const matrices = (): Float64Array => new Float64Array(9 * N);
    this.c = new Float64Array(N);
    [this.J, this.F, this.T] = [matrices(), matrices(), matrices()];
    [this.dJ, this.dT] = [matrices(), matrices()];
  }

  /** Reads rest and Q from the body's extra state. */
  rest(more: Float64Array): void {
    const { c, volume, squares } = this;
    squares.find(more.subarray(REST, REST + 3 * volume.length));
    this.Q = more.subarray(REST + 3 * volume.length);
    for (let i = 0; i < c.length; i++) c[i] = this.law.residual * volume[i]! * squares.spread[i]!;
  }

  at(x: Float64Array): void {
    const { F, J, Q, T, elastic, volume } = this;
    this.x = x;
    this.squares.gradients(x, J, 1);
    for (let at = 0; at < F.length; at += 9) {
      multiply(J, at, Q, at, F, at);
      elastic.stress(F, at);
      multiplyTransposed(elastic.P, Q, at, volume[at / 9]!, T, at);
    }
  }

  addForce(f: Float64Array): void {
    this.squares.scatter(this.x, this.J, this.T, this.c, 1, f);
    if (this.law.crowded > 0) this.crowd(undefined, -1, f);
  }

  addProduct(p: Float64Array, q: Float64Array, k: number, d: number): void {
    const { dJ, dT, F, Q, elastic, product, volume } = this;
    this.squares.gradients(p, dJ, 0);
    for (let at = 0; at < dJ.length; at += 9) {
      multiply(dJ, at, Q, at, product, 0);
      elastic.change(F, at, product);
      multiplyTransposed(elastic.P, Q, at, volume[at / 9]!, dT, at);
    }
    this.squares.scatter(p, dJ, dT, this.c, -(k + d), q);
    if (this.law.crowded > 0) this.crowd(p, k + d, q);
  }

  energy(): number {
    const elastic = this.volume.reduce((sum, v, i) => sum + v * this.elastic.stress(this.F, 9 * i), 0);
    const crowd = this.law.crowded > 0 ? this.crowd(undefined, 0, this.dT) : 0;
    return elastic + this.squares.residualEnergy(this.x, this.J, this.c) + crowd;
  }

  /**
   * Repulsion of neighbors nearer than `crowded`: k (crowded - d)^2/2.
   * @param p undefined: q += scale gradient; else q += scale k n n^T p by pair
   * @returns energy, J
   */
  private crowd(p: Float64Array | undefined, scale: number, q: Float64Array): number {
    const { x, law } = this;
    const { i, j, pairs } = this.squares.neighbors;
    let energy = 0;
    for (let n = 0; n < pairs; n++) {
      const [a, b] = [3 * i[n]!, 3 * j[n]!];
      const [dx, dy, dz] = [x[b]! - x[a]!, x[b + 1]! - x[a + 1]!, x[b + 2]! - x[a + 2]!];
      const d = Math.sqrt(dx * dx + dy * dy + dz * dz);
      if (!(d < law.crowded && d > 0)) continue;
      const over = law.crowded - d;
      energy += 0.5 * law.crowding * over * over;
      const along = p
        ? (dx * (p[b]! - p[a]!) + dy * (p[b + 1]! - p[a + 1]!) + dz * (p[b + 2]! - p[a + 2]!)) / d
        : -over;
      const s = (scale * law.crowding * along) / d;
      for (let r = 0; r < 3; r++) {
        const part = s * (r === 0 ? dx : r === 1 ? dy : dz);
        q[a + r]! -= part;
        q[b + r]! += part;
      }
    }
    return energy;
  }

  /**
   * Lets strain above the yield flow, at the last positions.
   * @param share of the strain
   * @param more inout
   */
  flow(limit: number, share: number, more: Float64Array): void {
    const { e, F, Q, product: D } = this;
    let most = 0;
    for (let at = 0; at < F.length; at += 9) {
      green(F, at, F, at, e);
      const mean = (e[0]! + e[4]! + e[8]!) / 3;
      let square = 0;
      for (let k = 0; k < 9; k++) {
        if (k % 4 === 0) e[k]! -= mean;
        square += e[k]! * e[k]!;
      }
      const size = Math.sqrt(square);
      if (!(size > limit)) continue;
      const flows = Math.min(MOST_FLOW, share * (size - limit));
      for (let k = 0; k < 9; k++) D[k] = IDENTITY[k]! - (flows * e[k]!) / size;
      const scale = 1 / cubeRoot(cofactorsOf(D, 0, this.cofactors));
      for (let k = 0; k < 9; k++) D[k]! *= scale;
      multiply(Q, at, D, 0, Q, at);
      multiply(F, at, D, 0, F, at);
      most = Math.max(most, flows);
    }
    more[FLOW]! += most;
  }

  /**
   * Makes the points' positions their rest.
   * @param x the last positions
   * @param more inout
   */
  settle(x: Float64Array, more: Float64Array): void {
    const { c, F, Q } = this;
    for (let k = 0; k < F.length; k++) Q[k] = c[(k / 9) | 0]! > 0 ? F[k]! : IDENTITY[k % 9]!;
    more.set(x, REST);
    more[FLOW] = 0;
    this.rest(more);
  }
}
