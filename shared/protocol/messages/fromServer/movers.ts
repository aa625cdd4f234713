/** `movers`: moving colliders that bodies keep off their paths. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 84;

export const describe = (): field.MessageDescription => ({
  fields: [...field.integer("tick"), field.rows("movers", [...field.integer("mover"), ...field.number("x y z")])],
  meaning:
    "displacements from their paths, m, of all colliders that are off them: `mover` counts those with a `motion`, from 0. After `welcome` if there are any, then after each change",
});

export type MoverRow = readonly [mover: number, x: number, y: number, z: number];

export const encode = (tick: number, movers: readonly MoverRow[]): Uint8Array =>
  value.encoder.encode([number, tick, movers]);

interface Event {
  type: "movers";
  tick: number;
  movers: MoverRow[];
}

export const parse = ([tick, movers]: value.Values): Event => ({
  type: "movers",
  tick: value.number(tick, "tick"),
  movers: value
    .list(movers, "movers")
    .map((row) => value.list(row, "movers").map((part) => value.number(part, "movers")) as unknown as MoverRow),
});
