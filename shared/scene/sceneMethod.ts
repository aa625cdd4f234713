/**
 * Checks the restrictions of bodies with a method (server/sim/methods): each check throws a SceneError with the field's
 * path, its value and the limit.
 */
import type { Body, Collider, PointsBody, Scene } from "./scene.ts";
import type { Method } from "./sceneMethodTypes.ts";
import { SceneError } from "./sceneError.ts";
import { passThrough, type Elastic } from "./sceneImplicit.ts";

/**
 * Bodies with a surface have contact with everything, and so have smoothed particles, other points excepted. Other
 * points have contact with fixed shapes, and must pass through everything else.
 */
export function checkMethods({
  bodies,
  colliders = [],
  attachments = [],
}: Pick<Scene, "bodies" | "colliders" | "attachments">): void {
  bodies.forEach((body, i) => {
    if (body.kind === "ball" || !body.method) return;
    const path = `/bodies/${i}`;
    for (const field of ["solver", "sweep", "start", "spawnable"] as const)
      if (body[field]) throw new SceneError(`${path}/${field}`, body[field], "absent where a method is given");
    checkKind(body, body.method, path);
    if (body.kind === "points") checkPoints(body, path);
    else return checkMaterial(body, body.method, path);
    checkTouch(body, bodies, colliders, path);
    attachments.forEach(({ from, to }, n) => {
      if ("body" in to && (from.body === body.name || to.body === body.name))
        throw new SceneError(
          `/attachments/${n}/to`,
          to,
          `a place in the world or a collider: ${body.name} has a method`,
        );
    });
  });
}

/** Methods for points only. */
const OF_POINTS: readonly Method["type"][] = [
  "lennard-jones",
  "point-based",
  "position-based-fluid",
  "smoothed-particles",
  "eulerian-fluid",
];

function checkKind({ kind }: Body, { type }: Method, path: string): void {
  if ((kind === "points") === OF_POINTS.includes(type)) return;
  throw new SceneError(
    `${path}/method/type`,
    type,
    kind === "points"
      ? `one of ${OF_POINTS.join(", ")} for a body of kind points`
      : "another one: this method is for bodies of kind points",
  );
}

function checkPoints({ method, material }: PointsBody, path: string): void {
  for (const field of ["youngsModulus", "poissonsRatio"] as const)
    if ((material[field] !== undefined) !== (method.type === "point-based"))
      throw new SceneError(
        `${path}/material/${field}`,
        material[field],
        method.type === "point-based"
          ? "given where the method is point-based"
          : "absent unless the method is point-based",
      );
  if (method.type !== "lennard-jones" || !method.exponents) return;
  const [m, n] = method.exponents;
  if (m >= n) throw new SceneError(`${path}/method/exponents/0`, m, `< ${n}, the other exponent: repulsion is steeper`);
}

function checkTouch(body: PointsBody, bodies: readonly Body[], colliders: readonly Collider[], path: string): void {
  const floats = ({ method }: { method?: Method }): boolean => method?.type === "smoothed-particles";
  const others = floats(body)
    ? bodies.filter((b) => b.kind === "points" && !floats(b))
    : [...bodies.filter((b) => b !== body), ...colliders.filter((c) => c.type === "mesh" || c.motion)];
  const met = others.find((other) => !passThrough(body, other));
  if (met)
    throw new SceneError(
      `${path}/contact/ignore`,
      body.contact?.ignore,
      floats(body)
        ? `the names of points of other methods, including ${met.name}`
        : `the names of all other bodies, and of colliders that move or are meshes, including ${met.name ?? "one without a name"}: points have contact only with fixed shapes`,
    );
}

function checkMaterial({ kind, material: m, mesh }: Elastic, method: Method, path: string): void {
  if (method.type === "mass-spring") {
    const compliance = m.model === "pbd" && m.distance && "compliance" in m.distance ? m.distance.compliance : 0;
    if (!(compliance! > 0))
      throw new SceneError(
        `${path}/material/distance/compliance`,
        compliance,
        "> 0, of model pbd, where the method is mass-spring: springs are 1/compliance stiff",
      );
    if (m.model === "pbd" && (m.volume || m.distance!.unilateral))
      throw new SceneError(
        `${path}/material/${m.volume ? "volume" : "distance/unilateral"}`,
        m.volume ?? true,
        "absent where the method is mass-spring",
      );
    return;
  }
  const sheet = method.type === "finite-differences";
  if (sheet && mesh.type !== "grid")
    throw new SceneError(`${path}/mesh/type`, mesh.type, "grid where the method is finite-differences");
  if (sheet && kind !== "cloth")
    throw new SceneError(`${path}/kind`, kind, "cloth where the method is finite-differences");
  if (!sheet && kind !== "soft")
    throw new SceneError(
      `${path}/method/type`,
      method.type,
      "mass-spring or finite-differences for a cloth: the others need tetrahedra",
    );
  if (sheet && m.model === "orthotropic") return;
  if (m.model !== undefined && m.model !== "stvk")
    throw new SceneError(
      `${path}/material/model`,
      m.model,
      `absent where the method is ${method.type}: it uses Hooke's law`,
    );
  if ("plasticity" in m && m.plasticity)
    throw new SceneError(`${path}/material/plasticity`, m.plasticity, "absent where a method is given");
}
