/** `spawnable`: the bodies that are out of the scene. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 73;

export const describe = (): field.MessageDescription => ({
  fields: [
    ...field.integer("tick"),
    { name: "bodies", type: "list", items: field.integer("body")[0]! },
    ...field.integer("member"),
  ],
  meaning: "the bodies that are out of the scene from the frame of `tick` on",
});

export const encode = (tick: number, bodies: Iterable<number>, member: number): Uint8Array =>
  value.encoder.encode([number, tick, [...bodies], member]);

interface Event {
  type: "spawnable";
  tick: number;
  bodies: number[];
  member: number;
}

export const parse = ([tick, bodies, member]: value.Values): Event => ({
  type: "spawnable",
  tick: value.number(tick, "tick"),
  bodies: value.list(bodies, "bodies").map((body) => value.number(body, "body")),
  member: value.number(member, "member"),
});
