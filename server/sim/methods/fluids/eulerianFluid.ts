/**
 * Fluid on a fixed grid (Physically Based Deformable Models, "Eulerian and semi-Lagrangian methods"; Stam 1999):
 *
 *   div u = 0,   u_t = -(u . grad) u + nu lap u - grad p + f         in a box of cells around the body's middle
 *
 * The velocity is the body's extra state (macGrid.ts). Its points are tracers, which follow the fluid by a midpoint
 * step and have no inertia: gravity and impulses do not affect them. A plume pushes up the fluid near the middle of the
 * box's bottom. A grab pushes the fluid where its tracers are. Cells whose middle is in a fixed collider are obstacles.
 * If the room has wind, the fluid is part of it: it blows on triangles in its box (methodBodies.ts), and they do not
 * slow it.
 */
import type { EulerianFluid as Spec } from "../../../../shared/scene/sceneMethodTypes.ts";
import { SceneError } from "../../../../shared/scene/sceneError.ts";
import { GRABS } from "../elements/integrators.ts";
import { diffusions, gridLength, MacGrid } from "./macGrid.ts";
import type { Method, MethodBody, MethodKind, MethodState, Outside, Wall } from "../method.ts";

/** Largest number of cells times steps of a tick: 6 us each. */
const MOST_STEPPED = 2 ** 14;
/** Largest number of parts of a step's diffusion. */
const MOST_PARTS = 16;

export const eulerianFluid: MethodKind = {
  grab: () => GRABS.explicit,
  more: (_, spec) => new Float64Array(gridLength((spec as Spec).cells)),
  plan(template, spec, { h }, path) {
    const { cells, edge, kinematicViscosity: viscosity = 0, steps = 4 } = spec as Spec;
    const count = cells[0] * cells[1] * cells[2];
    if (count * steps > MOST_STEPPED)
      throw new SceneError(
        path.replace(/type$/, "cells"),
        cells,
        `at most ${Math.floor(MOST_STEPPED / steps)} cells with ${steps} steps a tick`,
      );
    if (diffusions({ viscosity, edge }, h) > MOST_PARTS)
      throw new SceneError(
        path.replace(/type$/, "kinematicViscosity"),
        viscosity,
        `at most ${(MOST_PARTS * edge * edge) / (12 * h)} with these cells and steps`,
      );
    const corner = [0, 1, 2].map((r) => {
      let [low, high] = [Infinity, -Infinity];
      for (let k = r; k < template.positions.length; k += 3) {
        low = Math.min(low, template.positions[k]!);
        high = Math.max(high, template.positions[k]!);
      }
      return 0.5 * (low + high - cells[r]! * edge);
    });
    return { corner: Float64Array.from(corner), spacing: Float64Array.of(template.meanEdge) };
  },
  open: ({ corner, spacing }, spec, body) =>
    new Tracers(corner as Float64Array, (spacing as Float64Array)[0]!, spec as Spec, body),
};

class Tracers implements Method {
  private readonly corner: Float64Array;
  private readonly spec: Spec;
  private readonly body: MethodBody;
  /** A cell's mass over a tracer's. */
  private readonly ratio: number;
  private readonly f: Float64Array;
  private readonly u = new Float64Array(3);
  private grid: MacGrid | undefined;

  constructor(corner: Float64Array, spacing: number, spec: Spec, body: MethodBody) {
    this.corner = corner;
    this.spec = spec;
    this.body = body;
    this.ratio = (spec.edge / spacing) ** 3;
    this.f = new Float64Array(3 * body.count);
  }

  step(state: MethodState, { points, walls }: Outside): void {
    const { h, mass } = this.body;
    this.grid ??= this.open(state.more, walls);
    if (points.count > 0) {
      const { f } = this;
      f.fill(0);
      points.linearize(state.x, f);
      for (let k = 0; k < f.length; k += 3) {
        const m = this.ratio * mass[k / 3]!;
        if (m > 0 && (f[k] !== 0 || f[k + 1] !== 0 || f[k + 2] !== 0)) this.push(state.x, k, -h / m);
      }
    }
    this.blow(h);
    this.grid.step(h);
    this.drift(state, h);
  }

  velocityAt({ more }: MethodState, walls: readonly Wall[], place: Float64Array, out: Float64Array): boolean {
    const { cells, edge } = this.spec;
    const { corner } = this;
    for (let r = 0; r < 3; r++)
      if (!(place[r]! > corner[r]! && place[r]! < corner[r]! + cells[r]! * edge)) return false;
    this.grid ??= this.open(more, walls);
    this.grid.sample(place[0]! - corner[0]!, place[1]! - corner[1]!, place[2]! - corner[2]!, out);
    return true;
  }

  /** Elastic energy: a fluid has none. */
  energy(): number {
    return 0;
  }

  private open(memory: Float64Array, walls: readonly Wall[]): MacGrid {
    const { cells, edge, kinematicViscosity = 0, walls: at = "slip", lid = 0, advection } = this.spec;
    const [x, y, z] = this.corner as unknown as [number, number, number];
    const spec = { cells, edge, viscosity: kinematicViscosity, sticks: at === "no-slip", lid };
    return new MacGrid({ ...spec, maccormack: advection === "maccormack" }, memory, (i, j, k) =>
      walls.some((w) => w.distanceTo(x + (i + 0.5) * edge, y + (j + 0.5) * edge, z + (k + 0.5) * edge) < 0),
    );
  }

  /** Applies a grab's force on a tracer to the nearest face across each axis. */
  private push(x: Float64Array, k: number, scale: number): void {
    const place = [0, 1, 2].map((r) => x[k + r]! - this.corner[r]!) as [number, number, number];
    for (let axis = 0; axis < 3; axis++) this.grid!.addAt(axis, place, scale * this.f[k + axis]!);
  }

  /** Accelerates the fluid upward within the plume's radius of the middle of the bottom. */
  private blow(h: number): void {
    const { plume, cells, edge } = this.spec;
    if (!plume) return;
    const [x, z] = [0.5 * cells[0] * edge, 0.5 * cells[2] * edge];
    const square = plume.radius * plume.radius;
    this.grid!.eachFace(1, (values, at, place) => {
      const [dx, dy, dz] = [place[0]! - x, place[1]!, place[2]! - z];
      if (dx * dx + dy * dy + dz * dz < square) values[at]! += h * plume.acceleration;
    });
  }

  /** Moves tracers; they stay in the box, a tenth of a cell from its walls. */
  private drift({ x, v }: MethodState, h: number): void {
    const { u, corner, grid } = this;
    const { cells, edge } = this.spec;
    for (let k = 0; k < x.length; k += 3) {
      if (!(this.body.mass[k / 3]! > 0)) continue;
      const [px, py, pz] = [x[k]! - corner[0]!, x[k + 1]! - corner[1]!, x[k + 2]! - corner[2]!];
      grid!.sample(px, py, pz, u);
      grid!.sample(px + 0.5 * h * u[0]!, py + 0.5 * h * u[1]!, pz + 0.5 * h * u[2]!, u);
      for (let r = 0; r < 3; r++) {
        const low = corner[r]! + 0.1 * edge;
        const high = corner[r]! + (cells[r]! - 0.1) * edge;
        x[k + r] = Math.min(high, Math.max(low, x[k + r]! + h * u[r]!));
        v[k + r] = u[r]!;
      }
    }
  }
}
