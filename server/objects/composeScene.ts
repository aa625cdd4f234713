/**
 * Creates a scene with an uploaded object: either a new scene with a floor, a camera and a named material, or an
 * existing scene with the object placed beside its content. The same choice gives the same text, and so the same scene.
 */
import { MATERIAL_PRESETS, type PresetName } from "../../shared/scene/materialPresets.ts";
import {
  frictionOf,
  type ObjectRole,
  rigidMaterial,
  sheetMaterial,
  solidMaterial,
} from "../../shared/scene/objectRoles.ts";
import type { Body, Collider, ObjectMesh, Scene, Vec3 } from "../../shared/scene/scene.ts";
import { SceneError } from "../../shared/scene/sceneError.ts";
import { validateScene } from "../../shared/scene/sceneValidator.ts";

export interface ObjectChoice {
  role: ObjectRole;
  material: PresetName;
  /** Longest side of its box, m. */
  size: number;
}

/** Properties of an object that a scene needs. */
export interface ChosenObject {
  id: string;
  name: string;
  /** Sides of its bounding box, in any unit. */
  box: readonly [number, number, number];
}

/** A scene to add an object to, and its bounding box, m. */
export interface BaseScene {
  scene: Scene;
  low: Vec3;
  high: Vec3;
}

/** Particles per role; each takes some milliseconds per tick. */
const PARTICLES = { soft: 1500, cloth: 2500, rigid: 400, collider: 4000 } as const;
/** Height from which bodies fall to the floor, relative to their size. */
const DROP = 0.05;
/** Distance to the existing content, relative to the object's size. */
const BESIDE = 0.3;
/** Air damping, 1/s. */
const DAMPING = 0.3;
/** Force of a grab, as a multiple of the body's weight. */
const LIFT = 6;
/** Radius of a grab, relative to the size: with 0.05 it could not lift a rubber ball of 60 kg. */
const HAND = 0.15;
/** Approximate share of its box that an object fills. */
const FILLED = 0.3;
const G = 9.81;
const TITLE = 80;

/** Sides of the box, m. */
const sidesOf = ({ box }: ChosenObject, size: number): [number, number, number] => {
  const longest = Math.max(...box);
  return box.map((side) => (size * side) / longest) as [number, number, number];
};

/** Estimated mass, kg. */
function massOf(sides: readonly number[], { role, material }: ObjectChoice): number {
  const { soft, cloth } = MATERIAL_PRESETS[material];
  const [x, y, z] = sides as [number, number, number];
  if (role === "cloth" && cloth) return cloth.density * cloth.thickness * 2 * (x * y + y * z + z * x);
  return FILLED * (soft ?? cloth)!.density * Math.max(x * y * z, 1e-3 * Math.max(x, y, z) ** 3);
}

/** Force of a grab, N: lifts the body, and dents soft material by a tenth of the grab's width. */
function handForce(sides: readonly number[], choice: ObjectChoice): number {
  const { soft } = MATERIAL_PRESETS[choice.material];
  const dents = choice.role === "soft" && soft ? 0.1 * soft.youngsModulus * (0.1 * choice.size) ** 2 : 0;
  return LIFT * G * massOf(sides, choice) + dents;
}

const rounded = (value: number): number => Number(value.toPrecision(3));

/** Returns a title for the scene: the file name without its extension. */
function titleOf(name: string): string {
  const stem = name.replace(/\.[^.]*$/, "").trim();
  return [...(stem === "" ? "object" : stem)].slice(0, TITLE).join("");
}

/** @throws SceneError if the material does not support the role */
function bodyOf(name: string, mesh: ObjectMesh, { role, material }: ObjectChoice): Body {
  const common = { name, mesh };
  if (role === "cloth") {
    const sheet = sheetMaterial(material);
    if (!sheet) throw new SceneError("/material", material, "a material for cloth");
    return { ...common, kind: "cloth", material: sheet };
  }
  const solid = role === "rigid" ? rigidMaterial(material) : solidMaterial(material);
  if (!solid) throw new SceneError("/material", material, "a material for soft solids");
  return { ...common, kind: "soft", material: solid };
}

