/**
 * Rules of a scene that JSON Schema cannot express: fields that depend on each other, and the ranges in which a
 * material is stable. Each check throws a SceneError with the path of the field, its value and the limit.
 */
import type { BallBody, Body, Collider, Scene, SoftBody, Sweep } from "./scene.ts";
import {
  type ClothMaterial,
  type OrthotropicMaterial,
  type Plasticity,
  type SoftMaterial,
  MESH_OF_MODEL,
} from "./sceneMaterials.ts";
import { SceneError } from "./sceneError.ts";
import { isTimeScale, TIME_SCALE_TEXT } from "../members/tuningLimits.ts";
import { COORDINATE_LIMIT } from "../snapshot/format.ts";

/** Relative tolerance of the orthotropic symmetry: allows for the scene file's rounded decimals. */
const SYMMETRY_TOLERANCE = 1e-3;

/** Models whose constraints come from an elastic energy, which C = E needs. */
const ENERGY_MODELS = ["stvk", "neo-hookean", "stable-neo-hookean", "orthotropic"];

/**
 * Smallest determinant of an orthotropic solid's scaled compliance. At 0, positive definiteness ends: one deformation
 * costs no energy and another infinitely much. This is the value of an isotropic solid with nu = 0.4999, (1 + nu)^2 (1
 * - 2 nu), which float32 still resolves.
 */
const LEAST_DETERMINANT = 1.4999 ** 2 * 0.0002;

/** Limits for colliders whose two end points coincide. */
const COINCIDENT: Record<string, string> = {
  capsule: "another point than a; use a sphere for a capsule without length",
  cylinder: "another point than a: a cylinder has a length",
  funnel: "another point than a: a funnel has a length",
};

/** m; default of createWorld. */
const DEFAULT_WORLD_RADIUS = 100;

/** The grid of positions on the wire must cover the whole world. */
export function checkQuantum({
  quantum,
  worldRadius = DEFAULT_WORLD_RADIUS,
}: Pick<Scene, "quantum" | "worldRadius">): void {
  const least = worldRadius / COORDINATE_LIMIT;
  if (quantum !== undefined && quantum < least)
    throw new SceneError(
      "/quantum",
      quantum,
      `>= ${least}, or worldRadius (${worldRadius} m) at most ${COORDINATE_LIMIT} times quantum`,
    );
}

/** Bodies that one pointer may grab at once need a rest position in the scene. */
export function checkTogether({ bodies, interaction }: Pick<Scene, "bodies" | "interaction">): void {
  interaction?.together?.forEach((name, n) => {
    const path = `/interaction/together/${n}`;
    const body = bodies.find((b) => b.name === name);
    if (!body) throw new SceneError(path, name, `the name of a body: ${bodies.map((b) => b.name).join(", ")}`);
    if (body.spawnable) throw new SceneError(path, name, "a body that is not spawnable (spawnable is false)");
    if (body.start) throw new SceneError(path, name, "a body without start: it begins undeformed");
  });
}

/** Time is paused, or runs at a pace at which ticks still arrive. */
export function checkTimeScale({ timeScale = 1 }: Pick<Scene, "timeScale">): void {
  if (!isTimeScale(timeScale)) throw new SceneError("/timeScale", timeScale, TIME_SCALE_TEXT);
}

