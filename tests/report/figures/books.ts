/** Energy check for figures of motion: only inputs, moving colliders, attachments and wind may add energy. */
import { EnergyLedger, FLOWS, type Flow } from "../../../server/sim/energy/ledger.ts";
import type { Laboratory } from "../../physics/laboratory.ts";
import { check, type Check } from "./figure.ts";

/** Flows from outside the bodies. */
const OUTSIDE: ReadonlySet<Flow> = new Set<Flow>(["inputs", "attachments", "drivers", "wind"]);
/** Rounding relative to the energy in motion: float32 positions and velocities, summed over a second or more. */
const ROUNDING = 1e-6;
/** Shares below this are not named in the check. */
const LITTLE = 1e-4;

/**
 * Runs a room with an energy ledger.
 * @returns check that the bodies' total energy never exceeds its initial value plus the energy from outside; its name
 * lists the largest flows, relative to the greatest kinetic and elastic energy
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
  return check(`${name}: energy created, relative to the energy in motion${by}`, most / scale, {
    high: ROUNDING,
    basis: "books",
  });
}
