/**
 * Particles, and blocks of constraints: four lanes each, every row of 16 bytes. Each kind of constraint has a KIND_ of
 * its own among all phases (program.ts); KIND_PAPER_ is the paper's form, C = E: the same blocks, no multipliers.
 */
import { F32, F64, I32, LANES } from "./sizes.ts";

export const PARTICLE_BYTES = 16;

/**
 * Fixed particles at the end of the arrays, for padded lanes: corners (1,0,0) (0,1,0) (0,0,1) (0,0,0) of a unit
 * tetrahedron.
 */
export const DUMMIES = 4;

/**
 * Tetrahedron: 4 x 4 addresses, D_m^-1 row by row. Isotropic and elastic, in the principal axes of K = sum w b b^T,
 * which every isotropic material allows (sim/constraints/tetrahedra.ts). Then K (00 11 22) and the compliance S
 * (normal, coupling) times the unit 1/tr K (smaller for soft elements), and that unit. Multipliers are multiples of it,
 * so that squares and cubes are near 1.
 */
export const KIND_TET = 1;
export const KIND_PAPER_TET = 32;
export const TET_DM = 4 * LANES;
export const TET_K = TET_DM + 9 * LANES;
export const TET_S = TET_K + 3 * LANES;
export const TET_UNIT = TET_S + 2 * LANES; // kg m^2
export const TET_BYTES = TET_UNIT + LANES;

/**
 * Orthotropic: D_m^-1, K (00 11 22 12 02 01) and S (00 11 22, then 12 02 01, then the shears 12 02 01) in the
 * material's axes.
 */
export const KIND_TET_ORTHO = 10;
export const KIND_PAPER_TET_ORTHO = 35;
export const TET_ORTHO_S = TET_BYTES;
export const TET_S_COUPLING = TET_ORTHO_S + 3 * LANES;
export const TET_S_SHEAR = TET_S_COUPLING + 3 * LANES;
export const TET_ORTHO_BYTES = TET_S_SHEAR + 3 * LANES;

/**
 * Plastic tetrahedron, isotropic or not: six plastic strains (shears gamma), which are state, then yield, creep and
 * max, and each lane's body number.
 */
export const KIND_TET_PLASTIC = 11;
export const KIND_PAPER_TET_PLASTIC = 36;
export const KIND_PLASTIC = 12; // flow phase
/**
 * Dashpots (constraints/dashpots.ts): blocks of plastic tetrahedra, of triangles and of stencils. The strain at the
 * start of the substep, which is state, replaces the plastic one or follows the other rows.
 */
export const KIND_TET_DASHPOT = 17;
export const KIND_TET_PAST = 18; // stores that strain
export const TET_PLASTIC_STRAIN = TET_ORTHO_BYTES;
export const TET_FLOW = TET_PLASTIC_STRAIN + 6 * LANES;
export const TET_BODY = TET_FLOW + 3 * LANES;
export const TET_PLASTIC_BYTES = TET_BODY + LANES;

/**
 * Values that a tetrahedron block keeps between iterations, in a separate array, which a substep of one iteration does
 * not touch: six multipliers, and F [L] (9) as applied so far, also of inverted lanes.
 */
export const TET_APPLIED = 6 * LANES;
export const TET_KEPT_BYTES = TET_APPLIED + 9 * LANES;

/**
 * Remembered stress of a tetrahedron block: the values it keeps between iterations, as they act in this tick
 * (warmStart.ts), and each lane's body number.
 */
export const WARM_START_BODY = 15 * LANES;
export const WARM_START_BYTES = WARM_START_BODY + LANES;

/**
 * Neo-Hookean tetrahedra: addresses, TET_DM and TET_K, then V mu, V lambda, the stretch below which the energy is
 * continued, each lane's body number. Nine multipliers in a separate array.
 */
export const KIND_NEO_HOOKEAN = 50;
export const KIND_PAPER_NEO_HOOKEAN = 37;
export const KIND_STABLE_NEO_HOOKEAN = 51;
export const KIND_PAPER_STABLE_NEO_HOOKEAN = 38;
export const HYPER_MU = TET_K + 6 * LANES;
export const HYPER_LAMBDA = HYPER_MU + LANES;
export const HYPER_CLAMP = HYPER_LAMBDA + LANES;
export const HYPER_BODY = HYPER_CLAMP + LANES;
export const HYPER_BYTES = HYPER_BODY + LANES;

export const HYPER_KEPT_BYTES = 144;

/**
 * Triangle: 3 x 4 addresses, D_m^-1 (2x2), compliance S00 S01 S11 S22 (already divided by the volume), K = sum w b b^T
 * (00 01 11). In a separate array three multipliers, and F [L] (3x2) as applied so far.
 */
