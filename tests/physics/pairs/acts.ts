/**
 * Acts of the matrix. Each takes two kinds and returns the measured values with their limits. a is the upper, the
 * moving, the pulled or the first body.
 */
import type { Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { chimney, CLEAR, crossed, EXACT, floor, G, HZ, MOMENTUM, Stage, type Measure } from "./act.ts";
import { block, FRICTION, heightOf, isRound, isSheet, type Kind, KINDS, massOf, SIZE, slab, SLAB } from "./kinds.ts";
import { norm, subtract } from "../../../server/sim/reference/vector.ts";

/** Partner of a body: another body, or a collider. */
export type Partner = Kind | "plane" | "triangles";
export interface Act {
  pairs: (readonly [Kind, Partner])[];
  run(a: Kind, b: Partner): Promise<Measure[]>;
}

const isKind = (partner: Partner): partner is Kind => partner !== "plane" && partner !== "triangles";
const SOLID = KINDS.filter((kind) => kind !== "smoothed particles");
const isElastic = (kind: Partner): boolean =>
  kind === "implicit solid" || kind === "compliant solid" || kind === "finite elements";
const ordered = (kinds: readonly Kind[], partners: readonly Partner[]): [Kind, Partner][] =>
  kinds.flatMap((a) => partners.map((b): [Kind, Partner] => [a, b]));
const unordered = (kinds: readonly Kind[]): [Kind, Kind][] =>
  kinds.flatMap((a, n) => kinds.slice(n).map((b): [Kind, Kind] => [a, b]));
const COLLIDERS = ["plane", "triangles"] as const;

/** Turns sheets across the x axis. */
const facing = (kind: Kind): { rotate?: Vec3 } => (isSheet(kind) ? { rotate: [0, 0, 90] } : {});

/** The floor: a plane, or a level surface of triangles of 0.25 m. */
function ground(partner: Partner, friction: number): Collider {
  if (partner !== "triangles") return floor(friction);
  const mesh = { type: "grid", size: [4, 2], cells: [16, 8] };
  return { type: "mesh", name: "ground", mesh, friction } as Collider;
}

/** Round bodies, and whatever lies on them, stand in a chimney. */
const walls = (a: Kind, b: Partner): Collider[] =>
  isRound(a) || (isKind(b) && isRound(b)) ? chimney(SIZE / 2 + CLEAR / 2) : [];

/** a on b, and b on the floor; or a on a collider. @param gap between them, m */
function tower(a: Kind, b: Partner, gap: number, factors: readonly [number, number] = [1, 1]): Body[] {
  if (!isKind(b)) return [block(a, { name: "a", center: [0, gap + heightOf(a) / 2, 0], factor: factors[0] })];
  const top = gap + heightOf(b);
  return [
    block(a, { name: "a", center: [0, top + gap + heightOf(a) / 2, 0], factor: factors[0] }),
    block(b, { name: "b", center: [0, gap + heightOf(b) / 2, 0], factor: factors[1] }),
  ];
}

/** Stands still after it has settled. */
async function stand(
  a: Kind,
  b: Partner,
  { factors = [1, 1], wind, settling = settlingOf(b) }: Standing = {},
): Promise<Measure[]> {
  const stage = await Stage.open(tower(a, b, CLEAR, factors), {
    gravity: G,
    rests: true,
    damping: 1,
    colliders: [ground(b, FRICTION), ...walls(a, b)],
    ...(wind && { wind: { velocity: wind } }),
  });
  stage.run(settling);
  const creep = stage.creep(1);
  return [creep, crossed(stage.crossed)];
}
interface Standing {
  factors?: readonly [number, number];
  wind?: Vec3;
  settling?: number;
}
/**
 * Time to settle, s. A load on a shell under pressure, and soft bodies a hundred times as heavy as their neighbor,
 * swing by 10 to 40 mm at first, and the stage's damping of 1/s halves that every 1.4 s.
 */
const LONG = 16;
const settlingOf = (b: Partner): number => (b === "pressure shell" ? LONG : 8);

const rest: Act = { pairs: [...ordered(KINDS, KINDS), ...ordered(KINDS, COLLIDERS)], run: stand };

/**
 * No sheet and no shell weighs ten times as much as a solid. A load of 100 times its weight, 3.9 kN, topples an elastic
 * block: with a rigid body of its height on it, the block's critical load is 3.0 kN (Euler's column on shear springs,
 * tan(k L) = 1/(k L / 2), k^2 = P/EI, 1/P + 1/(5/6 G A); Timoshenko and Gere 1961). So such a block is lighter instead.
 */
const stack = (ratio: number): Act => ({
  pairs: ordered(
    SOLID.filter((kind) => !isSheet(kind) && kind !== "pressure shell"),
    SOLID,
  ),
  run: (a, b) => {
    const lighter = isElastic(b) ? Math.min(1, 10 / ratio) : 1;
    const factors = [(lighter * ratio * massOf(b as Kind)) / massOf(a), lighter] as const;
    return stand(a, b, { factors, ...(ratio > 10 && (isElastic(a) || isElastic(b)) && { settling: LONG }) });
  },
});

const wind: Act = {
  pairs: [...ordered(SOLID, SOLID), ...ordered(SOLID, COLLIDERS)],
  run: (a, b) => stand(a, b, { wind: [2, 0, 0] }),
};

/** Terminal speed of a fall through air, against the drag of the body's shadow. */
const air: Act = {
  pairs: SOLID.map((kind) => [kind, "plane"] as const),
  async run(a) {
    const factor = isSheet(a) || a === "pressure shell" ? 1 : 0.02;
    const stage = await Stage.open([block(a, { name: "a", center: [0, 0, 0], factor })], { gravity: G, wind: {} });
    stage.run(6);
    const { triangles } = stage.lab.created.bodies[0]!;
    const x = stage.lab.positions(0);
    const at = (i: number, r: number): number => x[3 * triangles[i]! + r]!;
    let shadow = 0;
    for (let t = 0; t < triangles.length; t += 3) {
      const [ux, uz] = [at(t + 1, 0) - at(t, 0), at(t + 1, 2) - at(t, 2)];
      const [wx, wz] = [at(t + 2, 0) - at(t, 0), at(t + 2, 2) - at(t, 2)];
      shadow += Math.abs(uz * wx - ux * wz) / (isSheet(a) ? 2 : 4);
    }
    const right = Math.sqrt((2 * stage.mass(0) * G) / (1.2 * 1.2 * shadow));
    const measured = -stage.velocity(0)[1];
    return [{ law: "terminal speed", value: Math.abs(measured / right - 1), limit: 0.01, unit: "" }];
  },
};

/** Speed of the sliding or rolling body at first, m/s. */
const SPEED = 1;

/** a on a slab that slides freely on a smooth floor; or a on a collider. */
async function onSlab(a: Kind, b: Partner, rolls: boolean): Promise<Stage> {
  const start = -0.15;
  const under = isKind(b) ? CLEAR + (isSheet(b) ? 0 : SLAB[1]) : 0;
  const bodies = [block(a, { name: "a", center: [start, under + CLEAR + heightOf(a) / 2, 0] })];
  const level = isKind(b) && isSheet(b) ? 0.001 : CLEAR + SLAB[1] / 2;
  if (isKind(b)) bodies.push(slab(b, { name: "b", center: [0, level, 0] }));
  const stage = await Stage.open(bodies, {
    gravity: G,
    colliders: [ground(b, isKind(b) && !isSheet(b) ? 0 : FRICTION)],
  });
  stage.run(1);
  stage.push(0, [SPEED, 0, 0], rolls ? [0, 0, -SPEED / (SIZE / 2)] : [0, 0, 0]);
  return stage;
}

/** Mass against which a slides: of fixed partners infinite. */
const carrier = (stage: Stage, b: Partner): number => (isKind(b) && !isSheet(b) ? stage.mass(1) : Infinity);

/**
 * Runs until a stops relative to its carrier, and on. Friction is mu times the normal force. Its impulse carries the
 * weight, and changes the vertical momentum m u of a body that still bounces:
 *   p(t) = p0 - mu (1 + m/M) (g t + u(t) - u0),  s(t) = p0 t - mu (1 + m/M) (g t²/2 + y(t) - y0 - u0 t)
 * @param slows mu (1 + m/M)
 * @param p0 pace at the start, m/s
 * @returns s where p = 0
 */
function wayOfCoulomb(stage: Stage, slows: number, p0: number): number {
  const [u0, y0] = [stage.velocity(0)[1], stage.center(0)[1]];
  let [p1, s1, right] = [p0, 0, NaN];
  stage.run(0.4, (tick) => {
    const t = tick / HZ;
    const p = p0 - slows * (G * t + stage.velocity(0)[1] - u0);
    if (Number.isNaN(right) && p <= 0) right = s1 + p1 ** 2 / (2 * HZ * (p1 - p));
    p1 = p;
    s1 = p0 * t - slows * ((G * t * t) / 2 + stage.center(0)[1] - y0 - u0 * t);
  });
  return right;
}

/** Coulomb's law. A ball slides until it rolls, which happens at t = v / (mu g (7/2 + m/M)). */
const slide: Act = {
  pairs: [
    ...ordered(
      SOLID.filter((kind) => kind !== "pressure shell"),
      SOLID.filter((kind) => !isRound(kind)),
    ),
    ...ordered(
      SOLID.filter((kind) => kind !== "pressure shell"),
      COLLIDERS,
    ),
  ],
  async run(a, b) {
    const stage = await onSlab(a, b, false);
    const way = (): number => stage.center(0)[0] - (isKind(b) ? stage.center(1)[0] : 0);
    const pace = (): number => stage.velocity(0)[0] - (isKind(b) ? stage.velocity(1)[0] : 0);
    const impulse = (): number =>
      [0, 1].reduce((sum, n) => sum + (n === 0 || isKind(b) ? stage.mass(n) * stage.velocity(n)[0] : 0), 0);
    const [from, before] = [way(), impulse()];
    const share = stage.mass(0) / carrier(stage, b);
    const right = wayOfCoulomb(stage, FRICTION * (1 + share), pace());
    const measures: Measure[] = [];
    if (a === "ball") {
      const t = SPEED / (FRICTION * G * (3.5 + share));
      const rolling = SPEED - FRICTION * G * (1 + share) * t;
      measures.push({ law: "speed of rolling", value: Math.abs(pace() / rolling - 1), limit: EXACT, unit: "" });
    } else
      measures.push({ law: "Coulomb's distance", value: Math.abs((way() - from) / right - 1), limit: EXACT, unit: "" });
    measures.push(crossed(stage.crossed));
    if (share > 0)
      measures.push({ law: "momentum", value: Math.abs(impulse() / before - 1), limit: MOMENTUM, unit: "" });
    return measures;
  },
};

const roll: Act = {
  pairs: [...ordered(["ball"], [...SOLID.filter((kind) => !isRound(kind)), ...COLLIDERS])],
  async run(a, b) {
    const stage = await onSlab(a, b, true);
    const from = stage.center(0)[0];
    stage.run(0.3);
    const right = 0.3 * SPEED;
    const value = Math.abs((stage.center(0)[0] - from) / right - 1);
    return [{ law: "distance of rolling", value, limit: EXACT, unit: "" }, crossed(stage.crossed)];
  },
};

/** Free bodies that meet at 2 m/s. @param shift of b to the side, m */
async function meet(a: Kind, b: Kind, shift: Vec3): Promise<Measure[]> {
  const apart = SIZE / 2 + 0.02;
  const stage = await Stage.open(
    [
      block(a, { name: "a", center: [-apart, 0, 0], ...facing(a) }),
      block(b, { name: "b", center: [apart + shift[0], shift[1], shift[2]], ...facing(b) }),
    ],
    {},
  );
  stage.run(0.5);
  stage.push(0, [1, 0, 0]);
  stage.push(1, [-1, 0, 0]);
  return stage.collide(0.5, true);
}
const headOn: Act = { pairs: unordered(KINDS), run: (a, b) => meet(a, b as Kind, [0, 0, 0]) };
const offCentre: Act = { pairs: unordered(KINDS), run: (a, b) => meet(a, b as Kind, [0, 0.07, 0.04]) };

/** Kept distance between surfaces to which bodies that touch exactly are lifted, m. */
const LIFT = 0.004;

/**
 * Everything touches exactly. Lifting to the kept distance may do its work, and nothing else may, except the pressure
 * of shells, which inflate at the start.
 */
const exact: Act = {
  pairs: [...ordered(SOLID, SOLID), ...ordered(SOLID, COLLIDERS)],
  async run(a, b) {
    const stage = await Stage.open(tower(a, b, 0), {
      gravity: G,
      rests: true,
      damping: 1,
      colliders: [ground(b, FRICTION), ...walls(a, b)],
    });
    const start = stage.energy();
    const lifted = stage.lab.created.bodies.reduce((sum, _, n) => sum + stage.mass(n) * G * LIFT, 0);
    stage.run(settlingOf(b));
    const gained = { law: "energy gained", value: (stage.highest - start) / lifted, limit: 2, unit: "lifts" };
    const inflates = a === "pressure shell" || b === "pressure shell";
    return [stage.creep(1), ...(inflates ? [] : [gained]), crossed(stage.crossed)];
  },
};

/** Largest speed at which bodies that touch side by side may leave each other, m/s. */
const LEAVE = 0.02;

/** Shells are left out: they inflate at the start, and push their neighbor away. */
const beside: Act = {
  pairs: unordered(SOLID.filter((kind) => kind !== "pressure shell")),
  async run(a, b) {
    const half = (kind: Kind): number => (isSheet(kind) ? 0 : SIZE / 2);
    const stage = await Stage.open(
      [
        block(a, { name: "a", center: [-half(a), 0, 0], ...facing(a) }),
        block(b as Kind, { name: "b", center: [half(b as Kind), 0, 0], ...facing(b as Kind) }),
      ],
      {},
    );
    let fastest = 0;
    stage.run(1, () => {
      for (const body of [0, 1]) fastest = Math.max(fastest, norm(stage.velocity(body)));
    });
    return [{ law: "parting", value: fastest, limit: LEAVE, unit: "m/s" }, crossed(stage.crossed)];
  },
};

/** A hand pulls a through b. */
const hand: Act = {
  pairs: ordered(SOLID, KINDS),
  async run(a, b) {
    const side = SIZE / 2 + 0.02;
    const stage = await Stage.open(
      [
        block(a, { name: "a", center: [-side, CLEAR + heightOf(a) / 2, 0] }),
        block(b as Kind, { name: "b", center: [side, CLEAR + heightOf(b as Kind) / 2, 0] }),
      ],
      { gravity: G, colliders: [floor(FRICTION)] },
    );
    stage.run(0.3);
    const from = stage.center(0);
    const target: Vec3 = [0.5, SIZE / 2, 0];
    stage.lab.run(1, [{ type: "grab", member: 1, grab: 0, body: 0, triangle: 0, u: 0.3, v: 0.3, target }]);
    stage.run(1);
    const moved = norm(subtract(stage.center(0), from));
    return [{ law: "slowness", value: 0.05 / moved, limit: 1, unit: "" }, crossed(stage.crossed)];
  },
};

/** b hangs on a in free flight, and a is pushed away from it. */
const attachment: Act = {
  pairs: unordered(SOLID),
  async run(a, b) {
    const apart = SIZE / 2 + 0.03;
    const near = (kind: Kind, sign: number): Vec3 => [sign * (isSheet(kind) ? apart : apart - SIZE / 2), 0, 0];
    const stage = await Stage.open(
      [
        block(a, { name: "a", center: [-apart, 0, 0], ...facing(a) }),
        block(b as Kind, { name: "b", center: [apart, 0, 0], ...facing(b as Kind) }),
      ],
      { attachments: [{ from: { body: "a", near: near(a, -1) }, to: { body: "b", near: near(b as Kind, 1) } }] },
    );
    stage.run(0.5);
    stage.push(0, [-1, 0, 0]);
    return stage.collide(0.5, false);
  },
};

/** A platform rises by 0.2 m in a second. */
const mover: Act = {
  pairs: ordered(KINDS, SOLID),
  async run(a, b) {
    const [begin, rise] = [settlingOf(b), 0.2];
    const platform: Collider = {
      type: "box",
      name: "platform",
      center: [0, -0.1, 0],
      halfExtents: [1, 0.1, 1],
      friction: FRICTION,
      motion: { keys: [{ time: 0 }, { time: begin }, { time: begin + 1, translate: [0, rise, 0] }] },
    };
    const stage = await Stage.open(tower(a, b, CLEAR), {
      gravity: G,
      damping: 1,
      colliders: [platform, ...walls(a, b)],
    });
    stage.run(begin);
    const before = stage.center(0)[1];
    stage.run(3);
    const value = Math.abs((stage.center(0)[1] - before) / rise - 1);
    return [{ law: "lift", value, limit: EXACT, unit: "" }, crossed(stage.crossed)];
  },
};

export const ACTS: Record<string, Act> = {
  rest,
  "stack 10:1": stack(10),
  "stack 100:1": stack(100),
  slide,
  roll,
  "head-on": headOn,
  "off-centre": offCentre,
  "exact start": exact,
  "exact start, side by side": beside,
  "hand pulls one": hand,
  attachment,
  "moving collider": mover,
  wind,
  "fall in air": air,
};
