/**
 * Turns scene attachments into weighted points: a particle or surface point held at a world point, at a point of
 * another body or by a collider. A rigid one that is apart from its world point begins where it is, and is drawn to the
 * world point at the speed of grabs: within one substep it would get 100 m/s and more, and all the energy of that.
 */
import type { Attachment, AttachmentPoint, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import { bodyIndex } from "../body/loadBody.ts";
import type { BodyTemplate } from "../body/template.ts";
import { moveTarget, type PointSettings, type WeightedPoint } from "../memory/bodies/pointSlots.ts";
import type { SimLayout } from "./worldLayout.ts";
import type { Views } from "./views.ts";

/**
 * Relative difference below which squared distances count as equal: far above float64's rounding, far below any
 * difference that a scene intends.
 */
const TIE = 1e-9;

interface Resolved {
  addresses: number[];
  weights: number[];
  at: Vec3;
}

/**
 * @param firsts first particle of each body
 * @param x address of the position array
 * @param motionOf the MOTION row's address of each collider that moves
 * @returns the weighted point, and the place of its `from` at the start
 */
export function resolveAttachment(
  attachment: Attachment,
  path: string,
  scene: Scene,
  bodies: readonly BodyTemplate[],
  firsts: readonly number[],
  x: number,
  motionOf: readonly ({ row: number } | undefined)[],
): { point: WeightedPoint; at: Vec3; settings: PointSettings } {
  const settings = { compliance: attachment.compliance ?? 0, maxForce: attachment.maxForce ?? 3e38 };
  const from = resolvePoint(attachment.from, `${path}/from`, scene, bodies, firsts, x);
  const { at } = from;
  if ("world" in attachment.to) return { point: from, at, settings: { ...settings, target: attachment.to.world } };
  if ("collider" in attachment.to)
    return {
      point: from,
      at,
      settings: {
        ...settings,
        target: at,
        motion: motionOf[colliderIndex(scene, attachment.to.collider)]?.row ?? 0,
      },
    };
  const to = resolvePoint(attachment.to, `${path}/to`, scene, bodies, firsts, x);
  if (from.addresses[0] === to.addresses[0])
    throw new SceneError(
      `${path}/to`,
      attachment.to,
      "another particle than from: a point cannot be attached to itself",
    );
  // keeps the distance vector at rest: sum b x = from - to
  const target: Vec3 = [at[0] - to.at[0], at[1] - to.at[1], at[2] - to.at[2]];
  return {
    at,
    point: {
      addresses: [...from.addresses, ...to.addresses],
      weights: [...from.weights, ...to.weights.map((w) => -w)],
    },
    settings: { ...settings, target },
  };
}

/**
 * Lets a rigid attachment to a world point begin where its body's point is. A spring may begin stretched, and a force
 * limit bounds its work.
 * @param at where the point is; reach distance that a grab goes in a substep, m: nearer points are not drawn
 */
export function drawn(
  { to, compliance, maxForce }: Attachment,
  at: Vec3,
  reach: number,
): Pick<PointSettings, "target" | "goal"> | undefined {
  if (!("world" in to) || compliance || maxForce !== undefined) return undefined;
  const apart = Math.hypot(...to.world.map((c, r) => c - at[r]!));
  return apart > reach ? { target: at, goal: to.world } : undefined;
}

/** Sets the motion of each attachment's target in this tick, once before it. */
export function drawAttachments(views: Views, layout: SimLayout): void {
  const most = layout.interaction.grabSpeed / layout.tickHz;
  for (let n = 0; n < layout.attachmentCount; n++) {
    const at = (layout.points + n * L.POINT_BYTES) / 4;
    if (mayMove(views, at)) moveTarget(views, at, at + L.POINT_GOAL / 4, most, layout.substeps);
  }
}

/** Returns whether a target is apart from its goal, or moved in the last tick: few are. @param at word of the slot */
function mayMove({ f32 }: Views, at: number): boolean {
  for (let r = 0; r < 3; r++)
    if (f32[at + L.POINT_TARGET / 4 + r] !== f32[at + L.POINT_GOAL / 4 + r] || f32[at + L.POINT_STEP / 4 + r] !== 0)
      return true;
  return false;
}

/** Puts the targets of attachments to where they were at the start. */
export function resetAttachments({ f32 }: Views, layout: SimLayout): void {
  for (let n = 0; n < layout.attachmentCount; n++) {
    const at = (layout.points + n * L.POINT_BYTES) / 4;
    f32.copyWithin(at + L.POINT_TARGET / 4, at + L.POINT_FROM / 4, at + L.POINT_FROM / 4 + 3);
  }
}

/**
 * Particles of body number `index` that attachments without compliance and force limit hold in space or on a collider.
 */
export function anchorsOf(scene: Scene, bodies: readonly BodyTemplate[], index: number): number[] {
  const anchors = new Set<number>();
  (scene.attachments ?? []).forEach(({ from, to, compliance, maxForce }, n) => {
    if ("body" in to || from.body !== bodies[index]!.name || compliance || maxForce !== undefined) return;
    const { addresses } = resolvePoint(
      from,
      `/attachments/${n}/from`,
      scene,
      bodies,
      bodies.map(() => 0),
      0,
    );
    for (const address of addresses) anchors.add(address / 16);
  });
  return [...anchors].filter((i) => !bodies[index]!.pinned[i]);
}

function colliderIndex({ colliders = [] }: Scene, name: string): number {
  return colliders.findIndex((c) => c.name === name);
}

/**
 * The collider that carries each body: the first moving one that a point of the body is attached to.
 * @returns by body; undefined: no carrier
 */
export function carriersOf({ bodies, attachments = [], ...scene }: Scene): (number | undefined)[] {
  return bodies.map(({ name }) => {
    const carried = attachments.flatMap(({ from, to }) =>
      from.body === name && "collider" in to ? [colliderIndex({ bodies, ...scene }, to.collider)] : [],
    );
    return carried.find((c) => scene.colliders![c]!.motion !== undefined);
  });
}

/** @returns for each body, whether the scene pins it or attaches it to anything */
export function hangingOf({ bodies, attachments = [] }: Scene): boolean[] {
  const attached = new Set(attachments.flatMap(({ from, to }) => [from.body, "body" in to ? to.body : from.body]));
  return bodies.map(({ name, pins = [] }) => pins.length > 0 || attached.has(name));
}

function resolvePoint(
  p: AttachmentPoint,
  path: string,
  scene: Scene,
  bodies: readonly BodyTemplate[],
  firsts: readonly number[],
  x: number,
): Resolved {
  const index = bodyIndex(scene, p.body, `${path}/body`);
  const body = bodies[index]!;
  const address = (particle: number): number => x + 16 * (firsts[index]! + particle);
  const place = (particle: number): [number, number, number] => [
    body.positions[3 * particle]!,
    body.positions[3 * particle + 1]!,
    body.positions[3 * particle + 2]!,
  ];
  if (p.particle !== undefined) {
    const particle = body.origin.indexOf(body.merged?.get(p.particle) ?? p.particle);
    if (particle < 0)
      throw new SceneError(
        `${path}/particle`,
        p.particle,
        `a particle of body ${p.body}, which has ${body.particleCount}`,
      );
    return { addresses: [address(particle)], weights: [1], at: place(particle) };
  }
  if (!p.near) throw new SceneError(path, p, "an object with particle or near");
  // the nearest streamed particle is exact enough if the surface's triangles are smaller than the attached part
  let best = 0;
  let least = Infinity;
  for (let i = 0; i < body.streamedCount; i++) {
    const q = place(i);
    const d = (q[0] - p.near[0]) ** 2 + (q[1] - p.near[1]) ** 2 + (q[2] - p.near[2]) ** 2;
    // of equally near particles, up to rounding, take the first, wherever the scene is placed
    if (d < least * (1 - TIE)) [best, least] = [i, d];
  }
  return { addresses: [address(best)], weights: [1], at: place(best) };
}
