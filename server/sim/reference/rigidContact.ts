/**
 * Twin of kernel/assembly/contact/rigidContact.ts and its parts (rigidRow.ts, rigidManifold.ts, rigidIslands.ts,
 * rigidWarmStart.ts, rigid/rigidGround.ts). Near pairs of rigid bodies, and their contacts with fixed colliders, push
 * whole bodies. Pushes are solved one after another, on displacements since the substep's start, in sweeps back and
 * forth (projected Gauss-Seidel, accelerated by conjugate gradients).
 *   u . n >= e a   if a pair nearer than its thickness approached faster than a resting one; else its gap stays
 *                  min(thickness, gap at the start)
 * Only the outermost of resting contacts are solved; they begin with the pushes of the previous substep.
 */
import { distanceTo, type ReferenceCollider } from "./collide.ts";
import { addAt, setAt, vectorAt, type Particles } from "./particles.ts";
import { svd } from "./svd.ts";
import { turnAlong, type ReferenceContactPair } from "./contacts.ts";
import {
  add,
  apply,
  combine,
  cross,
  dot,
  inverse,
  multiply,
  norm,
  scale,
  subtract,
  transpose,
  ZERO,
  type Matrix,
  type Vector,
} from "./vector.ts";

/** Particles of a rigid body, none of them fixed. */
export interface ReferenceRigid {
  first: number;
  count: number;
  /** Number of surface particles, from the first. Absent: it has no contact with colliders. */
  streamedCount?: number;
}

/** A push of a substep, kg m, stored for the next one: on the first body, at `arm` from its center. */
export interface ReferenceKept {
  one: number;
  two: number;
  collider: number;
  arm: Vector;
  normal: Vector;
  push: Vector;
}

interface Moving extends ReferenceRigid {
  /** Index in the list; a contact is named by its body with the lower number. */
  number: number;
  extent: number;
  center: Vector;
  inverseMass: number;
  inverseInertia: Matrix;
  shift: Vector;
  turn: Vector;
  push: Vector;
  twist: Vector;
  stillPush: Vector;
  stillTwist: Vector;
}

interface Contact {
  /** Absent: a surface particle on a collider. */
  touch?: ReferenceContactPair;
  /** -1 - number of the collider; 0: a pair. */
  collider: number;
  carried: Vector;
  n: Vector;
  b: readonly number[];
  /**
   * `rests`: approaches no faster than a resting contact; `open`: may be left out; `face`: a particle over the inside
   * of a triangle or on a collider.
   */
  rests: boolean;
  open: boolean;
  face: boolean;
  staticFriction: number;
  dynamicFriction: number;
  thickness: number;
  /** For a contact with a collider: its gap before all pushes. */
  began: number;
  /** For a pair: sets another direction. */
  lean?: (direction: Vector) => void;
  /** Both sides: the body, if any, and the arm to the pushed point. */
  sides: { body: Moving | undefined; arm: Vector }[];
  wanted: number;
  gap: number;
  pushed: number;
  drag: Vector;
}

/** Constants of the kernel. */
const SWEEPS = 64;
const PUSHES = 16384;
const RELEASE_SWEEPS = 8;
const RESIDUE = 1e-3;
const RELEASE = 0.25;
const RISE = 2;
const NEAR = 0.5;
const ONE_WAY = 0.9995;
const LEANING = 0.985;
const BESIDE = Math.SQRT1_2;
const NEARLY = 1e-3;
const TURNED = 0.3;
const DIRECTIONS = [0, 2, 4, 6, 1, 3, 5, 7].map((k) => TURNED + (k * Math.PI) / 4);
const SAME = 0.02;
const SAME_WAY = 0.98;

/**
 * One iteration over the pairs of `touches` with a rigid body, in order, and over contacts of bodies with colliders.
 * @param h s
 * @param kept pushes of the previous substep, if any
 * @returns pushes of this substep
 */
