/** Makes a body's template from the scene: mesh, placement, masses, forces, constraints. */
import type { BallBody, Body, BodyContact, ClothBody, Scene, SoftBody } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import { DEFAULT_FRICTION } from "../../../shared/scene/sceneRules.ts";
import { boundarySurface } from "../../meshing/surface/boundary.ts";
import { meshCache } from "../../meshing/meshCache.ts";
import { requireSheet } from "../../meshing/importers/finishMesh.ts";
import { pieceNotes } from "../../meshing/tetrahedra/pieces.ts";
import { renumber } from "../../meshing/tetrahedra/renumber.ts";
import type { SurfaceMesh, TetMesh } from "../../meshing/mesh.ts";
import type { Pace } from "../constraints/constraint.ts";
import { enclosedVolume } from "../constraints/enclosedVolume.ts";
import { CONSTRAINTS, massesOf, sheetElements, solidElements } from "../constraints/kinds.ts";
import { MOST_PARTICLES as MOST_PREFACTORED } from "../prefactored/model.ts";
import { scheduleOf } from "../memory/sweeps.ts";
import { keepPast } from "../reference/dashpots.ts";
import { boxCells } from "../../meshing/generators.ts";
import { SCENE_DEFAULTS } from "../scene/defaults.ts";
import { ballShape } from "./ball.ts";
import { sheetMasses, tetrahedralMasses } from "./masses.ts";
import { addNotes, loadSource, type MeshSources, meanEdge, type SourceMesh } from "./meshes.ts";
import { pointsShape } from "./pointCloud.ts";
import { rigidMasses } from "./rigidMasses.ts";
import { addLoad, selectParticles } from "./selection.ts";
import { joinsSubsteps } from "../methods/joins.ts";
import { startPositions } from "./start.ts";
import { placed, placementOf, scaled, type Placement } from "./transform.ts";
import type { BodyTemplate, Shape, ShapeMatching, Touch } from "./template.ts";

export interface LoadOptions extends MeshSources {
  onProgress?: ((done: number, stage: string) => void) | undefined;
}

export async function loadBody(scene: Scene, index: number, options: LoadOptions): Promise<BodyTemplate> {
  const body = scene.bodies[index]!;
  const path = `/bodies/${index}`;
  const { tickHz, substeps, iterations } = { ...SCENE_DEFAULTS, ...scene };
  const pace = { substeps, iterations };
  const seconds = 1 / (tickHz * substeps);
  const shape =
    body.kind === "ball"
      ? await ballShape(body, path, options.baseDir)
      : body.kind === "soft"
        ? await softShape(body, path, options, pace, seconds)
        : body.kind === "cloth"
          ? await clothShape(body, path, options, pace, seconds)
          : pointsShape(body, path);
  const { own, triangles, mass, elements } = shape;
  const formless = body.solver === "paper" && elements.find((e) => CONSTRAINTS[e.kind].paperPhase === undefined);
  if (formless)
    throw new SceneError(`${path}/solver`, body.solver, "compliant: constraints of this material have no form C = E");
  if (body.solver === "prefactored" && mass.length > MOST_PREFACTORED)
    throw new SceneError(
      `${path}/mesh`,
      `${mass.length} particles`,
      `at most ${MOST_PREFACTORED} particles where solver is prefactored`,
    );
  const template = templateOf(scene, body, shape);
  for (const e of elements) keepPast(startPositions(template), e);
  body.pins?.forEach((pin, i) => {
    for (const p of selectParticles(pin.select, shape, `${path}/pins/${i}/select`)) template.pinned[p] = 1;
  });
  body.loads?.forEach((load, i) => {
    addLoad(
      template.force,
      selectParticles(load.select, shape, `${path}/loads/${i}/select`),
      load.force,
      load.distribute ?? "area",
      { positions: own, triangles, mass },
    );
  });
  return template;
}