/** A scarf that falls on the collider, so that something in the scene moves. */
const scarfOver = (sides: readonly number[], size: number): Body => ({
  name: "scarf",
  kind: "cloth",
  mesh: { type: "grid", size: [rounded(1.4 * size), rounded(1.4 * size)], cells: [48, 48] },
  transform: { translate: [0, rounded(sides[1]! + 0.1 * size), 0] },
  material: sheetMaterial("cotton")!,
  look: { color: "#d1495b", backColor: "#e8a09a" },
});

/**
 * @param base scene to add the object to; absent: create a new one
 * @throws SceneError: path, value, limit
 */
export function composeScene(object: ChosenObject, choice: ObjectChoice, base?: BaseScene): Scene {
  const { role, material, size } = choice;
  const mesh: ObjectMesh = { type: "object", id: object.id, size, particles: PARTICLES[role] };
  const title = titleOf(object.name);
  const sides = sidesOf(object, size);
  if (base) return validateScene(added(base, title, mesh, choice, sides));
  const force = handForce(sides, choice);
  const collider: Collider = { type: "mesh", name: title, mesh, friction: frictionOf(material) };
  const transform = { translate: [0, rounded(DROP * size), 0] as Vec3 };
  const bodies = role === "collider" ? [scarfOver(sides, size)] : [{ ...bodyOf(title, mesh, choice), transform }];
  const middle = rounded(0.5 * sides[1]!);
  return validateScene({
    version: 1,
    title,
    substeps: role === "soft" ? 20 : 8,
    iterations: role === "soft" ? 1 : 4,
    damping: DAMPING,
    quantum: Math.max(1e-5, Math.min(0.0005, Number((size / 4000).toPrecision(1)))),
    camera: {
      position: [rounded(0.9 * size), rounded(middle + 0.7 * size), rounded(1.9 * size)],
      target: [0, middle, 0],
    },
    bodies,
    colliders: [
      { type: "plane", name: "floor", normal: [0, 1, 0], offset: 0, friction: 0.6 },
      ...(role === "collider" ? [collider] : []),
    ],
    interaction:
      role === "collider"
        ? {}
        : {
            grabMaxForce: rounded(force),
            grabCompliance: rounded((0.02 * size) / force),
            grabRadius: rounded(HAND * size),
            maxImpulse: rounded(3 * massOf(sides, choice)),
          },
  });
}

/** Returns the base scene with the object beside its content and without its camera, so that the view shows both. */
function added(
  { scene, low, high }: BaseScene,
  title: string,
  mesh: ObjectMesh,
  choice: ObjectChoice,
  sides: readonly number[],
): Scene {
  const { camera: _, bodies, colliders = [], ...rest } = scene;
  const names = new Set([...bodies, ...colliders].map(({ name }) => name));
  const stem = [...title].slice(0, 56).join("");
  let name = stem;
  for (let n = 2; names.has(name); n++) name = `${stem} ${n}`;
  const floors = colliders.flatMap((c) => (c.type === "plane" && c.normal[1] > 0 && c.normal[0] === 0 ? [c] : []));
  const floor = floors.length > 0 ? Math.max(...floors.map(({ normal, offset }) => offset / normal[1])) : low[1];
  const drop = choice.role === "collider" ? 0 : DROP * choice.size;
  const translate: Vec3 = [
    rounded(high[0] + 0.5 * sides[0]! + BESIDE * choice.size),
    rounded(floor + drop),
    rounded(0.5 * (low[2] + high[2])),
  ];
  if (choice.role === "collider") {
    const friction = frictionOf(choice.material);
    return {
      ...rest,
      bodies,
      colliders: [...colliders, { type: "mesh", name, mesh, transform: { translate }, friction }],
    };
  }
  return { ...rest, bodies: [...bodies, { ...bodyOf(name, mesh, choice), transform: { translate } }], colliders };
}
