/**
 * The space that a scene's bodies need in the picture: where they begin, and where gravity takes them at first. Clients
 * fit the default camera to it. An estimate, without contact between bodies:
 *
 *   free body    falls to the first plane below, or to the lowest collider; thrown ones fly a parabola
 *   held body    hangs from its pins and fixed attachments, and from those of the bodies that it is attached to: its
 *                farthest point swings below the nearest of them and beyond, as far as no fixed point holds it back
 *   moved body   goes with the path of a mover that it is attached to, or that meets it
 */
import type { Scene, Vec3 } from "../../../shared/scene/scene.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { CoreMesh } from "../colliders/coreMesh.ts";
import { SCENE_DEFAULTS } from "../scene/defaults.ts";
import { dot, length, minus, plus, times, unit } from "../intersections/intersection.ts";

export interface Space {
  min: Vec3;
  max: Vec3;
}

/** Farthest fall, rise and flight that count, and the largest mover that is shown (with its way), in scene sizes. */
const FAR = 4;
/** A plane stops a fall if its normal leans against gravity by at least this cosine. */
const UPRIGHT = 0.1;
/** Coefficient below which a slide has no end in the picture. */
const LEAST_FRICTION = 0.1;
/** Length of a held body under its weight, relative to its rest. */
const STRETCH = 1.1;
/** Largest numbers that count: fixed points of a body or of attached bodies, and particles of a body. */
const MOST_HELD = 64;
const MOST_PARTICLES = 512;

const placeOf = (positions: Float64Array, p: number): Vec3 => [
  positions[3 * p]!,
  positions[3 * p + 1]!,
  positions[3 * p + 2]!,
];

class Box implements Space {
  readonly min: Vec3 = [Infinity, Infinity, Infinity];
  readonly max: Vec3 = [-Infinity, -Infinity, -Infinity];

  add(place: Vec3): void {
    place.forEach((x, k) => {
      this.min[k] = Math.min(this.min[k]!, x);
      this.max[k] = Math.max(this.max[k]!, x);
    });
  }

  addAll(positions: ArrayLike<number>): this {
    for (let i = 0; i < positions.length; i += 3) this.add([positions[i]!, positions[i + 1]!, positions[i + 2]!]);
    return this;
  }

  meets({ min, max }: Space): boolean {
    return this.min.every((low, k) => low <= max[k]! && min[k]! <= this.max[k]!);
  }

  addMoved(box: Box, way: Vec3): void {
    this.add(plus(box.min, way));
    this.add(plus(box.max, way));
  }

  corners(): Vec3[] {
    return [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [0, 1, 2].map((k) => ((i >> k) & 1 ? this.max : this.min)[k]!) as Vec3);
  }
}

/** @param cores core meshes of the colliders; undefined for planes */
export function framedSpace(
  scene: Scene,
  bodies: readonly BodyTemplate[],
  cores: readonly (CoreMesh | undefined)[],
): Space {
  const shown = bodies.filter(({ spawnable }) => !spawnable);
  const start = new Box();
  // Without a body to show, the camera looks at those that can be put in.
  for (const { positions } of shown.length > 0 ? shown : bodies) start.addAll(positions);
  const space = new Box();
  space.addMoved(start, [0, 0, 0]);
  const gravity = scene.gravity ?? SCENE_DEFAULTS.gravity;
  const strength = length(gravity);
  if (strength === 0) return space;
  const fall = { down: unit(gravity), strength, most: FAR * length(minus(start.max, start.min)) };
  const ground = groundBelow(scene, cores, fall.down);
  const movers = moversOf(scene, cores);
  const heldBy = new Map<string, readonly Vec3[]>();
  for (const group of new Set(attachedGroups(scene, shown).values())) {
    const held = thinned(group.flatMap((one) => heldPlaces(scene, one)));
    for (const { name } of group) heldBy.set(name, held);
  }
  for (const body of shown) {
    const own = new Box().addAll(body.positions);
    const held = heldBy.get(body.name)!;
    if (held.length > 0) addSwing(own, body, held, fall.down);
    else addFall(own, body, fall, ground.below);
    space.addMoved(own, [0, 0, 0]);
    for (const mover of movers)
      if (mover.sweep.meets(own) || isAttachedTo(scene, body, mover.name)) addMover(space, mover, own, fall, ground);
  }
  return space;
}

/** A collider's path, and the space that it sweeps. Turns are left out. */
interface Mover {
  name: string | undefined;
  ways: readonly Vec3[];
  sweep: Box;
}

function moversOf({ colliders = [] }: Scene, cores: readonly (CoreMesh | undefined)[]): Mover[] {
  return colliders.flatMap(({ name, motion }, c) => {
    const core = cores[c];
    if (!motion || !core) return [];
    const ways = motion.keys.map(({ translate = [0, 0, 0] }): Vec3 => translate);
    const sweep = new Box();
    for (const way of ways) sweep.addMoved(new Box().addAll(core.positions), way);
    return [{ name, ways, sweep }];
  });
}

/** Gravity, and the farthest fall that counts, m. */
interface Fall {
  down: Vec3;
  strength: number;
  most: number;
}

const isAttachedTo = ({ attachments = [] }: Scene, { name }: BodyTemplate, collider: string | undefined): boolean =>
  attachments.some(({ from, to }) => from.body === name && "collider" in to && to.collider === collider);

