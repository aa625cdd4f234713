/** Worlds with an energy ledger, and the values that tests and figures read from it. */
import type { Scene } from "../../../shared/scene/scene.ts";
import { EnergyLedger, FLOWS, type BodyEntry, type Flow } from "../../../server/sim/energy/ledger.ts";
import type { Input } from "../../../server/sim/types.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";

export const JELLY = { density: 1000, youngsModulus: 2e4, poissonsRatio: 0.4 };
/** A cube of eight cells. @param y height of its center, m */
export const box = (name: string, size: number, y: number, material: object = JELLY): Scene["bodies"][number] =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [size, size, size], cells: [2, 2, 2] },
    transform: { translate: [0, y, 0] },
    material,
  }) as Scene["bodies"][number];

type Place = Parameters<Laboratory["put"]>[1];

/** @param place, velocity of body 0 before the ledger begins */
export async function watched(
  scene: Partial<Scene> & Pick<Scene, "bodies">,
  place?: Place,
  velocity?: Place,
): Promise<{ lab: Laboratory; books: EnergyLedger; run: (ticks: number, inputs?: readonly Input[]) => void }> {
  const lab = await laboratory(scene);
  if (place) lab.put(0, place, velocity);
  const books = new EnergyLedger(lab.created, lab.world);
  const run = (ticks: number, inputs: readonly Input[] = []): void => {
    for (let t = 0; t < ticks; t++) {
      lab.run(1, t === 0 ? inputs : []);
      books.closeTick();
    }
  };
  return { lab, books, run };
}

/** Sum of a flow over the entries from `from` on, J. */
export const sum = (books: EnergyLedger, flow: Flow, body = 0, from = 1): number =>
  books.entries.slice(from).reduce((s, e) => s + e.bodies[body]!.flows[flow], 0);
/** Last entry of a body. */
export const now = (books: EnergyLedger, body = 0): BodyEntry => books.entries.at(-1)!.bodies[body]!;
/** Largest unexplained share of all ticks and bodies. */
export const worst = (books: EnergyLedger): number =>
  Math.max(
    ...books.entries.flatMap((e) =>
      e.bodies.map(
        (b) =>
          Math.abs(b.unexplained) /
          (1e-300 +
            b.kinetic +
            b.elastic +
            Math.abs(b.gravity) +
            Math.abs(b.loads) +
            FLOWS.reduce((s, f) => s + Math.abs(b.flows[f]), 0)),
      ),
    ),
  );

/**
 * A rigid box on a hinge, two attachments at its upper edge, for two and a half swings.
 * @returns the ledger's losses to damping, gains from the hinge and losses to the time step, relative to the exact loss
 * to damping
 */
export async function pendulum(
  substeps: number,
): Promise<{ damping: number; attachments: number; solver: number; unexplained: number }> {
  const d = 0.5;
  const s = 0.2;
  const g = 9.81;
  const seconds = 2;
  const angle = 0.15;
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const scene: Partial<Scene> & Pick<Scene, "bodies"> = {
    gravity: [0, -g, 0],
    substeps,
    iterations: 4,
    bodies: [box("b", s, 0, { model: "shape-matching", mode: "rigid", density: 500, damping: d })],
    attachments: [-1, 1].map((side) => ({
      from: { body: "b", near: [0, s / 2, (side * s) / 2] as [number, number, number] },
      to: { world: [0, s / 2, (side * s) / 2] as [number, number, number] },
    })),
  };
  const { lab, books, run } = await watched(scene, ([x, y, z]) => [
    cos * x - sin * (y - s / 2),
    s / 2 + sin * x + cos * (y - s / 2),
    z,
  ]);
  const { mass, positions } = lab.created.bodies[0]!;
  run(60 * seconds);
  let ml = 0;
  let I = 0;
  mass.forEach((m, i) => {
    const x = positions[3 * i]!;
    const y = s / 2 - positions[3 * i + 1]!;
    ml += m * y;
    I += m * (x * x + y * y);
  });
  // I theta'' = -m g l sin theta - d I theta' by Runge-Kutta, with the integral of d I theta'^2
  let state = [angle, 0, 0];
  const h = seconds / 10_000;
  const f = ([a, w]: readonly number[]): number[] => [w!, (-ml * g * Math.sin(a!)) / I - d * w!, d * I * w! * w!];
  const along = (k: readonly number[], t: number): number[] => state.map((v, i) => v + t * k[i]!);
  for (let n = 0; n < 10_000; n++) {
    const k1 = f(state);
    const k2 = f(along(k1, h / 2));
    const k3 = f(along(k2, h / 2));
    const k4 = f(along(k3, h));
    state = state.map((v, i) => v + (h / 6) * (k1[i]! + 2 * k2[i]! + 2 * k3[i]! + k4[i]!));
  }
  return {
    damping: -sum(books, "damping") / state[2]!,
    attachments: sum(books, "attachments") / state[2]!,
    solver: -sum(books, "solver") / state[2]!,
    unexplained: worst(books),
  };
}