export function solveRigidContacts(
  p: Particles,
  rigid: readonly ReferenceRigid[],
  touches: readonly ReferenceContactPair[],
  h: number,
  colliders: readonly ReferenceCollider[] = [],
  kept: readonly ReferenceKept[] = [],
): ReferenceKept[] {
  const moving = rigid.map((body, number) => measure(p, body, number));
  const ownerOf = (i: number): Moving | undefined => moving.find((m) => i >= m.first && i < m.first + m.count);
  const contacts = touches.flatMap((touch) =>
    touch.near && touch.thickness > 0 && touch.particles.some(ownerOf) ? prepare(p, touch, ownerOf, h) : [],
  );
  for (const body of moving) contacts.push(...grounds(p, body, colliders, h));
  const fall = (i: number): number => (p.w[i] ? h * h * norm(vectorAt(p.acceleration, i)) : 0);
  const most = Math.max(
    0,
    ...contacts.flatMap((c) => (c.touch ? c.touch.particles : [c.sides[0]!.body!.first]).map(fall)),
  );
  const solved = reduce(contacts);
  warmStart(p, solved, kept);
  for (const island of islandsOf(p, solved)) solveIsland(p, island, most);
  const pushes = solved.filter((c) => c.rests && c.pushed > 0).map(keptOf);
  const levels = levelsOf(p, solved);
  for (let sweep = 0; sweep < RELEASE_SWEEPS; sweep++)
    if (!solved.map((contact) => release(p, contact, levels)).includes(true)) break;
  for (const body of moving) move(p, body);
  return pushes;
}

/**
 * Solves one island: sweeps back and forth, accelerated by conjugate gradients.
 * @param fall m
 */
function solveIsland(p: Particles, island: readonly Contact[], fall: number): void {
  const sweeps = Math.max(SWEEPS, Math.floor(PUSHES / island.length));
  const inverses = island.flatMap(({ sides }) => sides.flatMap(({ body }) => body?.inverseMass || []));
  const residue = (RESIDUE * Math.min(...inverses)) / Math.max(...inverses);
  const all = ({ pushed, n, drag }: Contact): Vector => add(scale(pushed, n), drag);
  let most = fall;
  let before = 0;
  let directions: Vector[] = island.map(() => ZERO);
  for (let sweep = 0; sweep < sweeps; sweep += 2) {
    const were = island.map(all);
    const largest = Math.max(...[...island, ...[...island].reverse()].map((contact) => pushOne(p, contact)));
    most = Math.max(most, largest);
    if (!(largest > residue * most) || sweep + 2 >= sweeps) break;
    const changes = island.map((contact, k) => subtract(all(contact), were[k]!));
    const now = island.reduce((sum, c, k) => sum + inverseMassOf(p, c, c.n) * dot(changes[k]!, changes[k]!), 0);
    const b = before > 0 && now < before ? now / before : 0;
    const on = directions.map((direction) => scale(b, direction));
    island.forEach((contact, k) => driveOn(p, contact, on[k]!));
    directions = on.map((direction, k) => add(direction, changes[k]!));
    before = now;
  }
}

/** Adds a push along a direction, within the limits of contact. */
function driveOn(p: Particles, contact: Contact, on: Vector): void {
  const { n, pushed, drag } = contact;
  const along = dot(on, n);
  contact.pushed = Math.max(0, pushed + along);
  contact.drag = contact.pushed > 0 ? add(drag, subtract(on, scale(along, n))) : ZERO;
  give(p, contact, add(scale(contact.pushed - pushed, n), subtract(contact.drag, drag)), false);
}

/** Groups contacts that pass pushes on to each other; soft particles join all islands that touch any. */
function islandsOf(p: Particles, contacts: readonly Contact[]): Contact[][] {
  const islands: { members: Set<Moving | "soft">; contacts: Contact[] }[] = [];
  for (const contact of contacts) {
    const members = new Set<Moving | "soft">(contact.sides.flatMap(({ body }) => body ?? []));
    if (isSoft(p, contact)) members.add("soft");
    const joined = islands.filter((island) => [...members].some((member) => island.members.has(member)));
    for (const island of joined) islands.splice(islands.indexOf(island), 1);
    islands.push({
      members: new Set([...joined.flatMap((island) => [...island.members]), ...members]),
      contacts: [...joined.flatMap((island) => island.contacts), contact],
    });
  }
  const order = (contact: Contact): number => contacts.indexOf(contact);
  return islands
    .map((island) => island.contacts.sort((a, b) => order(a) - order(b)))
    .sort((a, b) => order(a[0]!) - order(b[0]!));
}

