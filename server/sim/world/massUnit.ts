/**
 * Chooses the unit of mass of a room's memory.
 * The kernel multiplies pairs of numbers of the size K = sum_i w_i |b_i|^2 (inverse mass over the square of an
 * element's height, 1/(kg m^2)), which grows with 1/(density size^5). Elements of 0.05 mm of water give 1e19, whose
 * square is above float32's range; the square for elements of 5 km is below it. If any element comes near those ends,
 * masses use another unit: a power of two of a kilogram that brings K back around 1. Values with kg in their dimension
 * are converted when they enter memory, so no step costs more. Since powers of two are exact, motions have the same
 * bits in every unit. Rooms of ordinary size keep the kilogram.
 * Tried: a factor per element in its rows: four multiplications and a load in every element of every iteration.
 */
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import type { BodyTemplate } from "../body/template.ts";

/**
 * Bound on log2 K, either way: squared, times stretches of 30 to the fourth power, it stays within float32's 2^-126 ..
 * 2^128.
 */
const LIMIT = 50;

/**
 * @returns kg, a power of two; 1 unless elements are tiny or huge
 * @throws SceneError if one unit cannot hold the smallest and the largest elements of the scene
 */
export function chooseMassUnit(bodies: readonly BodyTemplate[]): number {
  let low = Infinity;
  let high = -Infinity;
  let largest = 0;
  let smallest = 0;
  bodies.forEach((body, b) => {
    const [from, to] = exponents(body);
    if (from < low) [low, largest] = [from, b];
    if (to > high) [high, smallest] = [to, b];
  });
  if (!(low < -LIMIT || high > LIMIT)) return 1;
  const middle = Math.round((low + high) / 2);
  if (high - middle > LIMIT) {
    const factor = (2 * LIMIT * Math.log10(2)).toFixed(0);
    throw new SceneError(
      `/bodies/${smallest}`,
      `${bodies[smallest]!.name}, whose smallest element has 10^${((high - low) * Math.log10(2)).toFixed(0)} times less density size^5 than the largest of ${bodies[largest]!.name}`,
      `within a factor of 10^${factor}, which float32 can hold`,
    );
  }
  return 2 ** -middle;
}

/**
 * Smallest and largest exponent of K over a body's elements. Volume over the largest side is a lower bound for heights.
 */
function exponents(body: BodyTemplate): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  const solid = body.tets.length > 0;
  const corners = solid ? 4 : 3;
  const list = solid ? body.tets : body.triangles;
  const x = body.positions;
  const edge = (p: number, q: number): number[] => [0, 1, 2].map((r) => x[3 * p + r]! - x[3 * q + r]!);
  for (let e = 0; e < list.length; e += corners) {
    const at = Array.from(list.subarray(e, e + corners));
    const last = at[corners - 1]!;
    const w = at.reduce((sum, p) => sum + (body.pinned[p] || !body.mass[p] ? 0 : 1 / body.mass[p]!), 0);
    const [u, v] = [edge(at[0]!, last), edge(at[1]!, last)] as [number[], number[]];
    const n = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
    let longest2 = 0;
    for (const p of at) for (const q of at) longest2 = Math.max(longest2, square(edge(p, q)));
    const b = solid
      ? longest2 / Math.abs(edge(at[2]!, last).reduce((sum, c, r) => sum + c * n[r]!, 0))
      : Math.sqrt(longest2 / square(n)); // 1/height
    const exponent = Math.log2(w * b * b);
    if (!Number.isFinite(exponent)) continue; // all of its particles are pinned
    low = Math.min(low, exponent);
    high = Math.max(high, exponent);
  }
  return [low, high];
}

function square(a: readonly number[]): number {
  return a[0]! * a[0]! + a[1]! * a[1]! + a[2]! * a[2]!;
}

/** Returns the scene with masses in `unit` kg, except `interaction` (applyGrabs.ts converts grabs and impulses). */
export function inMassUnit(scene: Scene, unit: number): Scene {
  if (unit === 1) return scene;
  const { bodies, attachments } = scene;
  return {
    ...scene,
    bodies: bodies.map((body) => bodyInMassUnit(body, unit)),
    ...(attachments && {
      attachments: attachments.map((a) => ({
        ...a,
        ...(a.compliance !== undefined && { compliance: a.compliance * unit }),
        ...(a.maxForce !== undefined && { maxForce: a.maxForce / unit }),
      })),
    }),
  };
}

/** Fields in Pa, N m or kg/m^3 are divided; compliances, in m/N or m^3/Pa, are multiplied. */
const DIVIDED = [
  "density",
  "youngsModulus",
  "youngsModuli",
  "shearModuli",
  "kWeft",
  "kWarp",
  "kShear",
  "bendingStiffness",
];

function bodyInMassUnit(body: Body, unit: number): Body {
  const material: Record<string, unknown> = { ...body.material };
  for (const field of DIVIDED) {
    const value = material[field];
    if (typeof value === "number") material[field] = value / unit;
    else if (Array.isArray(value)) material[field] = value.map((v: number) => v / unit);
  }
  for (const field of ["distance", "volume"]) {
    const way = material[field] as { compliance?: number } | undefined;
    if (way?.compliance !== undefined) material[field] = { ...way, compliance: way.compliance * unit };
  }
  const loads = body.loads?.map((load) => ({
    ...load,
    force: load.force.map((f) => f / unit) as [number, number, number],
  }));
  return { ...body, material, ...(loads && { loads }) } as unknown as Body;
}
