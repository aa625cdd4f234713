/**
 * Finite differences on a regular sheet (Physically Based Deformable Models, "Finite differences method"; Terzopoulos
 * et al. 1987). The energy is a quadratic form of the changes of metric G_ab = r_a . r_b and curvature B_ab from rest,
 *
 *   U = 1/2 int c_00 e_00^2 + 2 c_01 e_00 e_11 + c_11 e_11^2 + c_22 g^2
 *               + D ((B_00 + B_11)^2 - 2 (1 - nu) (B_00 B_11 - B_01^2))
 *   e_aa = (G_aa - 1)/2,   g = G_01
 *
 * with the tensor of plane stress and the rigidity of a plate as Terzopoulos's weights. Derivatives are differences:
 * r_a along the edges of the grid (in the middle of a cell, the mean of the two edges beside it); r_00 and r_11 of
 * three neighbors, r_01 of a cell's corners. Curvature is |r_ab| in place of n . r_ab, the same if the sheet keeps its
 * lengths, so that bending is linear. K leaves out the negative contribution of compressed edges, and shear's part of
 * the geometric stiffness.
 */
import type { ClothMaterial } from "../../../../shared/scene/sceneMaterials.ts";
import type { Method as MethodSpec } from "../../../../shared/scene/sceneMethodTypes.ts";
import type { BodyTemplate } from "../../body/template.ts";
import { sheetModuli } from "../../scene/materialConstants.ts";
import type { ForceModel } from "./forceModel.ts";
import { GRABS, integrate, type Integrator } from "./integrators.ts";
import type { Constants, MethodKind } from "../method.ts";

type Spec = Extract<MethodSpec, { type: "finite-differences" }>;
const integratorOf = (spec: MethodSpec): Integrator => (spec as Spec).integrator ?? "implicit";

export const finiteDifferences: MethodKind = {
  grab: (spec) => GRABS[integratorOf(spec)],
  plan: sheetOf,
  open: (constants, spec, body) => integrate(new Sheet(constants), integratorOf(spec), body),
  anyStep: true,
};

/** The scene's rules ensure a grid (shared/scene/sceneMethod.ts): rows of particles along x, one after another in z. */
function sheetOf({ own, particleCount, material }: BodyTemplate): Constants {
  const X = own!;
  const m = material as ClothMaterial;
  let across = 1;
  while (X[3 * across + 2] === X[2]) across++;
  const moduli = sheetModuli(m);
  const t = m.thickness / (1 - moduli.nuWeft * moduli.nuWarp);
  return {
    nodes: Uint32Array.of(across, particleCount / across),
    // hx, hz, c00, c01, c11, c22 (N/m), D (N m), nu
    numbers: Float64Array.of(
      X[3]! - X[0]!,
      X[3 * across + 2]! - X[2]!,
      moduli.kWeft * t,
      moduli.kWeft * moduli.nuWarp * t,
      moduli.kWarp * t,
      moduli.kShear * m.thickness,
      m.bendingStiffness ?? 0,
      Math.sqrt(moduli.nuWeft * moduli.nuWarp),
    ),
  };
}

/** Strains or forces: of edges along x, then along z; of cells. */
interface Strains {
  edge: Float64Array;
  cell: Float64Array;
}

export class Sheet implements ForceModel {
  private readonly across: number;
  private readonly along: number;
  private readonly numbers: Float64Array;
  /** Number of edges along x. */
  private readonly first: number;
  private readonly ends: Uint32Array;
  /** Part of the sheet's area that each edge represents, m^2. */
  private readonly area: Float64Array;
  private readonly x: Float64Array;
  private readonly strain: Strains;
  private readonly change: Strains;
  private readonly stress: Strains;
  private readonly changed: Strains;

  constructor({ nodes, numbers }: Constants) {
    this.across = nodes![0]!;
    this.along = nodes![1]!;
    this.numbers = numbers as Float64Array;
    const { across, along } = this;
    this.first = along * (across - 1);
    const edges = this.first + across * (along - 1);
    this.ends = new Uint32Array(2 * edges);
    this.area = new Float64Array(edges);
    this.listEdges();
    this.x = new Float64Array(3 * across * along);
    const strains = (): Strains => ({
      edge: new Float64Array(edges),
      cell: new Float64Array((across - 1) * (along - 1)),
    });
    [this.strain, this.change, this.stress, this.changed] = [strains(), strains(), strains(), strains()];
  }