/** Whether a contact pushes a particle of a soft body. */
const isSoft = (p: Particles, { touch, b, sides }: Contact): boolean =>
  touch?.particles.some((i, k) => b[k] !== 0 && p.w[i] && !sides[b[k]! > 0 ? 0 : 1]!.body) ?? false;

/** Number of contacts between a body and the nearest immovable support; no entry: it has no support. */
function levelsOf(p: Particles, contacts: readonly Contact[]): Map<Moving, number> {
  const levels = new Map<Moving, number>();
  const pairs = contacts.map((contact) => contact.sides.flatMap(({ body }) => body ?? []));
  pairs.forEach(([body, other], n) => {
    if (!other && !isSoft(p, contacts[n]!)) levels.set(body!, 1);
  });
  for (let level = 1; [...levels.values()].includes(level); level++)
    for (const [one, two] of pairs)
      for (const [low, high] of two ? [[one!, two] as const, [two, one!] as const] : [])
        if (levels.get(low) === level && !levels.has(high)) levels.set(high, level + 1);
  return levels;
}

/** The name of a contact: its first body, with the normal that points to it. */
function named({ sides: [first, second], collider, n }: Contact): {
  one: Moving;
  two: number;
  arm: Vector;
  normal: Vector;
  sign: number;
} {
  const swap = !first!.body || (second!.body !== undefined && second!.body.number < first!.body.number);
  const [a, b] = swap ? [second!, first!] : [first!, second!];
  const sign = swap ? -1 : 1;
  return { one: a.body!, two: b.body?.number ?? collider - 1, arm: a.arm, normal: scale(sign, n), sign };
}

/** Leaves out redundant contacts: of two bodies and one direction, all except the outermost. */
function reduce(contacts: readonly Contact[]): Contact[] {
  const spare = new Set<Contact>();
  for (const faces of [true, false]) {
    for (const leader of contacts) {
      if (!leader.open || leader.face !== faces) continue;
      const { one, two, normal } = named(leader);
      const axis = [1, 0, 0].map((_, k) => (k === leastOf(normal) ? 1 : 0)) as unknown as Vector;
      const across = cross(normal, axis);
      const s = scale(1 / norm(across), across);
      const t = cross(normal, s);
      const outermost: { contact: Contact; far: number }[] = [];
      for (const contact of contacts) {
        const name = named(contact);
        const leans = leader.face && !contact.face;
        const least = leans ? (contact.wanted < 0 ? BESIDE : LEANING) : ONE_WAY;
        if (!contact.open || name.one !== one || name.two !== two || !(dot(normal, name.normal) > least)) continue;
        contact.open = false;
        spare.add(contact);
        if (leans && contact.wanted < 0) continue;
        if (leans) contact.lean!(scale(name.sign, normal));
        const { arm } = named(contact);
        DIRECTIONS.forEach((angle, k) => {
          const far = Math.cos(angle) * dot(s, arm) + Math.sin(angle) * dot(t, arm);
          if (!outermost[k] || far > outermost[k].far + NEARLY * one.extent) outermost[k] = { contact, far };
        });
      }
      for (const { contact } of outermost) spare.delete(contact);
    }
  }
  return contacts.filter((contact) => !spare.has(contact));
}

/** The axis with the smallest component of n. */
function leastOf(n: Vector): number {
  const [x, y, z] = n.map(Math.abs) as unknown as Vector;
  return x <= y && x <= z ? 0 : y <= z ? 1 : 2;
}