export const KIND_TRIANGLE = 2;
export const KIND_PAPER_TRIANGLE = 33;
export const TRI_DM = 3 * LANES;
export const TRI_S = TRI_DM + 4 * LANES;
export const TRI_K = TRI_S + 4 * LANES;
export const TRI_BYTES = TRI_K + 3 * LANES;

export const KIND_TRIANGLE_DASHPOT = 13;
export const KIND_TRIANGLE_PAST = 14;
export const TRI_PAST = TRI_BYTES; // three strains
export const TRI_DASHPOT_BYTES = TRI_PAST + 3 * LANES;

export const TRI_APPLIED = 3 * LANES;
export const TRI_KEPT_BYTES = TRI_APPLIED + 6 * LANES;

/**
 * Bending stencil: 4 x 4 addresses, K0..K3, compliance, rest length of K x, sum w K^2. In a separate array three
 * multipliers.
 */
export const KIND_BEND = 3;
export const KIND_PAPER_BEND = 34;
export const BEND_K = 4 * LANES;
export const BEND_ALPHA = BEND_K + 4 * LANES;
export const BEND_REST = BEND_ALPHA + LANES;
export const BEND_W = BEND_REST + LANES;
export const BEND_BYTES = BEND_W + LANES;

export const KIND_BEND_DASHPOT = 15;
export const KIND_BEND_PAST = 16;
export const BEND_PAST = BEND_BYTES; // K x along unit vectors that turn with the stencil
export const BEND_DASHPOT_BYTES = BEND_PAST + 3 * LANES;

export const BEND_KEPT_BYTES = 48;

/**
 * Geometric constraints have the same rows after their addresses: rest value, compliance, k', the bound of the
 * multiplier, 1 if the multiplier is kept (compliance) or 0 (stiffness k'). The multiplier follows; those of distances
 * are in a separate array.
 */
export const GEOMETRIC_ALPHA = LANES;
export const GEOMETRIC_STIFFNESS = GEOMETRIC_ALPHA + LANES;
export const GEOMETRIC_LIMIT = GEOMETRIC_STIFFNESS + LANES;
export const GEOMETRIC_KEEP = GEOMETRIC_LIMIT + LANES;
export const GEOMETRIC_LAMBDA = GEOMETRIC_KEEP + LANES;

/**
 * Distance: 2 x 4 addresses, then rest length and the rows above; the unit vector from x1 to x0 at rest. The bound of
 * the multiplier is the upper one.
 */
export const KIND_DISTANCE = 20;
export const DISTANCE_REST = 2 * LANES;
export const DISTANCE_DIRECTION = DISTANCE_REST + 5 * LANES;
export const DISTANCE_BYTES = DISTANCE_DIRECTION + 3 * LANES;

export const DISTANCE_KEPT_BYTES = 16;

/**
 * Volume of a tetrahedron: 4 x 4 addresses, then six times the rest volume and the rows above. The bound of the
 * multiplier is the lower one.
 */
export const KIND_VOLUME = 21;
export const VOLUME_REST = 4 * LANES;
export const VOLUME_BYTES = VOLUME_REST + 6 * LANES;

/**
 * Volumes of a hexahedron: 8 x 4 addresses, six times the rest volume in its two triangulations, compliance of each,
 * two multipliers.
 */
export const KIND_HEXAHEDRON = 22;
export const HEXAHEDRON_REST = 8 * LANES;
export const HEXAHEDRON_ALPHA = HEXAHEDRON_REST + 2 * LANES;
export const HEXAHEDRON_LAMBDA = HEXAHEDRON_ALPHA + LANES;
export const HEXAHEDRON_BYTES = HEXAHEDRON_LAMBDA + 2 * LANES;

/** Volume that a body's whole surface encloses: one row a body. */
export const ENCLOSED_SURFACE = 0; // i32 address of the body's SURFACE row
export const ENCLOSED_GRADIENT = ENCLOSED_SURFACE + I32; // i32 address of one f32x4 per surface particle
export const ENCLOSED_ALPHA = ENCLOSED_GRADIENT + I32; // f32 m^3/Pa
export const ENCLOSED_STIFFNESS = ENCLOSED_ALPHA + F32; // f32 k'
export const ENCLOSED_LIMIT = ENCLOSED_STIFFNESS + F32; // f32 lower bound of the multiplier
export const ENCLOSED_KEEP = ENCLOSED_LIMIT + F32; // f32 1: the multiplier is kept, 0: not
export const ENCLOSED_REST = ENCLOSED_KEEP + F32; // f64 six times the target volume, m^3
export const ENCLOSED_LAMBDA = ENCLOSED_REST + F64; // f64
export const ENCLOSED_BYTES = ENCLOSED_LAMBDA + F64 + 24;