  at(x: Float64Array): void {
    this.x.set(x);
    const { strain } = this;
    for (let e = 0; e < strain.edge.length; e++) strain.edge[e] = 0.5 * (this.alongEdge(e, x) - 1);
    for (let c = 0; c < strain.cell.length; c++) strain.cell[c] = this.shear(c, x, x);
    this.hooke(strain, this.stress);
  }

  addForce(f: Float64Array): void {
    this.scatter(this.stress, -1, f);
    this.bend(this.x, -1, f);
  }

  addProduct(p: Float64Array, q: Float64Array, k: number, d: number): void {
    const { change, changed } = this;
    for (let e = 0; e < change.edge.length; e++) change.edge[e] = this.alongEdge(e, p);
    for (let c = 0; c < change.cell.length; c++) change.cell[c] = this.shear(c, this.x, p) + this.shear(c, p, this.x);
    this.hooke(change, changed);
    this.scatter(changed, k + d, q);
    this.tighten(p, k, q);
    this.bend(p, k + d, q);
  }

  energy(): number {
    const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
    const f = new Float64Array(this.x.length);
    this.bend(this.x, 1, f);
    return 0.5 * (dot(this.strain.edge, this.stress.edge) + dot(this.strain.cell, this.stress.cell) + dot(this.x, f));
  }

  private listEdges(): void {
    const { across, along, ends, area } = this;
    const [hx, hz] = this.numbers as unknown as [number, number];
    for (let k = 0; k < along; k++) {
      for (let i = 0; i < across; i++) {
        const node = k * across + i;
        if (i < across - 1) {
          const e = k * (across - 1) + i;
          ends.set([node, node + 1], 2 * e);
          area[e] = hx * hz * (k === 0 || k === along - 1 ? 0.5 : 1);
        }
        if (k < along - 1) {
          ends.set([node, node + across], 2 * (this.first + node));
          area[this.first + node] = hx * hz * (i === 0 || i === across - 1 ? 0.5 : 1);
        }
      }
    }
  }

  /** r_a . p_a of edge e, at the positions of the last call of `at`. */
  private alongEdge(e: number, p: Float64Array): number {
    const h = this.numbers[e < this.first ? 0 : 1]!;
    const a = 3 * this.ends[2 * e]!;
    const b = 3 * this.ends[2 * e + 1]!;
    let sum = 0;
    for (let r = 0; r < 3; r++) sum += (this.x[b + r]! - this.x[a + r]!) * (p[b + r]! - p[a + r]!);
    return sum / (h * h);
  }

  /** First corner of cell c. */
  private corner(c: number): number {
    return c + Math.floor(c / (this.across - 1));
  }

  /** p_0 . q_1 in the middle of cell c. */
  private shear(c: number, p: Float64Array, q: Float64Array): number {
    const a = 3 * this.corner(c);
    const down = 3 * this.across;
    let sum = 0;
    for (let r = a; r < a + 3; r++)
      sum +=
        (p[r + 3]! - p[r]! + p[r + down + 3]! - p[r + down]!) * (q[r + down]! - q[r]! + q[r + down + 3]! - q[r + 3]!);
    return sum / (4 * this.numbers[0]! * this.numbers[1]!);
  }

  /** Derivatives of the stored energy by each strain: dU/de. */
  private hooke({ edge, cell }: Strains, out: Strains): void {
    const [hx, hz, c00, c01, c11, c22] = this.numbers as unknown as number[];
    const { across, first } = this;
    for (let e = 0; e < edge.length; e++) out.edge[e] = this.area[e]! * (e < first ? c00! : c11!) * edge[e]!;
    for (let c = 0; c < cell.length; c++) {
      out.cell[c] = hx! * hz! * c22! * cell[c]!;
      const left = first + this.corner(c);
      const below = c + across - 1;
      const part = 0.25 * hx! * hz! * c01!;
      const e0 = part * (edge[c]! + edge[below]!);
      const e1 = part * (edge[left]! + edge[left + 1]!);
      out.edge[c]! += e1;
      out.edge[below]! += e1;
      out.edge[left]! += e0;
      out.edge[left + 1]! += e0;
    }
  }