/** Template without pins and forces. */
function templateOf(scene: Scene, body: Body, shape: Shape): BodyTemplate {
  const { own, positions, triangles, enclosed, detail, picture } = shape;
  const particleCount = positions.length / 3;
  const edge = shape.spacing ?? meanEdge(own, triangles);
  const method = body.kind === "ball" ? undefined : body.method;
  return {
    name: body.name,
    kind: body.kind,
    look: body.look ?? {},
    particleCount,
    streamedCount: shape.streamedCount,
    positions,
    own,
    placement: shape.placement,
    origin: shape.origin,
    ...(shape.merged && { merged: shape.merged }),
    mass: shape.mass,
    pinned: new Uint8Array(particleCount),
    force: new Float64Array(3 * particleCount),
    velocity: body.velocity ?? [0, 0, 0],
    ...(body.start && { start: body.start }),
    spawnable: body.spawnable ?? false,
    damping: body.material.damping ?? scene.damping ?? 0,
    retardationTime: ("retardationTime" in body.material && body.material.retardationTime) || 0,
    friction: body.material.friction ?? DEFAULT_FRICTION,
    contactRadius: contactRadius(body, edge),
    touch: touchOf(body),
    meanEdge: edge,
    elements: shape.elements,
    ...(enclosed && { enclosed }),
    form: formOf(body),
    ...(method && { method, material: body.material, joins: joinsSubsteps(scene, body) }),
    schedule: scheduleOf(body.sweep),
    triangles,
    tets: shape.tets,
    ...(detail && { detail }),
    ...(picture && { picture }),
    ...(shape.shape && { shape: shape.shape }),
  };
}

/** Form of a body; one without a named solver is compliant until one is chosen (chooseSolvers.ts). */
export function formOf(body: Body): BodyTemplate["form"] {
  if (body.kind === "ball") return "compliant";
  const { method, solver = "auto" } = body;
  if (method) return "method";
  return solver === "auto" ? "compliant" : solver;
}

/** Half of the contact thickness, m; a ball has contact at its radius. */
function contactRadius(body: Body, edge: number): number {
  return body.kind === "ball" ? 0 : 0.5 * (body.contact?.thickness ?? thicknessOf(body, edge));
}

function touchOf(body: Body): Touch {
  const friction = body.material.friction ?? DEFAULT_FRICTION;
  const rigid =
    body.kind === "ball" ||
    (body.kind === "soft" && body.material.model === "shape-matching" && body.material.mode === "rigid");
  const { staticFriction = friction, restitution = 0, ignore = [], self = true } = { ...body.contact } as BodyContact;
  return { staticFriction, restitution, ignore, self: self && !rigid };
}

/** Contact thickness if the scene names none, m. */
function thicknessOf(body: Exclude<Body, BallBody>, edge: number): number {
  return body.kind === "points" ? edge : Math.max(0.04 * edge, body.kind === "cloth" ? body.material.thickness : 0);
}

/** An object's picture, and the mesh that it is drawn on. */
function pictured({ drawing }: SourceMesh, placement: Placement): Pick<Shape, "detail" | "picture"> {
  if (!drawing) return {};
  const { object, places, vertices, scale, offset } = drawing;
  const own = scaled(places.positions, placement);
  return {
    detail: { own, positions: placed(own, placement), triangles: places.triangles },
    picture: { object, vertices, scale, offset },
  };
}

async function softShape(
  body: SoftBody,
  path: string,
  options: LoadOptions,
  pace: Pace,
  seconds: number,
): Promise<Shape> {
  const source = await loadSource(body, options, path);
  let mesh: TetMesh;
  let detailOwn: SurfaceMesh | undefined;
  const placement = placementOf(
    body.transform,
    source.kind === "tets" ? source.tets.positions : source.surface.positions,
  );
  if (source.kind === "tets") {
    if (body.tetrahedralize)
      throw new SceneError(`${path}/tetrahedralize`, body.tetrahedralize, "absent: the mesh has tetrahedra already");
    mesh = { ...source.tets, positions: scaled(source.tets.positions, placement) };
  } else {
    if (!body.tetrahedralize)
      throw new SceneError(
        `${path}/tetrahedralize`,
        undefined,
        "given: the mesh is a surface, and a soft body needs tetrahedra",
      );
    detailOwn = { positions: scaled(source.surface.positions, placement), triangles: source.surface.triangles };
    const { spacing } = body.tetrahedralize;
    const filled = await meshCache(detailOwn, {
      spacing,
      ...(options.onProgress && { onProgress: options.onProgress }),
    });
    mesh = filled.mesh;
    if (body.mesh.type === "file") addNotes(options.found, body.mesh.path, pieceNotes(mesh, filled.report.pieces));
  }
  const { mesh: ordered, surfaceCount, oldOf } = renumber(mesh);
  const triangles = boundarySurface(ordered);
  const { material } = body;
  const cells = body.mesh.type === "box" ? renumbered(boxCells(body.mesh.cells), oldOf) : undefined;
  const solid = {
    material,
    X: ordered.positions,
    tets: ordered.tets,
    triangles,
    cells,
    pace,
    seconds,
    form: formOf(body),
    path,
  };
  const { own, mass } = solidMasses(body, ordered, massesOf(solid));
  const volume = material.model === "pbd" && material.volume?.of === "body" ? material.volume : undefined;
  return {
    own,
    placement,
    positions: placed(own, placement),
    triangles,
    tets: ordered.tets,
    mass,
    enclosed: volume && enclosedVolume(own, triangles, volume, pace),
    origin: originOf(ordered, mass.length),
    streamedCount: surfaceCount,
    elements: solidElements(solid),
    ...shapeMatching(body),
    ...(detailOwn && {
      detail: {
        own: detailOwn.positions,
        positions: placed(detailOwn.positions, placement),
        triangles: detailOwn.triangles,
      },
    }),
    ...pictured(source, placement),
  };
}

