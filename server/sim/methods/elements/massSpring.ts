/**
 * Mass-spring network (Physically Based Deformable Models, "Mass-spring systems"): the edges of the mesh are springs.
 * With d = x_i - x_j, l = |d|, n = d/l and rest length L
 *
 *   f_i = -k (l - L) n,   damping f_i = -k_d (n . (v_i - v_j)) n,   k_d = beta k
 *
 * which damps neither rotation nor bending. Its derivative (Baraff and Witkin 1998, section 4.2; Choi and Ko 2002)
 *
 *   -df_i/dx_i = k (n n^T + max(0, 1 - L/l) (1 - n n^T)),   -df_i/dv_i = k_d n n^T
 *
 * leaves out the indefinite part of a compressed spring. k is 1 over the compliance of material model `pbd`: the same
 * net works with position based dynamics.
 */
import type { Method as MethodSpec } from "../../../../shared/scene/sceneMethodTypes.ts";
import type { BodyTemplate } from "../../body/template.ts";
import type { ForceModel } from "./forceModel.ts";
import { GRABS, integrate, type Integrator } from "./integrators.ts";
import type { Constants, MethodKind } from "../method.ts";

type Spec = Extract<MethodSpec, { type: "mass-spring" }>;
const integratorOf = (spec: MethodSpec): Integrator => (spec as Spec).integrator ?? "implicit";

export const massSpring: MethodKind = {
  grab: (spec) => GRABS[integratorOf(spec)],
  plan: springsOf,
  open: (constants, spec, body) => integrate(new Springs(constants), integratorOf(spec), body),
  anyStep: true,
};

function springsOf({ elements }: Pick<BodyTemplate, "elements">): Constants {
  // The scene's rules require springs (shared/scene/sceneMethod.ts).
  const edges = elements.find((e) => e.kind === "distance")!;
  return { ends: edges.particles, rest: edges.rest, stiffness: edges.alpha.map((a) => 1 / a) };
}

class Springs implements ForceModel {
  private readonly ends: Uint32Array;
  private readonly rest: Float64Array;
  private readonly stiffness: Float64Array;
  /** n of each spring, and l below. */
  private readonly n: Float64Array;
  private readonly length: Float64Array;

  constructor({ ends, rest, stiffness }: Constants) {
    this.ends = ends as Uint32Array;
    this.rest = rest as Float64Array;
    this.stiffness = stiffness as Float64Array;
    this.n = new Float64Array(3 * this.rest.length);
    this.length = new Float64Array(this.rest.length);
  }

  at(x: Float64Array): void {
    for (let s = 0; s < this.rest.length; s++) {
      const i = 3 * this.ends[2 * s]!;
      const j = 3 * this.ends[2 * s + 1]!;
      const dx = x[i]! - x[j]!;
      const dy = x[i + 1]! - x[j + 1]!;
      const dz = x[i + 2]! - x[j + 2]!;
      const l = Math.sqrt(dx * dx + dy * dy + dz * dz);
      const inverse = l > 0 ? 1 / l : 0;
      this.length[s] = l;
      this.n[3 * s] = dx * inverse;
      this.n[3 * s + 1] = dy * inverse;
      this.n[3 * s + 2] = dz * inverse;
    }
  }

  addForce(f: Float64Array): void {
    for (let s = 0; s < this.rest.length; s++) {
      const i = 3 * this.ends[2 * s]!;
      const j = 3 * this.ends[2 * s + 1]!;
      const tension = this.stiffness[s]! * (this.length[s]! - this.rest[s]!);
      for (let r = 0; r < 3; r++) {
        f[i + r]! -= tension * this.n[3 * s + r]!;
        f[j + r]! += tension * this.n[3 * s + r]!;
      }
    }
  }

  addProduct(p: Float64Array, q: Float64Array, k: number, d: number): void {
    for (let s = 0; s < this.rest.length; s++) {
      const i = 3 * this.ends[2 * s]!;
      const j = 3 * this.ends[2 * s + 1]!;
      const n = 3 * s;
      const l = this.length[s]!;
      const across = k * (l > this.rest[s]! ? 1 - this.rest[s]! / l : 0);
      let along = 0;
      for (let r = 0; r < 3; r++) along += this.n[n + r]! * (p[i + r]! - p[j + r]!);
      along *= k + d - across;
      for (let r = 0; r < 3; r++) {
        const g = this.stiffness[s]! * (across * (p[i + r]! - p[j + r]!) + along * this.n[n + r]!);
        q[i + r]! += g;
        q[j + r]! -= g;
      }
    }
  }

  energy(): number {
    let sum = 0;
    for (let s = 0; s < this.rest.length; s++) {
      const c = this.length[s]! - this.rest[s]!;
      sum += 0.5 * this.stiffness[s]! * c * c;
    }
    return sum;
  }
}
