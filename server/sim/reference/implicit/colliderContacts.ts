/**
 * Twin of kernel/assembly/implicit/colliderContacts.ts: colliders in an implicit step (modified conjugate gradients,
 * Baraff & Witkin 1998; friction's potential, Li et al. 2020).
 *   sticks   y_i = p
 *   slides   n . (y_i - p) = 0, and D = mu lambda_n sqrt(s^2 + e^2) of its slip s, with lambda_n of the last solve
 *   open     nothing
 * lambda = dE/dy_i is the force that holds a particle. After a solve, contacts that pull open, contacts that exceed
 * friction slide, and penetrated ones close.
 */
import type { Vector } from "../vector.ts";

/** A sticking contact begins to slide at this many times the friction limit. */
const BREAKS = 1.01;
/** Friction grows over this part of the predicted slip without force; steady sliding has full friction. */
const ROUND = 0.1;
const ROUNDED = 1.004987562112089;
/**
 * Beyond STEADY x the two-step free displacement, sliding is steady: only the directional friction stiffness is kept.
 */
const STEADY = 1;
/**
 * Relative excess of a solve's friction over its limit that triggers another solve; CHANGED_BEGUN applies to slips
 * above BEGUN times the negligible one.
 */
const CHANGED = 0.05;
const CHANGED_BEGUN = 0.5;
const BEGUN = 10;

/** A particle at a collider. */
export interface Place {
  particle: number;
  /** Unit normal, and contact point at the end of the step. */
  normal: Vector;
  place: Vector;
  /** Coefficients of friction. */
  mu: { static: number; dynamic: number };
  /** Largest negligible slip, m. */
  least: number;
  /** Displacement by external acceleration in two steps, m. */
  resting: number;
}

interface Touch extends Place {
  state: "open" | "sticks" | "slides";
  /** mu lambda_n, N */
  friction: number;
  slip: [number, number, number];
  /** Friction grows over this slip, m. */
  round: number;
  /** Values of the last linearization: friction over slip, N/m; 1/t^2 of a steady slip, else 0. */
  drag: number;
  steady: number;
}

export class ColliderContacts {
  private touches: Touch[] = [];
  private kept = new Map<number, number>();

  /**
   * @param free float64[3n], positions without any force: x + h v
   * @param target float64[3n], inertial target
   */
  find(places: readonly Place[], free: Float64Array, target: Float64Array): void {
    this.touches = places.map((place) => {
      const friction = this.kept.get(place.particle) ?? 0;
      const round = Math.max(place.least, ROUND * slipOf(place, free));
      const touch: Touch = { ...place, state: "open", friction, slip: [0, 0, 0], round, drag: 0, steady: 0 };
      return { ...touch, state: guess(touch, target) };
    });
  }

  /**
   * Keeps the friction of sliding contacts for the next step.
   * @param y float64[3n] positions at the end
   */
  keep(y: Float64Array): void {
    const slid = this.touches.filter((touch) => touch.state === "slides" && measureSlip(touch, y) > touch.least);
    this.kept = new Map(slid.map(({ particle, friction }) => [particle, friction]));
  }

  get any(): boolean {
    return this.touches.some(({ state }) => state !== "open");
  }

  /**
   * Projects contacts to their allowed positions.
   * @param y float64[3n] inout
   */
  put(y: Float64Array): void {
    for (const touch of this.touches) {
      if (touch.state === "sticks") y.set(touch.place, 3 * touch.particle);
      else if (touch.state === "slides") withdraw(touch, y, above(touch, y));
    }
  }

  /**
   * Removes the components of a direction that contacts forbid.
   * @param d float64[3n] inout
   */
  filter(d: Float64Array): void {
    for (const touch of this.touches) {
      if (touch.state === "sticks") d.fill(0, 3 * touch.particle, 3 * touch.particle + 3);
      else if (touch.state === "slides") withdraw(touch, d, across(touch, d));
    }
  }

  /** Friction energy, J. */
  energy(y: Float64Array): number {
    let sum = 0;
    for (const touch of this.sliding()) sum += touch.friction * rounded(touch, measureSlip(touch, y));
    return sum;
  }

  /** g += dD/dy; keeps the slip and its stiffness for products. */
  linearize(y: Float64Array, g: Float64Array): void {
    for (const touch of this.sliding()) {
      const slip = measureSlip(touch, y);
      const t = rounded(touch, slip);
      touch.drag = touch.friction / t;
      touch.steady = slip > STEADY * touch.resting ? 1 / (t * t) : 0;
      for (let r = 0; r < 3; r++) g[3 * touch.particle + r]! += touch.drag * touch.slip[r]!;
    }
  }