/** Particles of a solid and their masses. @param own masses of materials that have their own */
function solidMasses(
  { material }: SoftBody,
  { positions, tets }: TetMesh,
  own: Float64Array | undefined,
): Pick<Shape, "own" | "mass"> {
  if (own) return { own: positions, mass: own };
  const lumped = tetrahedralMasses(positions, tets, material.density);
  if (material.model === "shape-matching" && material.mode === "rigid")
    return rigidMasses(positions, tets, lumped, material.density);
  return { own: positions, mass: lumped };
}

/** Particles that are no vertices of the mesh file have numbers behind those. */
function originOf({ positions, origin }: TetMesh, particles: number): Uint32Array {
  const vertices = positions.length / 3;
  const next = origin ? origin.reduce((most, n) => Math.max(most, n), 0) + 1 : vertices;
  return Uint32Array.from({ length: particles }, (_, i) => (i < vertices ? (origin?.[i] ?? i) : next + i - vertices));
}

async function clothShape(
  body: ClothBody,
  path: string,
  options: LoadOptions,
  pace: Pace,
  seconds: number,
): Promise<Shape> {
  const source = await loadSource(body, options, path);
  if (source.kind === "tets") throw new SceneError(`${path}/mesh`, body.mesh, "a surface: a cloth has no tetrahedra");
  requireSheet(`mesh of body ${body.name}`, source.surface);
  const { surface } = source;
  const placement = placementOf(body.transform, surface.positions);
  const own = scaled(surface.positions, placement);
  const count = own.length / 3;
  const { material } = body;
  const { triangles } = surface;
  if (material.volume) requireClosed(triangles, path);
  return {
    own,
    placement,
    positions: placed(own, placement),
    triangles,
    tets: new Uint32Array(0),
    mass: sheetMasses(own, triangles, material.density, material.thickness),
    enclosed: material.volume && enclosedVolume(own, triangles, material.volume, pace),
    origin: surface.origin ?? Uint32Array.from({ length: count }, (_, i) => i),
    ...(surface.merged && { merged: surface.merged }),
    streamedCount: count,
    elements: sheetElements({ material, X: own, triangles, form: formOf(body), pace, seconds }),
    ...pictured(source, placement),
  };
}

/** Element corners in the numbers of the renumbered mesh. */
function renumbered(elements: Uint32Array, oldOf: Uint32Array): Uint32Array {
  const newOf = new Uint32Array(oldOf.length);
  oldOf.forEach((old, now) => (newOf[old] = now));
  return elements.map((p) => newOf[p]!);
}

/** @throws SceneError unless every edge has a triangle on either side: only a closed sheet encloses a volume */
function requireClosed(triangles: Uint32Array, path: string): void {
  const open = new Set<string>();
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const a = triangles[t + k]!;
      const b = triangles[t + ((k + 1) % 3)]!;
      if (!open.delete(`${b},${a}`)) open.add(`${a},${b}`);
    }
  }
  if (open.size > 0)
    throw new SceneError(`${path}/material/volume`, `${open.size} open edges`, "a closed mesh, such as a ball");
}

/** Index of a body, by name. */
export function bodyIndex(scene: Scene, name: string, path: string): number {
  const index = scene.bodies.findIndex((b: Body) => b.name === name);
  if (index < 0) throw new SceneError(path, name, `the name of a body: ${scene.bodies.map((b) => b.name).join(", ")}`);
  return index;
}

/**
 * Shape matching of a body. alpha is the part of the correction that one step of 1/60 s makes: alpha = rate dt^2 / (1 +
 * rate dt^2).
 */
function shapeMatching(body: SoftBody): { shape: ShapeMatching } | undefined {
  const m = body.material;
  if (m.model !== "shape-matching") return undefined;
  const alpha = m.mode === "rigid" ? 1 : (m.stiffness ?? 1);
  return {
    shape: {
      mode: m.mode,
      rate: (3600 * alpha) / (1 - alpha),
      linearity: m.linearity ?? 0,
      ...(m.plasticity && { plasticity: m.plasticity }),
    },
  };
}