  /** q += scale sum s de/dx */
  private scatter({ edge, cell }: Strains, scale: number, q: Float64Array): void {
    const { x } = this;
    const [hx, hz] = this.numbers as unknown as [number, number];
    for (let e = 0; e < edge.length; e++) {
      const h = e < this.first ? hx : hz;
      this.pull(x, e, (scale * edge[e]!) / (h * h), q);
    }
    const down = 3 * this.across;
    for (let c = 0; c < cell.length; c++) {
      const a = 3 * this.corner(c);
      const s = (scale * cell[c]!) / (4 * hx * hz);
      for (let r = a; r < a + 3; r++) {
        const along = s * (x[r + 3]! - x[r]! + x[r + down + 3]! - x[r + down]!);
        const over = s * (x[r + down]! - x[r]! + x[r + down + 3]! - x[r + 3]!);
        q[r]! -= over + along;
        q[r + 3]! += over - along;
        q[r + down]! += along - over;
        q[r + down + 3]! += along + over;
      }
    }
  }

  /** Adds the stiffness that tension gives an edge. */
  private tighten(p: Float64Array, k: number, q: Float64Array): void {
    for (let e = 0; e < this.area.length; e++) {
      const h = this.numbers[e < this.first ? 0 : 1]!;
      if (this.stress.edge[e]! > 0) this.pull(p, e, (k * this.stress.edge[e]!) / (h * h), q);
    }
  }

  /** q_b += s (p_b - p_a), q_a -= the same, for the ends a and b of edge e */
  private pull(p: Float64Array, e: number, s: number, q: Float64Array): void {
    const a = 3 * this.ends[2 * e]!;
    const b = 3 * this.ends[2 * e + 1]!;
    for (let r = 0; r < 3; r++) {
      const g = s * (p[b + r]! - p[a + r]!);
      q[b + r]! += g;
      q[a + r]! -= g;
    }
  }

  /** q += scale dU/dx of bending, which is linear. */
  private bend(p: Float64Array, scale: number, q: Float64Array): void {
    const [hx, hz, , , , , D, nu] = this.numbers as unknown as number[];
    if (D === 0) return;
    const { across, along } = this;
    const down = 3 * across;
    for (let k = 0; k < along; k++) {
      for (let i = 0; i < across; i++) {
        const inX = i > 0 && i < across - 1;
        const inZ = k > 0 && k < along - 1;
        const s = scale * D! * hx! * hz! * (inX && inZ ? 1 : 0.5);
        const node = 3 * (k * across + i);
        for (let r = node; r < node + 3; r++) {
          const r0 = inX ? (p[r + 3]! - 2 * p[r]! + p[r - 3]!) / (hx! * hx!) : 0;
          const r1 = inZ ? (p[r + down]! - 2 * p[r]! + p[r - down]!) / (hz! * hz!) : 0;
          if (inX) second(q, r, 3, (s * (r0 + nu! * r1)) / (hx! * hx!));
          if (inZ) second(q, r, down, (s * (r1 + nu! * r0)) / (hz! * hz!));
        }
      }
    }
    const twist = (2 * (1 - nu!) * scale * D!) / (hx! * hz!);
    for (let c = 0; c < this.stress.cell.length; c++) {
      const a = 3 * this.corner(c);
      for (let r = a; r < a + 3; r++) {
        const g = twist * (p[r + down + 3]! - p[r + 3]! - p[r + down]! + p[r]!);
        q[r]! += g;
        q[r + 3]! -= g;
        q[r + down]! -= g;
        q[r + down + 3]! += g;
      }
    }
  }
}

/** The transpose of the second difference. */
function second(q: Float64Array, at: number, step: number, g: number): void {
  q[at + step]! += g;
  q[at]! -= 2 * g;
  q[at - step]! += g;
}