/** Checks a soft body according to its material's model. */
export function checkSoft(body: SoftBody, path: string): void {
  const m = body.material;
  const at = `${path}/material`;
  switch (m.model) {
    case "orthotropic":
      checkOrthotropic(m, at);
      break;
    case "pbd":
      if (!m.distance && !m.volume)
        throw new SceneError(
          `${at}/distance`,
          undefined,
          "given, or volume: a body of model pbd needs at least one of them",
        );
      if (m.distance) checkStiffness(m.distance, `${at}/distance`);
      if (m.volume) {
        checkStiffness(m.volume, `${at}/volume`);
        if (m.volume.pressure !== undefined && m.volume.of !== "body")
          throw new SceneError(`${at}/volume/pressure`, m.volume.pressure, "absent where of is not body");
      }
      break;
    case "shape-matching":
      if (m.mode === "rigid" && m.linearity !== undefined)
        throw new SceneError(`${at}/linearity`, m.linearity, "absent where mode is rigid");
      if (m.mode === "rigid" && m.stiffness !== undefined && m.stiffness !== 1)
        throw new SceneError(`${at}/stiffness`, m.stiffness, "1 or absent where mode is rigid");
      break;
    default:
      break;
  }
  const mesh = MESH_OF_MODEL[m.model ?? "stvk"];
  if (mesh && body.mesh.type !== mesh)
    throw new SceneError(`${path}/mesh/type`, body.mesh.type, `${mesh} for model ${m.model}`);
  checkPlasticity(m, at);
  checkViscosity(body, path);
  if (body.solver === "paper" && !ENERGY_MODELS.includes(m.model ?? "stvk"))
    throw new SceneError(
      `${path}/solver`,
      body.solver,
      `compliant for model ${m.model}: paper needs an elastic energy (${ENERGY_MODELS.join(", ")})`,
    );
  checkSweep(body.sweep, `${path}/sweep`);
}

/** Checks dashpots beside elements: only compliant constraints and implicit steps support them. */
function checkViscosity(body: { material: object; solver?: string; method?: object }, path: string): void {
  const { retardationTime: tau } = body.material as { retardationTime?: number };
  if (!tau) return;
  if (body.solver === "paper")
    throw new SceneError(
      `${path}/material/retardationTime`,
      tau,
      "0 or absent where solver is paper: C = E has no rate",
    );
  if (body.method)
    throw new SceneError(
      `${path}/material/retardationTime`,
      tau,
      "0 or absent where a method is given: finite elements have stiffnessDamping instead",
    );
}

/** Checks a cloth according to its material's model. */
export function checkCloth(
  body: { material: ClothMaterial; solver?: string; sweep?: Sweep; method?: object },
  path: string,
): void {
  const m = body.material;
  const at = `${path}/material`;
  checkViscosity(body, path);
  if (m.model === "pbd") {
    const modulus = (
      ["youngsModulus", "poissonsRatio", "kWeft", "kWarp", "kShear", "nuWeft", "nuWarp", "retardationTime"] as const
    ).find((field) => m[field] !== undefined);
    if (modulus)
      throw new SceneError(`${at}/${modulus}`, m[modulus], "absent where model is pbd: distance gives its stiffness");
    if (!m.distance)
      throw new SceneError(
        `${at}/distance`,
        undefined,
        "given: a cloth of model pbd preserves the length of its edges",
      );
    checkStiffness(m.distance, `${at}/distance`);
    if (m.volume) checkStiffness(m.volume, `${at}/volume`);
    if (body.solver === "paper")
      throw new SceneError(
        `${path}/solver`,
        body.solver,
        "compliant for model pbd: paper needs an elastic energy (stvk, orthotropic)",
      );
  } else {
    if (m.distance) throw new SceneError(`${at}/distance`, m.distance, "absent where model is not pbd");
    if (m.volume) throw new SceneError(`${at}/volume`, m.volume, "absent where model is not pbd");
    checkSheet(m, at);
  }
  checkSweep(body.sweep, `${path}/sweep`);
}

/** A ball needs a mesh of type ball. */
export function checkBall(body: BallBody, path: string): void {
  if (body.mesh.type !== "ball")
    throw new SceneError(`${path}/mesh/type`, body.mesh.type, "ball for a body of kind ball");
}

/**
 * Limit of points in a body's lattice: the largest count that a tick can step. It is checked before memory is
 * allocated.
 */
const MOST_POINTS = 2 ** 16;