/** Starts resting contacts with the push of the nearest stored contact of the same two bodies. */
function warmStart(p: Particles, contacts: readonly Contact[], kept: readonly ReferenceKept[]): void {
  const left = new Set(kept);
  for (const contact of contacts) {
    if (!contact.rests) continue;
    const { one, two, arm, normal, sign } = named(contact);
    const [found] = [...left]
      .filter((k) => k.one === one.number && k.two === two && k.collider === contact.collider)
      .filter((k) => norm(subtract(arm, k.arm)) < SAME * one.extent && dot(normal, k.normal) > SAME_WAY)
      .sort((a, b) => norm(subtract(arm, a.arm)) - norm(subtract(arm, b.arm)));
    if (!found) continue;
    left.delete(found);
    contact.pushed = dot(normal, found.push);
    contact.drag = scale(sign, subtract(found.push, scale(contact.pushed, normal)));
    give(p, contact, add(scale(contact.pushed, contact.n), contact.drag), false);
  }
}

function keptOf(contact: Contact): ReferenceKept {
  const { one, two, arm, normal, sign } = named(contact);
  const push = scale(sign, add(scale(contact.pushed, contact.n), contact.drag));
  return { one: one.number, two, collider: contact.collider, arm, normal, push };
}

/** Contacts of surface particles near a collider that does not move. */
function grounds(p: Particles, body: Moving, colliders: readonly ReferenceCollider[], h: number): Contact[] {
  const surface = Array.from({ length: body.streamedCount ?? 0 }, (_, k) => body.first + k);
  return colliders.flatMap((collider, number) =>
    surface.flatMap((i) => {
      const { d, n } = distanceTo(collider, vectorAt(p.xPrev, i));
      const margin = p.radius[i]!;
      const began = d - margin;
      if (!(d > 0 && began < NEAR * margin)) return [];
      const arm = subtract(vectorAt(p.x, i), body.center);
      const u = add(body.shift, cross(body.turn, arm));
      const along = dot(u, n);
      const fall = h * h * norm(vectorAt(p.acceleration, body.first));
      const rests = !(-along > 2 * fall);
      if (!rests && (collider.rootBounce ?? 0) > 0) return [];
      const hold = Math.min(0, began);
      const still = dot(u, u) - along * along <= fall * fall;
      const own = p.rootFriction[i]!;
      const mu = own * (still ? (collider.rootStatic ?? collider.rootFriction) : collider.rootFriction);
      const contact: Contact = {
        collider: -1 - number,
        carried: ZERO,
        n,
        b: [],
        rests,
        open: true,
        face: true,
        staticFriction: mu,
        dynamicFriction: mu,
        thickness: margin,
        began: began + along,
        sides: [
          { body, arm },
          { body: undefined, arm: ZERO },
        ],
        wanted: hold - began,
        gap: hold + Math.min(-hold, RISE * margin * h),
        pushed: 0,
        drag: ZERO,
      };
      return [contact];
    }),
  );
}

function measure(p: Particles, { first, count, streamedCount }: ReferenceRigid, number: number): Moving {
  const all = Array.from({ length: count }, (_, k) => first + k);
  const m = all.map((i) => 1 / p.w[i]!);
  const M = m.reduce((a, b) => a + b, 0);
  const mean = (x: Float64Array): Vector =>
    scale(
      1 / M,
      combine(
        m,
        all.map((i) => vectorAt(x, i)),
      ),
    );
  const center = mean(p.x);
  const before = mean(p.xPrev);
  const A = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ];
  const I = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ];
  all.forEach((i, k) => {
    const r = subtract(vectorAt(p.x, i), center);
    const s = subtract(vectorAt(p.xPrev, i), before);
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++) {
        A[a]![b]! += m[k]! * r[a]! * s[b]!;
        I[a]![b]! += m[k]! * ((a === b ? dot(r, r) : 0) - r[a]! * r[b]!);
      }
  });
  const { U, V } = svd(A as unknown as Matrix);
  const R = multiply(U, transpose(V));
  const cos = 0.5 * (R[0][0] + R[1][1] + R[2][2] - 1);
  return {
    first,
    count,
    ...(streamedCount === undefined ? {} : { streamedCount }),
    number,
    extent: Math.max(...all.map((i) => norm(subtract(vectorAt(p.x, i), center)))),
    center,
    inverseMass: 1 / M,
    inverseInertia: inverse(I as unknown as Matrix),
    shift: subtract(center, before),
    turn: scale(0.5 / cos, [R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]]),
    push: ZERO,
    twist: ZERO,
    stillPush: ZERO,
    stillTwist: ZERO,
  };
}

