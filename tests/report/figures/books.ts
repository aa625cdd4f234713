/** What figures of motion ask the energy books: does anything but a hand, a moving collider or the wind add energy? */
import { EnergyLedger, FLOWS, type Flow } from "../../../server/sim/energy/ledger.ts";
import type { Laboratory } from "../../physics/laboratory.ts";
import { check, type Check } from "./figure.ts";

/** From outside. */
const OUTSIDE: ReadonlySet<Flow> = new Set<Flow>(["inputs", "attachments", "drivers", "wind"]);
/** Of the energy in motion: float32 positions and velocities, summed up over a second or more. */
const ROUNDING = 1e-6;
/** What is too little to be named, likewise. */
const LITTLE = 1e-4;

/**
 * Runs a room with its books kept.
 * @returns that what all bodies hold never is above what it was in the beginning, less what came from outside; its name
 *   says who took how much, parts of the greatest kinetic and elastic energy
 */
export function bookCheck(name: string, lab: Laboratory, ticks: number): Check {
  const books = new EnergyLedger(lab.created, lab.world);
  const given = new Map<Flow, number>();
  let scale = 0;
  let held = 0;
  let most = -Infinity;
  for (let tick = 0; tick < ticks; tick++) {
    lab.run(1);
    let moving = 0;
    for (const body of books.closeTick().bodies) {
      moving += body.kinetic + body.elastic;
      for (const flow of FLOWS) {
        given.set(flow, (given.get(flow) ?? 0) + body.flows[flow]);
        if (!OUTSIDE.has(flow)) held += body.flows[flow];
      }
    }
    scale = Math.max(scale, moving);
    most = Math.max(most, held);
  }
  const causes = [...given]
    .filter(([, joules]) => Math.abs(joules) > LITTLE * scale)
    .map(([flow, joules]) => `${flow} ${(joules / scale).toPrecision(2)}`);
  const by = causes.length > 0 ? ` (${causes.join(", ")})` : "";
  return check(`${name}: energy made, part of that in motion${by}`, most / scale, { high: ROUNDING, basis: "books" });
}