  /** q += H p of the last linearization. */
  product(p: Float64Array, q: Float64Array): void {
    for (const { particle, slip, drag, steady } of this.sliding()) {
      let dot = 0;
      for (let r = 0; r < 3; r++) dot += slip[r]! * p[3 * particle + r]!;
      const along = dot * steady;
      for (let r = 0; r < 3; r++) q[3 * particle + r]! += drag * (p[3 * particle + r]! - along * slip[r]!);
    }
  }

  /**
   * Updates contact states after a solve.
   * @param y end of the solve
   * @param residual negative gradient there
   * @returns true: solve again
   */
  review(y: Float64Array, residual: Float64Array): boolean {
    let changed = false;
    for (const touch of this.touches) {
      const push = -across(touch, residual);
      if (touch.state === "open") {
        if (!(above(touch, y) < 0)) continue;
        touch.state = "slides";
        changed = true;
      } else if (push < 0) {
        touch.state = "open";
        changed = true;
      } else if (touch.state === "sticks") changed = breaks(touch, residual, push) || changed;
      else changed = rubs(touch, y, push) || changed;
    }
    return changed;
  }

  private sliding(): Touch[] {
    return this.touches.filter(({ state }) => state === "slides");
  }
}

function guess(touch: Touch, target: Float64Array): Touch["state"] {
  const lift = above(touch, target);
  if (!(lift < 0)) return "open";
  if (touch.friction > 0) return "slides";
  return measureSlip(touch, target) < touch.mu.static * -lift ? "sticks" : "slides";
}

/** n . (y_i - p) */
function above({ particle: i, normal: n, place: p }: Touch, y: Float64Array): number {
  return n[0] * (y[3 * i]! - p[0]) + n[1] * (y[3 * i + 1]! - p[1]) + n[2] * (y[3 * i + 2]! - p[2]);
}

/** n . d_i */
const across = ({ particle: i, normal: n }: Touch, d: Float64Array): number =>
  n[0] * d[3 * i]! + n[1] * d[3 * i + 1]! + n[2] * d[3 * i + 2]!;

function withdraw({ particle, normal }: Touch, d: Float64Array, s: number): void {
  for (let r = 0; r < 3; r++) d[3 * particle + r]! -= s * normal[r]!;
}

/**
 * Stores the displacement of y from the place along the surface.
 * @returns its length, m
 */
function measureSlip(touch: Touch, y: Float64Array): number {
  const lift = above(touch, y);
  let sum = 0;
  for (let r = 0; r < 3; r++) {
    const slip = y[3 * touch.particle + r]! - touch.place[r]! - lift * touch.normal[r]!;
    touch.slip[r] = slip;
    sum += slip * slip;
  }
  return Math.sqrt(sum);
}

const rounded = ({ round }: Touch, slip: number): number => Math.sqrt(slip * slip + round * round);

/** Distance of y from the place along the surface, m. */
function slipOf({ particle, normal, place }: Place, y: Float64Array): number {
  let lift = 0;
  let sum = 0;
  for (let r = 0; r < 3; r++) {
    const d = y[3 * particle + r]! - place[r]!;
    lift += normal[r]! * d;
    sum += d * d;
  }
  return Math.sqrt(Math.max(0, sum - lift * lift));
}

/**
 * Checks whether friction holds a sticking contact; if not, it begins to slide.
 * @param push lambda_n, N
 */
function breaks(touch: Touch, residual: Float64Array, push: number): boolean {
  let size = 0;
  for (let r = 0; r < 3; r++) {
    const along = -residual[3 * touch.particle + r]! - push * touch.normal[r]!;
    size += along * along;
  }
  if (Math.sqrt(size) <= BREAKS * touch.mu.static * push) return false;
  touch.friction = ROUNDED * touch.mu.dynamic * push;
  touch.state = "slides";
  return true;
}

/**
 * Stores the friction for the next solve.
 * @returns true if this solve had no friction, or exceeded its limit
 */
function rubs(touch: Touch, y: Float64Array, push: number): boolean {
  const before = touch.friction;
  touch.friction = ROUNDED * touch.mu.dynamic * push;
  if (before === 0) return touch.friction > 0;
  if (touch.steady !== 0) return false;
  const resists = touch.drag * rounded(touch, measureSlip(touch, y));
  return resists > (1 + (before > BEGUN * touch.least * touch.drag ? CHANGED_BEGUN : CHANGED)) * before;
}
