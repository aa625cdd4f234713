/**
 * Figure 1 of Bender et al. 2014: soft bodies through a funnel. All bodies come through, and no particle is at a place
 * that it can reach only through a wall.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Collider, Scene } from "../../../../shared/scene/scene.ts";
import { SCENES_FOLDER } from "../../../determinism/run.ts";
import { laboratory, volumeOf, type Laboratory } from "../../../physics/laboratory.ts";
import { check, type Figure, type Picture, type Progress } from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { curves, type Series } from "../drawing/plots.ts";

type Funnel = Extract<Collider, { type: "funnel" }>;
const SECONDS = 8;
const HZ = 60;
/**
 * Allowed bulge around the mouth, m: bodies half-way through swell, by less than half the radius of the smallest ball.
 */
const BULGE = 0.045;

/**
 * Signed distance of a point to the upright funnel's wall (m), and whether it is outside, above the mouth and below the
 * rim.
 */
function toWall(
  { a, b, radiusA, radiusB, thickness }: Funnel,
  [x, y, z]: readonly [number, number, number],
): { gap: number; outside: boolean } {
  const rho = Math.hypot(x - a[0], z - a[2]);
  const height = b[1] - a[1];
  const slope = radiusB - radiusA;
  const t = Math.max(0, Math.min(1, ((rho - radiusA) * slope + (y - a[1]) * height) / (slope ** 2 + height ** 2)));
  const r = rho - radiusA - t * slope;
  const s = y - a[1] - t * height;
  return {
    gap: Math.hypot(r, s) - 0.5 * thickness,
    outside: y > a[1] + BULGE && y < b[1] && rho > radiusA + (slope * (y - a[1])) / height,
  };
}

interface Passage {
  seconds: number;
  /** Number of bodies with a particle above the mouth. */
  waiting: number;
  inverted: number;
  /** Smallest and largest volume of a body relative to rest. */
  volumes: [number, number];
}

function look(
  lab: Laboratory,
  funnel: Funnel,
  rest: readonly number[],
  seconds: number,
): Passage & { gap: number; floor: number; outside: number } {
  const now = {
    seconds,
    waiting: 0,
    inverted: 0,
    volumes: [Infinity, -Infinity] as [number, number],
    gap: Infinity,
    floor: Infinity,
    outside: 0,
  };
  lab.created.bodies.forEach((body, b) => {
    const x = lab.positions(b);
    const { volume, inverted } = volumeOf(x, body.tets!);
    let above = false;
    for (let i = 0; i < x.length; i += 3) {
      const { gap, outside } = toWall(funnel, [x[i]!, x[i + 1]!, x[i + 2]!]);
      above ||= x[i + 1]! > funnel.a[1];
      now.gap = Math.min(now.gap, gap);
      now.floor = Math.min(now.floor, x[i + 1]!);
      if (outside) now.outside++;
    }
    if (above) now.waiting++;
    now.inverted += inverted;
    now.volumes = [Math.min(now.volumes[0], volume / rest[b]!), Math.max(now.volumes[1], volume / rest[b]!)];
  });
  return now;
}

