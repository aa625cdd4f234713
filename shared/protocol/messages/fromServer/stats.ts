/** `stats`: load and accuracy of the room, once a second. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 70;

export const describe = (): field.MessageDescription => ({
  fields: [
    field.map("stats", [
      ...field.number("stepMs"),
      field.map("stages"),
      ...field.number("tickLatenessMs"),
      ...field.integer("clients"),
      ...field.number("kbpsOut timeDilation"),
      field.rows("methods", [...field.integer("body"), ...field.number("stepMs")]),
      field.rows("errors", [...field.integer("body"), ...field.nullable(field.number("error"))]),
    ]),
  ],
  meaning: "load and accuracy of the room, once a second",
});

export interface RoomStats {
  /** Mean time of a whole tick in the worker over the last second, ms. */
  stepMs: number;
  /** Mean of each stage, ms, by stage name. */
  stages: Record<string, number>;
  /** Largest lateness of a tick in the last second, ms. */
  tickLatenessMs: number;
  clients: number;
  /** Payload to all clients of the room together, kbit/s. */
  kbpsOut: number;
  timeDilation: number;
  /** Bodies with a method of their own that were stepped, and the mean time of one of their steps, ms. */
  methods: [body: number, stepMs: number][];
  /** Error of bodies that the scene compares with a reference: distance over their largest side; null: unknown. */
  errors: [body: number, error: number | null][];
}

export const encode = (stats: RoomStats): Uint8Array => value.encoder.encode([number, stats]);

export const parse = ([fields]: value.Values): { type: "stats"; stats: RoomStats } => ({
  type: "stats",
  stats: statsOf(value.record(fields, "stats")),
});

function statsOf(f: Record<string, unknown>): RoomStats {
  const stages: Record<string, number> = {};
  if (typeof f.stages === "object" && f.stages !== null) {
    for (const [name, ms] of Object.entries(f.stages)) if (typeof ms === "number") stages[name] = ms;
  }
  const given = (name: string, fallback: number) => (typeof f[name] === "number" ? (f[name] as number) : fallback);
  return {
    stepMs: given("stepMs", 0),
    stages,
    tickLatenessMs: given("tickLatenessMs", 0),
    clients: given("clients", 0),
    kbpsOut: given("kbpsOut", 0),
    timeDilation: given("timeDilation", 1),
    methods: value.list(f.methods ?? [], "stats").map(value.pair),
    errors: value.list(f.errors ?? [], "stats").map((row) => {
      const [body, error] = value.list(row, "stats");
      return [value.number(body, "stats"), error === null ? null : value.number(error, "stats")];
    }),
  };
}