/** Points need a lattice, and only points may have one. */
export function checkLattice({ kind, mesh }: Body, path: string): void {
  if ((kind === "points") !== (mesh.type === "lattice"))
    throw new SceneError(
      `${path}/mesh/type`,
      mesh.type,
      kind === "points" ? "lattice for a body of kind points" : "another one: a lattice is for a body of kind points",
    );
  if (mesh.type !== "lattice") return;
  const count = mesh.cells.reduce((n, c) => n * c, mesh.arrangement === "fcc" ? 4 : 1);
  if (count > MOST_POINTS)
    throw new SceneError(`${path}/mesh/cells`, mesh.cells, `at most ${MOST_POINTS} points, but these give ${count}`);
  if (mesh.arrangement === "hexagonal" && mesh.cells[2] !== 1)
    throw new SceneError(`${path}/mesh/cells/2`, mesh.cells[2], "1 where arrangement is hexagonal: it is one layer");
}

/** Default friction of bodies and colliders. */
export const DEFAULT_FRICTION = 0.5;

/** Checks contact fields: order of the friction coefficients, and no self-contact for a rigid body. */
export function checkContact(body: Body, path: string): void {
  const { contact } = body;
  const at = `${path}/contact`;
  if (!contact) return;
  checkStatic(contact.staticFriction, body.material.friction, at);
  if (
    body.kind === "soft" &&
    body.material.model === "shape-matching" &&
    body.material.mode === "rigid" &&
    body.contact?.self
  )
    throw new SceneError(`${at}/self`, true, "false or absent for a rigid body: it cannot touch itself");
  if (contact.ignore?.includes(body.name))
    throw new SceneError(
      `${at}/ignore/${contact.ignore.indexOf(body.name)}`,
      body.name,
      "the name of another body: for the body itself use self: false",
    );
}

function checkStatic(still: number | undefined, moving: number = DEFAULT_FRICTION, path: string): void {
  if (still !== undefined && still < moving)
    throw new SceneError(`${path}/staticFriction`, still, `>= ${moving}, the dynamic coefficient (friction)`);
}

/** Checks the names in `ignore`: a misspelled name would allow contact. */
export function checkIgnored({ bodies, colliders = [] }: Pick<Scene, "bodies" | "colliders">): void {
  const names = bodies.map((b) => b.name);
  const others = colliders.flatMap((c) => (c.name === undefined ? [] : [c.name]));
  const check = (ignore: string[] | undefined, known: string[], whose: string, path: string): void =>
    ignore?.forEach((name, i) => {
      if (!known.includes(name))
        throw new SceneError(`${path}/ignore/${i}`, name, `the name of a ${whose}: ${known.join(", ")}`);
    });
  bodies.forEach((b, i) =>
    check(b.contact?.ignore, [...names, ...others], "body or a collider", `/bodies/${i}/contact`),
  );
  colliders.forEach((c, i) => check(c.ignore, names, "body", `/colliders/${i}`));
}

/** Spawnable bodies start undeformed and have no attachments. */
export function checkSpawnable({ bodies, attachments = [] }: Pick<Scene, "bodies" | "attachments">): void {
  const spawnable = new Set(bodies.flatMap((b) => (b.spawnable ? [b.name] : [])));
  bodies.forEach((b, i) => {
    if (b.spawnable && b.start !== undefined)
      throw new SceneError(
        `/bodies/${i}/start`,
        b.start,
        "absent where spawnable is true: a spawned body starts undeformed",
      );
  });
  attachments.forEach((a, i) => {
    for (const [end, point] of [
      ["from", a.from],
      ["to", a.to],
    ] as const) {
      if ("body" in point && spawnable.has(point.body))
        throw new SceneError(
          `/attachments/${i}/${end}/body`,
          point.body,
          "the name of a body that is in the scene from the start (spawnable is false)",
        );
    }
  });
}