/** Bodies that are attached to each other, by the name of each of them. */
function attachedGroups({ attachments = [] }: Scene, bodies: readonly BodyTemplate[]): Map<string, BodyTemplate[]> {
  const groups = new Map(bodies.map((body) => [body.name, [body]]));
  for (const { from, to } of attachments) {
    const one = groups.get(from.body);
    const other = "body" in to ? groups.get(to.body) : undefined;
    if (!one || !other || one === other) continue;
    one.push(...other);
    for (const { name } of other) groups.set(name, one);
  }
  return groups;
}

const thinned = <T>(items: readonly T[]): T[] => items.filter((_, i) => i % Math.ceil(items.length / MOST_HELD) === 0);

/** Fixed places of a body: its pins, and where it is attached to the world or a collider. */
function heldPlaces({ attachments = [] }: Scene, { name, pinned, positions, origin }: BodyTemplate): Vec3[] {
  const pins = thinned([...pinned.keys()].filter((p) => pinned[p]));
  const held = pins.map((p) => placeOf(positions, p));
  for (const { from, to } of attachments.slice(0, MOST_HELD)) {
    if (from.body !== name || "body" in to) continue;
    const particle = from.particle === undefined ? -1 : origin.indexOf(from.particle);
    if (from.near) held.push(from.near);
    else if (particle >= 0) held.push(placeOf(positions, particle));
  }
  return held;
}

interface Ground {
  /** Distance along gravity from a body's box to the ground, m; 0: there is none. */
  below: (box: Box) => number;
  /** The ground is a plane: no body gets below it. */
  isFloor: boolean;
}

function groundBelow(scene: Scene, cores: readonly (CoreMesh | undefined)[], down: Vec3): Ground {
  const colliders = scene.colliders ?? [];
  const planes = colliders.flatMap((collider) => {
    if (collider.type !== "plane") return [];
    const normal = unit(collider.normal);
    const against = -dot(normal, down);
    return against > UPRIGHT ? [{ normal, against, offset: collider.offset }] : [];
  });
  const lowest = Math.max(
    -Infinity,
    ...cores.flatMap((core) =>
      core
        ? new Box()
            .addAll(core.positions)
            .corners()
            .map((at) => dot(at, down))
        : [],
    ),
  );
  const below = (box: Box): number => {
    const corners = box.corners();
    const ways = planes.map(({ normal, against, offset }) =>
      Math.min(...corners.map((at) => (dot(normal, at) - offset) / against)),
    );
    const way = ways.length > 0 ? Math.min(...ways) : lowest - Math.max(...corners.map((at) => dot(at, down)));
    return Number.isFinite(way) ? Math.max(0, way) : 0;
  };
  return { below, isFloor: planes.length > 0 };
}

function addFall(
  space: Box,
  { positions, velocity, friction }: BodyTemplate,
  { down, strength, most }: Fall,
  ground: (box: Box) => number,
): void {
  const box = new Box().addAll(positions);
  const way = Math.min(most, ground(box));
  const up = -dot(velocity, down);
  const rise = up > 0 ? Math.min(most, (up * up) / (2 * strength)) : 0;
  const seconds = (up + Math.sqrt(up * up + 2 * strength * way)) / strength;
  const aside = plus(velocity, times(up, down));
  // After the flight it slides, until friction has taken its speed.
  const slide = way > 0 ? length(aside) / (2 * Math.max(LEAST_FRICTION, friction) * strength) : 0;
  const across = times(Math.max(0, seconds) + slide, aside);
  const flight = length(across) > most ? times(most / length(across), across) : across;
  space.addMoved(box, times(-rise, down));
  space.addMoved(box, plus(times(way, down), flight));
}

/** @param own space of a body that the mover may carry or press */
function addMover(space: Box, { ways, sweep }: Mover, own: Box, { down, most }: Fall, ground: Ground): void {
  if (sweep.meets(own) && length(minus(sweep.max, sweep.min)) <= most) space.addMoved(sweep, [0, 0, 0]);
  for (const way of ways) {
    // A press does not push a body through the floor.
    const sunk = ground.isFloor ? Math.max(0, dot(way, down) - ground.below(own)) : 0;
    space.addMoved(own, plus(way, times(-sunk, down)));
  }
}

function addSwing(space: Box, { positions }: BodyTemplate, held: readonly Vec3[], down: Vec3): void {
  const count = positions.length / 3;
  const step = Math.ceil(count / MOST_PARTICLES);
  let far: { at: Vec3; pin: Vec3; reach: number } = { at: held[0]!, pin: held[0]!, reach: 0 };
  let sag = 0;
  let lowest = held[0]!;
  for (let p = 0; p < count; p += step) {
    const at = placeOf(positions, p);
    const pin = held.reduce((a, b) => (length(minus(b, at)) < length(minus(a, at)) ? b : a));
    const reach = length(minus(at, pin));
    if (reach > far.reach) far = { at, pin, reach };
    const drop = Math.min(...held.map((q) => dropTo(at, q, down)));
    if (drop > sag) [sag, lowest] = [drop, plus(at, times(drop, down))];
  }
  space.add(lowest);
  const { at, pin, reach } = far;
  const arm = minus(at, pin);
  const below = times(dot(arm, down), down);
  for (const end of [plus(pin, times(STRETCH * reach, down)), plus(pin, minus(times(2, below), arm))])
    if (held.every((q) => length(minus(end, q)) <= STRETCH * length(minus(at, q)) + 1e-9)) space.add(end);
}

/** Drop of a point, straight down, at which its distance from a fixed one is STRETCH times as long, m. */
function dropTo(at: Vec3, fixed: Vec3, down: Vec3): number {
  const arm = minus(at, fixed);
  const along = dot(arm, down);
  const more = (STRETCH * STRETCH - 1) * dot(arm, arm);
  return Math.sqrt(along * along + more) - along;
}
