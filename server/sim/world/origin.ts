/**
 * Chooses a room's own origin. Particles are float32, whose steps grow with the distance from zero (0.06 mm at 1 km).
 * So a scene far from the world's origin is simulated around its own origin, and only data that leaves the server's
 * files is in world coordinates.
 *
 * Per axis, with c the middle and s the diagonal of the box around all bodies as placed: the decimal number with the
 * fewest digits within NEAR s of c. Near the world's origin that is 0. A scene moved by a round number of meters is
 * moved back by exactly that, so it runs bit for bit like the original. Moved by any other number, it runs the same up
 * to float32 rounding.
 * Tried: the middle rounded to a grid of powers of two. A scene at 1000 m then moves by 992 or 1008, depending on its
 * size.
 */
import type { Attachment, AttachmentPoint, Collider, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { placed } from "../body/transform.ts";
import type { BodyTemplate } from "../body/template.ts";

/**
 * Tolerance in sizes of the scene. Positions then lose at most 4 of float32's 24 bits against a scene at zero. Bodies
 * at ordinary places (a ball above a table) keep the coordinates of their file.
 */
const NEAR = 16;

/** @returns m, in world coordinates; zeros unless the bodies are far from the world's origin */
export function chooseOrigin(bodies: readonly Pick<BodyTemplate, "positions">[]): Vec3 {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const { positions } of bodies) {
    for (let i = 0; i < positions.length; i++) {
      low[i % 3] = Math.min(low[i % 3]!, positions[i]!);
      high[i % 3] = Math.max(high[i % 3]!, positions[i]!);
    }
  }
  const size = Math.sqrt(low.reduce((sum, l, r) => sum + (high[r]! - l) ** 2, 0));
  return low.map((l, r) => roundest(0.5 * (l + high[r]!), NEAR * size)) as Vec3;
}

/** The number with the fewest decimal digits within `slack` of `value`; the nearest of those. */
function roundest(value: number, slack: number): number {
  if (Math.abs(value) <= slack) return 0;
  // powers of ten as text: 1e-3 is the double nearest to a thousandth, 10 ** -3 may not be; coordinates of scenes end
  // at 1e6
  for (let exponent = 6; exponent >= -15; exponent--) {
    const step = Number(`1e${exponent}`);
    const round = Number((Math.round(value / step) * step).toPrecision(15));
    if (Math.abs(round - value) <= slack) return round;
  }
  return value;
}

/** The body relative to `origin`, placed again if its placement is known, so that no digit is lost. */
export function moveBody(body: BodyTemplate, origin: Vec3): BodyTemplate {
  if (origin.every((o) => o === 0)) return body;
  const { own, placement, detail } = body;
  const from = (positions: Float64Array): Float64Array => positions.map((x, i) => x - origin[i % 3]!);
  const near = placement && { ...placement, translate: minus(placement.translate, origin) };
  return {
    ...body,
    positions: own && near ? placed(own, near) : from(body.positions),
    ...(detail && {
      detail: { ...detail, positions: detail.own && near ? placed(detail.own, near) : from(detail.positions) },
    }),
  };
}

/** All places in a scene except its bodies, relative to `origin`. */
export function moveScene(scene: Scene, origin: Vec3): Scene {
  if (origin.every((o) => o === 0)) return scene;
  const { colliders, attachments, camera } = scene;
  return {
    ...scene,
    ...(colliders && { colliders: colliders.map((c) => moveCollider(c, origin)) }),
    ...(attachments && { attachments: attachments.map((a) => moveAttachment(a, origin)) }),
    ...(camera && { camera: { position: minus(camera.position, origin), target: minus(camera.target, origin) } }),
  };
}

function moveCollider(c: Collider, origin: Vec3): Collider {
  // for a normal of any length: normal . (x + origin) = offset
  if (c.type === "plane")
    return { ...c, offset: c.offset - (c.normal[0] * origin[0] + c.normal[1] * origin[1] + c.normal[2] * origin[2]) };
  if (c.type === "mesh")
    return { ...c, transform: { ...c.transform, translate: minus(c.transform?.translate ?? [0, 0, 0], origin) } };
  if ("a" in c) return { ...c, a: minus(c.a, origin), b: minus(c.b, origin) };
  return { ...c, center: minus(c.center, origin) };
}

function moveAttachment(a: Attachment, origin: Vec3): Attachment {
  const point = (p: AttachmentPoint): AttachmentPoint => (p.near ? { ...p, near: minus(p.near, origin) } : p);
  return {
    ...a,
    from: point(a.from),
    to: "world" in a.to ? { world: minus(a.to.world, origin) } : "collider" in a.to ? a.to : point(a.to),
  };
}

function minus(a: Vec3, b: Vec3): Vec3 {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}