/** A collider with attached points must be unique, and its path must start at its place in the scene. */
export function checkCarrier({ colliders = [] }: Pick<Scene, "colliders">, name: string, path: string): void {
  const named = colliders.filter((c) => c.name === name);
  const known = colliders.flatMap((c) => (c.name === undefined ? [] : [c.name]));
  if (named.length !== 1)
    throw new SceneError(
      path,
      name,
      named.length === 0
        ? `the name of a collider: ${known.join(", ")}`
        : `a unique name: ${named.length} colliders have it`,
    );
  const { translate = [], rotate = [] } = named[0]!.motion?.keys[0] ?? {};
  if ([...translate, ...rotate].some((c) => c !== 0))
    throw new SceneError(
      path,
      name,
      "a collider whose path begins at its place in the scene (no translate and no rotate in its first key)",
    );
}

/** Checks for degenerate shapes, and for paths whose times do not increase. */
export function checkCollider(c: Collider, path: string): void {
  checkStatic(c.staticFriction, c.friction, path);
  if (c.type === "mesh" && c.transform?.scale !== undefined && c.transform.fitHeight !== undefined)
    throw new SceneError(`${path}/transform/fitHeight`, c.transform.fitHeight, "absent where scale is given");
  if (c.type === "mesh" && c.mesh.type === "lattice")
    throw new SceneError(`${path}/mesh/type`, c.mesh.type, "another one: a lattice is for a body of kind points");
  if (c.type === "plane" && c.normal.every((n) => n === 0))
    throw new SceneError(`${path}/normal`, c.normal, "a vector that is not zero");
  if ("a" in c && c.a.every((n, r) => n === c.b[r])) {
    throw new SceneError(`${path}/b`, c.b, COINCIDENT[c.type] ?? "another point than a");
  }
  c.motion?.keys.forEach(({ time }, i, keys) => {
    if (i === 0 && time !== 0)
      throw new SceneError(`${path}/motion/keys/0/time`, time, "0: the path starts at the room's first tick");
    if (i > 0 && time <= keys[i - 1]!.time)
      throw new SceneError(`${path}/motion/keys/${i}/time`, time, `> ${keys[i - 1]!.time}, the time of the key before`);
  });
}

/** Checks plastic flow: only for models that support it, with two strains in order. */
function checkPlasticity(m: SoftMaterial, path: string): void {
  if (!("plasticity" in m) || m.plasticity === undefined) return;
  if (m.model === "neo-hookean" || m.model === "stable-neo-hookean")
    throw new SceneError(
      `${path}/plasticity`,
      m.plasticity,
      `absent for model ${m.model}: stvk, orthotropic and shape-matching (mode linear) have it`,
    );
  if (m.model === "shape-matching" && m.mode === "rigid")
    throw new SceneError(`${path}/plasticity`, m.plasticity, "absent where mode is rigid");
  const { yield: begin, max }: Plasticity = m.plasticity;
  if (!(begin < max)) throw new SceneError(`${path}/plasticity/yield`, begin, `< ${max}, which is max`);
}

function checkStiffness(s: { stiffness?: number; compliance?: number }, path: string): void {
  if ((s.stiffness === undefined) === (s.compliance === undefined))
    throw new SceneError(path, s, "given in exactly one of its ways: stiffness or compliance");
}

function checkSweep(sweep: Sweep | undefined, path: string): void {
  if (!sweep || sweep.order === "jacobi") return;
  for (const field of ["relaxation", "rho"] as const)
    if (sweep[field] !== undefined)
      throw new SceneError(`${path}/${field}`, sweep[field], "absent where order is not jacobi");
}

/**
 * Checks that the orthotropic compliance is positive definite, by Sylvester's criterion on the matrix scaled to a unit
 * diagonal,
 *   R_ij = -nu_ij sqrt(k_j/k_i), symmetric because nu_ij/k_i = nu_ji/k_j:
 *   |nu_ij| < sqrt(k_i/k_j)  and  det R = 1 - nu12 nu21 - nu23 nu32 - nu13 nu31 - 2 nu21 nu32 nu13 > 0.
 */
