/**
 * Twin of kernel/assembly/contact/rigidContact.ts: near pairs of rigid bodies, answered by the whole of them, as one
 * impact after another on displacements since the start of the substep, in sweeps (projected Gauss-Seidel).
 *   u . n >= e a where a pair that comes nearer than its thickness approached by more than rest does, else its gap
 *   stays min(thickness, gap at the start)
 */
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
}

interface Moving extends ReferenceRigid {
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
  touch: ReferenceContactPair;
  n: Vector;
  b: readonly number[];
  /** Of both sides: the body, or none, and the arm to where they are pushed. */
  sides: { body: Moving | undefined; arm: Vector }[];
  wanted: number;
  gap: number;
  pushed: number;
  drag: Vector;
}

/** Constants of the kernel. */
const BOUNCE_SWEEPS = 64;
const SWEEPS = 8;
const RESIDUE = 1e-3;
const RELEASE = 0.25;

/** One iteration of the pairs of `touches` in which a rigid body takes part, in order. @param h s */
export function solveRigidContacts(
  p: Particles,
  rigid: readonly ReferenceRigid[],
  touches: readonly ReferenceContactPair[],
  h: number,
): void {
  const moving = rigid.map((body) => measure(p, body));
  const ownerOf = (i: number): Moving | undefined => moving.find((m) => i >= m.first && i < m.first + m.count);
  const contacts = touches.flatMap((touch) =>
    touch.near && touch.thickness > 0 && touch.particles.some(ownerOf) ? prepare(p, touch, ownerOf, h) : [],
  );
  let most = 0;
  for (let sweep = 0; sweep < (contacts.some((c) => c.wanted > 0) ? BOUNCE_SWEEPS : SWEEPS); sweep++) {
    const largest = Math.max(0, ...contacts.map((contact) => pushOne(p, contact)));
    most = Math.max(most, largest);
    if (!(largest > RESIDUE * most)) break;
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    if (!contacts.map((contact) => release(p, contact)).includes(true)) break;
  for (const body of moving) move(p, body);
}

function measure(p: Particles, { first, count }: ReferenceRigid): Moving {
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

/** 1/kg that a push along d meets. */
function inverseMassOf(p: Particles, { touch, b, sides }: Pick<Contact, "touch" | "b" | "sides">, d: Vector): number {
  const light = touch.particles.reduce(
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
  const { particles, thickness: r, restitution: e } = touch;
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
    n,
    b,
    sides: bodies.map((body) => ({ body, arm: body ? subtract(point, body.center) : ZERO })),
    wanted: 0,
    gap: 0,
    pushed: 0,
    drag: ZERO,
  };
  const gap = dot(n, subtract(...points));
  const approach = -dot(n, relative(p, contact));
  const began = gap + approach;
  const hold = Math.min(r, began);
  const weight = 2 * h * h * Math.max(...particles.map((i) => (p.w[i] ? norm(vectorAt(p.acceleration, i)) : 0)));
  contact.wanted = e > 0 && gap < r && approach > weight ? e * approach : hold - began;
  contact.gap = hold + RELEASE * (r - hold);
  return [contact];
}

/** How far the first went against the second in this substep, where they touch. */
function relative(p: Particles, { touch, b, sides }: Contact): Vector {
  let u: Vector = combine(
    touch.particles.map((_, k) => (sides[b[k]! > 0 ? 0 : 1]!.body ? 0 : b[k]!)),
    touch.particles.map((i) => subtract(vectorAt(p.x, i), vectorAt(p.xPrev, i))),
  );
  sides.forEach(({ body, arm }, side) => {
    if (body) u = add(u, scale(side ? -1 : 1, add(add(body.shift, body.push), cross(add(body.turn, body.twist), arm))));
  });
  return u;
}

/** A push (kg m) on the first, and its opposite on the second. */
function give(p: Particles, { touch, b, sides }: Contact, f: Vector, still: boolean): void {
  sides.forEach(({ body, arm }, side) => {
    if (!body) return;
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
  touch.particles.forEach((i, k) => {
    if (sides[b[k]! > 0 ? 0 : 1]!.body) return;
    addAt(p.x, i, scale(p.w[i]! * b[k]!, f));
    if (still) addAt(p.xPrev, i, scale(p.w[i]! * b[k]!, f));
  });
}

/** Normal push, then friction. @returns by how much it changed the way along the normal, m */
function pushOne(p: Particles, contact: Contact): number {
  const {
    n,
    touch: { staticFriction, dynamicFriction },
  } = contact;
  const W = inverseMassOf(p, contact, n);
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
    give(p, contact, subtract(drag, before), false);
  }
  return Math.abs(contact.pushed - had) * W;
}

/** Sets apart what is too near, without a velocity. @returns whether there was anything */
function release(p: Particles, contact: Contact): boolean {
  const { touch, n, b, sides } = contact;
  const W = inverseMassOf(p, contact, n);
  let gap = dot(
    n,
    combine(
      b,
      touch.particles.map((i) => subtract(vectorAt(p.x, i), vectorAt(p.x, touch.particles[3]))),
    ),
  );
  sides.forEach(({ body, arm }, side) => {
    if (body) gap += (side ? -1 : 1) * dot(n, add(body.push, cross(body.twist, arm)));
  });
  if (!(contact.gap - gap > RESIDUE * touch.thickness)) return false;
  give(p, contact, scale((contact.gap - gap) / W, n), true);
  return true;
}

/**
 * Moves the particles by push and twist, as a rotation (Cayley: half the twist), and xPrev by the part of them that
 * makes no velocity.
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
