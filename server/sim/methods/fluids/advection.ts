/**
 * Advection of a velocity by itself on a staggered grid. Semi-Lagrangian (Stam 1999): the value at the place where a
 * face's fluid was h ago, found by a midpoint step, linear between faces. MacCormack (Selle et al. 2008) adds half of
 * the loss of a step back and forth, without a limiter; it has order 2, and interpolates cubically.
 */
import { cubic, type Field, linear } from "./gridInterpolation.ts";

/** Grid with the velocity to advect. */
export interface VelocityGrid {
  spec: { edge: number; maccormack: boolean };
  fields: readonly Field[];
  fillRim(field: Field, axis: number): void;
  sample(x: number, y: number, z: number, out: Float64Array): void;
  eachFace(axis: number, visit: (values: Float64Array, at: number, place: Float64Array) => void): void;
}

export class Advection {
  private readonly grid: VelocityGrid;
  private readonly spare: Float64Array[];
  private readonly back: Float64Array[];
  private readonly at = new Float64Array(3);
  private readonly velocity = new Float64Array(3);

  constructor(grid: VelocityGrid) {
    this.grid = grid;
    const copies = (): Float64Array[] => grid.fields.map(({ values }) => new Float64Array(values.length));
    [this.spare, this.back] = [copies(), copies()];
  }

  /** Advects the velocity by a step. Rims must be filled. */
  step(h: number): void {
    const { grid, spare, back } = this;
    const { fields } = grid;
    fields.forEach((_, axis) => this.carry(axis, h, spare[axis]!));
    if (grid.spec.maccormack) {
      // a step back and forth changes values by twice the error
      const before = fields.map(({ values }) => values.slice());
      const gone = fields.map((field, axis) => ({ ...field, values: spare[axis]! }));
      gone.forEach((field, axis) => grid.fillRim(field, axis));
      gone.forEach((field, axis) => this.carry(axis, -h, back[axis]!, field));
      fields.forEach((_, axis) => {
        const [there, again, start] = [spare[axis]!, back[axis]!, before[axis]!];
        for (let k = 0; k < there.length; k++) there[k]! += 0.5 * (start[k]! - again[k]!);
      });
    }
    fields.forEach(({ values }, axis) => values.set(spare[axis]!));
  }

  /**
   * Carries a component from its place h ago.
   * @param of carried field; default: the velocity itself
   */
  private carry(axis: number, h: number, out: Float64Array, of = this.grid.fields[axis]!): void {
    const { at, velocity, grid } = this;
    const { maccormack, edge } = grid.spec;
    const scale = 1 / edge;
    grid.eachFace(axis, (_values, index, place) => {
      grid.sample(place[0]!, place[1]!, place[2]!, velocity);
      for (let r = 0; r < 3; r++) at[r] = place[r]! - 0.5 * h * velocity[r]!;
      grid.sample(at[0]!, at[1]!, at[2]!, velocity);
      const x = (place[0]! - h * velocity[0]!) * scale;
      const y = (place[1]! - h * velocity[1]!) * scale;
      const z = (place[2]! - h * velocity[2]!) * scale;
      out[index] = maccormack ? cubic(of, axis, x, y, z) : linear(of, axis, x, y, z);
    });
  }
}