function checkOrthotropic(m: OrthotropicMaterial, path: string): void {
  const [k1, k2, k3] = m.youngsModuli;
  const [nu12, nu23, nu13] = m.poissonsRatios;
  const pairs = [
    ["nu_12", nu12, k1, k2, "k_1/k_2"],
    ["nu_23", nu23, k2, k3, "k_2/k_3"],
    ["nu_13", nu13, k1, k3, "k_1/k_3"],
  ] as const;
  pairs.forEach(([name, nu, ki, kj, ratio], i) => {
    const limit = Math.sqrt(ki / kj);
    if (!(Math.abs(nu) < limit))
      throw new SceneError(
        `${path}/poissonsRatios/${i}`,
        nu,
        `less than ${limit} in size: |${name}| < sqrt(${ratio}) makes the tensor positive definite`,
      );
  });
  const [r12, r23, r13] = pairs.map(([, nu, ki, kj]) => nu * Math.sqrt(kj / ki)) as [number, number, number];
  const determinant = 1 - r12 * r12 - r23 * r23 - r13 * r13 - 2 * r12 * r23 * r13;
  if (!(determinant >= LEAST_DETERMINANT)) {
    throw new SceneError(
      `${path}/poissonsRatios`,
      m.poissonsRatios,
      `such that 1 - nu12 nu21 - nu23 nu32 - nu13 nu31 - 2 nu21 nu32 nu13 = ${determinant} is at least ${LEAST_DETERMINANT.toPrecision(2)} (nu = 0.4999 if isotropic): above 0 makes the tensor positive definite`,
    );
  }
}

/** The sheet's tensor must be given in exactly one way, be symmetric, and be positive definite. */
function checkSheet(m: ClothMaterial, path: string): void {
  const orthotropic = (["kWeft", "kWarp", "kShear", "nuWeft", "nuWarp"] as const).filter((f) => m[f] !== undefined);
  const isotropic = (["youngsModulus", "poissonsRatio"] as const).filter((f) => m[f] !== undefined);
  if (orthotropic.length > 0 && isotropic.length > 0)
    throw new SceneError(`${path}/${isotropic[0]}`, m[isotropic[0]!], "absent where kWeft ... nuWarp are given");
  if (orthotropic.length === 0) {
    for (const field of ["youngsModulus", "poissonsRatio"] as const)
      if (m[field] === undefined)
        throw new SceneError(
          `${path}/${field}`,
          undefined,
          "given: youngsModulus and poissonsRatio, or all of kWeft kWarp kShear nuWeft nuWarp",
        );
    if (m.model === "orthotropic")
      throw new SceneError(`${path}/model`, m.model, "stvk where youngsModulus and poissonsRatio are given");
    return;
  }
  for (const field of ["kWeft", "kWarp", "kShear", "nuWeft", "nuWarp"] as const)
    if (m[field] === undefined)
      throw new SceneError(
        `${path}/${field}`,
        undefined,
        "given: an orthotropic sheet has all of kWeft kWarp kShear nuWeft nuWarp",
      );
  const [kWeft, kWarp, nuWeft, nuWarp] = [m.kWeft!, m.kWarp!, m.nuWeft!, m.nuWarp!];
  const a = kWeft * nuWarp;
  const b = kWarp * nuWeft;
  if (Math.abs(a - b) > SYMMETRY_TOLERANCE * Math.max(Math.abs(a), Math.abs(b)))
    throw new SceneError(
      `${path}/nuWarp`,
      nuWarp,
      `${b / kWeft} within ${100 * SYMMETRY_TOLERANCE} %: k_weft nuWarp = k_warp nuWeft makes the tensor symmetric`,
    );
  if (!(nuWeft * nuWarp < 1))
    throw new SceneError(
      `${path}/nuWeft`,
      nuWeft,
      `less than ${1 / nuWarp} in size: nuWeft nuWarp < 1 makes the tensor positive definite`,
    );
}