export const figure: Figure = {
  id: "fig1",
  title: "Soft bodies through a funnel",
  source: "Bender et al. 2014, figure 1",
  async run(size, progress: Progress = () => {}) {
    const { $schema: _, ...scene } = JSON.parse(readFileSync(join(SCENES_FOLDER, "funnel.json"), "utf8")) as Scene & {
      $schema?: string;
    };
    const bodies = size === "full" ? scene.bodies : scene.bodies.slice(0, 2);
    const funnel = scene.colliders!.find((c) => c.type === "funnel") as Funnel;
    const lab = await laboratory({ gravity: [0, -9.81, 0], ...scene, bodies });
    const rest = lab.created.bodies.map((body, b) => volumeOf(lab.positions(b), body.tets!).volume);
    const states: Passage[] = [];
    const pictures: Picture[] = [];
    const moments = size === "full" ? [0, 0.5, 1.5, 2.5, SECONDS] : [0.5];
    let gap = Infinity;
    let floor = Infinity;
    let outside = 0;
    let events = 0;
    for (let tick = 0; tick <= SECONDS * HZ; tick++) {
      const state = look(lab, funnel, rest, tick / HZ);
      gap = Math.min(gap, state.gap);
      floor = Math.min(floor, state.floor);
      outside += state.outside;
      if (tick % 6 === 0) states.push(state);
      if (moments.includes(tick / HZ))
        pictures.push(
          photograph(lab, {
            caption: `${tick / HZ} s. The funnel's near half is not drawn.`,
            funnels: [funnel],
            ground: 0,
            width: 420,
            height: 460,
            camera: { position: [0, 1.9, 4], target: [0, 0.85, 0], fov: 34 },
          }),
        );
      if (tick < SECONDS * HZ) events += lab.run(1).length;
      if (tick % 60 === 0) progress(tick / (SECONDS * HZ), `${tick / HZ} s`);
    }
    const last = states.at(-1)!;
    const of = (pick: (s: Passage) => number): Series["points"] => states.map((s) => [s.seconds, pick(s)]);
    return {
      text: `The paper drops many armadillos through a funnel. Here ${bodies.length} soft balls (radii 9 to 12 cm, Saint Venant-Kirchhoff, 4 10^4 Pa, nu = 0.4, ${lab.created.layout.particleCount} particles) fall into one with a mouth ${2 * (funnel.radiusA - 0.5 * funnel.thickness)} m wide and a wall ${1000 * funnel.thickness} mm thick; the scene is the gallery's \`funnel\`, ${scene.substeps ?? 20} substeps of one iteration at ${HZ} Hz, ${SECONDS} s.

After every tick, all particles: the distance to the wall, exact for the cone and its round rims, must never be negative, nor the height above the floor; and none may be outside of the funnel more than ${1000 * BULGE} mm above its mouth. That place can be reached only through the wall or over the rim; a body half-way through swells around the mouth by less. At the end no body may have a particle above the mouth, no tetrahedron may be inverted, and each volume must be within 5 % of that at rest. Resting on the floor takes less than 1 %.

Limits: contacts between bodies are those of particles with triangles. Where bodies are thrown together at several meters per second, some particles enter a neighbor, and elements invert for a while and recover (second plot). A dozen bodies that fall from more than 2 m into the mouth at once may stay entangled.`,
      checks: [
        check("bodies above the mouth at the end", last.waiting, { high: 0, published: "all pass" }),
        check("smallest distance of a particle to the wall, at any time", gap, { unit: "m", low: 0 }),
        check("smallest height of a particle above the floor, at any time", floor, { unit: "m", low: 0 }),
        check("particles outside of the funnel above its mouth, over all ticks", outside, { high: 0 }),
        check("inverted elements at the end", last.inverted, { high: 0 }),
        check("smallest volume of a body at the end, over that at rest", last.volumes[0], { low: 0.95 }),
        check("largest volume of a body at the end, over that at rest", last.volumes[1], { high: 1.05 }),
        check("bodies rolled back", events, { high: 0 }),
      ],
      plots: [
        {
          caption: "Number of bodies with some part above the mouth.",
          spec: curves({ title: "time, s", zero: true }, { title: "bodies", zero: true }, [
            { name: "waiting", points: of((s) => s.waiting) },
          ]),
        },
        {
          caption: "Smallest and largest volume of a body, over that at rest.",
          spec: curves({ title: "time, s", zero: true }, { title: "volume / volume at rest" }, [
            { name: "smallest", points: of((s) => s.volumes[0]) },
            { name: "largest", points: of((s) => s.volumes[1]) },
          ]),
        },
      ],
      pictures,
    };
  },
};