/** Inverse mass against a push along d, 1/kg. */
function inverseMassOf(p: Particles, { touch, b, sides }: Pick<Contact, "touch" | "b" | "sides">, d: Vector): number {
  const light = (touch?.particles ?? []).reduce(
    (sum, i, k) => sum + (sides[b[k]! > 0 ? 0 : 1]!.body ? 0 : p.w[i]! * b[k]! ** 2),
    0,
  );
  return sides.reduce(
    (sum, { body, arm }) =>
      body ? sum + body.inverseMass + dot(cross(arm, d), apply(body.inverseInertia, cross(arm, d))) : sum,
    light,
  );
}

function prepare(
  p: Particles,
  touch: ReferenceContactPair,
  ownerOf: (i: number) => Moving | undefined,
  h: number,
): Contact[] {
  const turned = turnAlong(p, touch);
  if (!turned) return [];
  const { normal: n, weights: b } = turned;
  const { particles, thickness } = touch;
  const firsts = particles.map((_, k) => b[k]! > 0);
  const at = (side: boolean): Vector =>
    combine(
      b.map((weight, k) => (firsts[k] === side ? Math.abs(weight) : 0)),
      particles.map((i) => vectorAt(p.x, i)),
    );
  const bodies = [true, false].map((side) =>
    particles
      .filter((_, k) => (side ? b[k]! > 0 : b[k]! < 0))
      .map(ownerOf)
      .find(Boolean),
  );
  const points = [at(true), at(false)] as const;
  if (bodies[0] === bodies[1]) return [];
  const light = particles.some((i, k) => !bodies[b[k]! > 0 ? 0 : 1] && p.w[i]! > 0 && b[k] !== 0);
  const point = light ? points[bodies[0] ? 1 : 0] : scale(0.5, add(...points));
  const contact: Contact = {
    touch,
    collider: 0,
    carried: ZERO,
    n,
    b,
    rests: false,
    open: false,
    face: b.slice(1).every((weight) => weight < 0),
    staticFriction: touch.staticFriction,
    dynamicFriction: touch.dynamicFriction,
    thickness,
    began: 0,
    sides: bodies.map((body) => ({ body, arm: body ? subtract(point, body.center) : ZERO })),
    wanted: 0,
    gap: 0,
    pushed: 0,
    drag: ZERO,
    lean: (direction) => {
      contact.n = direction;
      want(p, contact, touch, subtract(...points), h);
    },
  };
  want(p, contact, touch, subtract(...points), h);
  contact.open = contact.rests && !light;
  return [contact];
}

/**
 * Sets the target of a pair along its direction.
 * @param d from the second's closest point to the first's
 */
function want(p: Particles, contact: Contact, touch: ReferenceContactPair, d: Vector, h: number): void {
  const { particles, thickness: r, restitution: e } = touch;
  const gap = dot(contact.n, d);
  const approach = -dot(contact.n, relative(p, contact));
  const began = gap + approach;
  const hold = Math.min(r, began);
  const weight = 2 * h * h * Math.max(...particles.map((i) => (p.w[i] ? norm(vectorAt(p.acceleration, i)) : 0)));
  contact.rests = !(approach > weight);
  contact.wanted = e > 0 && gap < r && !contact.rests ? e * approach : hold - began;
  contact.gap = hold + RELEASE * (r - hold);
}

/** Displacement of the first relative to the second in this substep, at the contact. */
function relative(p: Particles, { touch, b, sides, carried }: Contact): Vector {
  const particles = touch?.particles ?? [];
  let u: Vector = combine(
    [...particles.map((_, k) => (sides[b[k]! > 0 ? 0 : 1]!.body ? 0 : b[k]!)), -1],
    [...particles.map((i) => subtract(vectorAt(p.x, i), vectorAt(p.xPrev, i))), carried],
  );
  sides.forEach(({ body, arm }, side) => {
    if (body) u = add(u, scale(side ? -1 : 1, add(add(body.shift, body.push), cross(add(body.turn, body.twist), arm))));
  });
  return u;
}

