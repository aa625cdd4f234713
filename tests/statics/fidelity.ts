/**
 * Error of a settled body: the room's own kernel settles it, and its shape is compared with static equilibrium on the
 * same mesh (equilibrium.ts). The body starts undeformed. Damping is critical for its slowest mode, which changes how
 * long it takes, not where it ends.
 */
import { createWorld } from "../../server/sim/world/createWorld.ts";
import type { BodyTemplate } from "../../server/sim/body/template.ts";
import { laboratory, type Laboratory } from "../physics/laboratory.ts";
import { sceneOf, type LoadedBody } from "./cases.ts";
import { staticEquilibrium, type StaticSolution } from "./equilibrium.ts";
import { solidMesh, weights } from "./solidMesh.ts";

export interface Reference extends StaticSolution {
  rest: Float64Array;
  body: BodyTemplate;
  /** m: displacement of the particle that moves farthest */
  displacement: number;
  /**
   * rad/s: frequency of a cantilever with this sag u under its weight, omega^2 = 1.5 g/u (exact for a slender beam:
   * 12.36/8)
   */
  omega: number;
  tetrahedra: number;
}

export interface Fidelity {
  /** Largest distance of a particle from equilibrium, % of the largest displacement. Infinite if the body blew up. */
  error: number;
  /** Greatest particle speed in the last half second, m/s. */
  fastest: number;
  /** False if the body still moved at the limit. */
  settled: boolean;
  /** Computing time per simulated second, ms: the least of all quarter periods. */
  wallMs: number;
  /** float64[3N] m after settling */
  x: Float64Array;
}

/**
 * A body has settled if no particle moves by more than this share of the largest displacement in a period. Warm-start
 * stress (warmStart.ts) may still creep.
 */
const SETTLED = 2e-4;
/** Limit of a run, in periods of the slowest mode. A body that still moves is then measured as it is. */
const MOST_SWINGS = 12;

const references = new Map<string, Promise<Reference>>();

/** Static equilibrium of a case, cached for the process. */
export function referenceOf(loaded: LoadedBody): Promise<Reference> {
  const { mesh, material, transform, pins, loads } = loaded.body;
  const key = JSON.stringify([mesh, material, transform, pins, loads, loaded.gravity]);
  let reference = references.get(key);
  if (!reference) references.set(key, (reference = solve(loaded)));
  return reference;
}

async function solve(loaded: LoadedBody): Promise<Reference> {
  // the simulation may lack the material's model: only mesh, pins and loads are taken from this world
  const { density } = loaded.body.material;
  const plain = { ...loaded.body, material: { ...loaded.body.material, model: "stvk" as const } };
  const { bodies } = await createWorld(
    { version: 1, title: loaded.name, gravity: loaded.gravity, bodies: [plain] },
    { baseDir: loaded.baseDir },
  );
  const body = bodies[0]!;
  const { positions: rest, tets, pinned, force: loads } = body;
  const mesh = solidMesh(rest, tets);
  const force = weights(mesh, density, loaded.gravity).map((w, i) => w + loads[i]!);
  const { model = "stvk", youngsModulus, poissonsRatio } = loaded.body.material;
  const solution = staticEquilibrium({
    rest,
    tets,
    fixed: pinned,
    force,
    material: { model, youngsModulus, poissonsRatio },
  });
  const displacement = largestDistance(solution.x, rest);
  const mass = density * mesh.volume.reduce((a, b) => a + b, 0);
  const acceleration =
    Math.hypot(...[0, 1, 2].map((r) => force.reduce((sum, f, i) => sum + (i % 3 === r ? f : 0), 0))) / mass;
  return {
    ...solution,
    rest,
    body,
    displacement,
    omega: Math.sqrt((1.5 * acceleration) / displacement),
    tetrahedra: tets.length / 4,
  };
}

function largestDistance(a: Float64Array, b: Float64Array): number {
  let most = 0;
  for (let i = 0; i < a.length; i += 3)
    most = Math.max(most, (a[i]! - b[i]!) ** 2 + (a[i + 1]! - b[i + 1]!) ** 2 + (a[i + 2]! - b[i + 2]!) ** 2);
  return Math.sqrt(most);
}

/** Speed of the fastest particle at the ends of these ticks, m/s. */
function fastestIn(lab: Laboratory, ticks: number): number {
  const still = new Float64Array(3 * lab.created.bodies[0]!.particleCount);
  let most = 0;
  for (let t = 0; t < ticks; t++) {
    lab.run(1);
    most = Math.max(most, largestDistance(lab.velocities(), still));
  }
  return most;
}

/**
 * @param rest use the room's calming and sleep, as members see them; the run then ends when the room sleeps
 * @throws Error if the case cannot be built or has no equilibrium
 */
export async function fidelity(
  loaded: LoadedBody,
  substepsPerSecond: number,
  iterations: number,
  rest = false,
): Promise<Fidelity> {
  const reference = await referenceOf(loaded);
  const { omega, displacement } = reference;
  const lab = await laboratory(sceneOf(loaded, substepsPerSecond, iterations, 2 * omega), loaded.baseDir);
  const { tickHz } = lab.created.layout;
  lab.world.mayRest = rest;
  const swing = (2 * Math.PI) / omega;
  const quarter = Math.max(4, Math.round((swing / 4) * tickHz));
  const before = [lab.positions()];
  let ticks = 0;
  let settled = false;
  let wallMs = Infinity;
  let blownUp = false;
  while (!settled && !blownUp && ticks < MOST_SWINGS * swing * tickHz) {
    const started = performance.now();
    blownUp = lab.run(quarter).length > 0;
    // a sleeping body takes no time
    if (!lab.world.resting || !rest) wallMs = Math.min(wallMs, (performance.now() - started) / (quarter / tickHz));
    ticks += quarter;
    const now = lab.positions();
    settled = rest
      ? lab.world.resting
      : before.length === 4 && largestDistance(now, before[0]!) < SETTLED * displacement;
    before.push(now);
    if (before.length > 4) before.shift();
  }
  const fastest = blownUp ? Infinity : fastestIn(lab, Math.ceil(tickHz / 2));
  const x = lab.positions();
  const error = blownUp ? Infinity : (100 * largestDistance(x, reference.x)) / displacement;
  return { error, fastest, settled, wallMs, x };
}