/**
 * Applies a push (kg m) to the first, and its opposite to the second.
 * @param only of two bodies the one to move
 */
function give(p: Particles, { touch, b, sides }: Contact, f: Vector, still: boolean, only?: Moving): void {
  sides.forEach(({ body, arm }, side) => {
    if (!body || (only && body !== only)) return;
    const g = scale(side ? -1 : 1, f);
    const shift = scale(body.inverseMass, g);
    const turn = apply(body.inverseInertia, cross(arm, g));
    body.push = add(body.push, shift);
    body.twist = add(body.twist, turn);
    if (still) {
      body.stillPush = add(body.stillPush, shift);
      body.stillTwist = add(body.stillTwist, turn);
    }
  });
  touch?.particles.forEach((i, k) => {
    if (sides[b[k]! > 0 ? 0 : 1]!.body) return;
    addAt(p.x, i, scale(p.w[i]! * b[k]!, f));
    if (still) addAt(p.xPrev, i, scale(p.w[i]! * b[k]!, f));
  });
}

/**
 * Normal push, then friction.
 * @returns the larger of the two changes, as a displacement along the normal, m
 */
function pushOne(p: Particles, contact: Contact): number {
  const { n, staticFriction, dynamicFriction } = contact;
  const W = inverseMassOf(p, contact, n);
  let dragged = 0;
  const had = contact.pushed;
  contact.pushed = Math.max(0, had + (contact.wanted - dot(n, relative(p, contact))) / W);
  give(p, contact, scale(contact.pushed - had, n), false);
  if (contact.pushed > 0 || had > 0) {
    const u = relative(p, contact);
    const t = subtract(u, scale(dot(u, n), n));
    const slide = norm(t);
    const before = contact.drag;
    let drag = slide > 0 ? subtract(before, scale(1 / inverseMassOf(p, contact, scale(1 / slide, t)), t)) : before;
    const size = norm(drag);
    if (size > staticFriction * contact.pushed)
      drag = scale(Math.min(1, (dynamicFriction * contact.pushed) / size), drag);
    contact.drag = drag;
    dragged = norm(subtract(drag, before));
    give(p, contact, subtract(drag, before), false);
  }
  return Math.max(Math.abs(contact.pushed - had), dragged) * W;
}

/**
 * Separates a pair that is too near, without adding a velocity: moves the body further from its support.
 * @returns whether there was a violation
 */
function release(p: Particles, contact: Contact, levels: ReadonlyMap<Moving, number>): boolean {
  const { touch, n, b, sides } = contact;
  const [one, two] = sides.map(({ body }) => body && (levels.get(body) ?? Infinity));
  const both = one === undefined || two === undefined || one === two;
  const upper = both ? undefined : sides[one > two ? 0 : 1];
  const W = inverseMassOf(p, upper ? { b, sides: [upper] } : contact, n);
  let gap = contact.began;
  if (touch) {
    const from = vectorAt(p.x, touch.particles[3]);
    gap = dot(
      n,
      combine(
        b,
        touch.particles.map((i) => subtract(vectorAt(p.x, i), from)),
      ),
    );
  }
  sides.forEach(({ body, arm }, side) => {
    if (body) gap += (side ? -1 : 1) * dot(n, add(body.push, cross(body.twist, arm)));
  });
  if (!(contact.gap - gap > RESIDUE * contact.thickness)) return false;
  give(p, contact, scale((contact.gap - gap) / W, n), true, upper?.body);
  return true;
}

/**
 * Moves the particles by push and twist, as a rotation (Cayley: half the twist), and xPrev by the part without a
 * velocity.
 */
function move(p: Particles, body: Moving): void {
  for (let i = body.first; i < body.first + body.count; i++) {
    const r = subtract(vectorAt(p.x, i), body.center);
    for (const [x, push, twist] of [
      [p.xPrev, body.stillPush, body.stillTwist],
      [p.x, body.push, body.twist],
    ] as const) {
      const a = scale(0.5, twist);
      const ar = cross(a, r);
      setAt(x, i, add(add(vectorAt(x, i), push), scale(2 / (1 + dot(a, a)), add(ar, cross(a, ar)))));
    }
  }
}
