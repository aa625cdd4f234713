/**
 * A load test as a file (load-tests/scenarios/*.json): which rooms, how many clients in each, what their hands do, how
 * long. Checked by JSON Schema; an error names the place in the file, the value there and the limit.
 */
import { readFileSync } from "node:fs";
import { Ajv, type ErrorObject } from "ajv";
import schema from "../scenarios/schema.json" with { type: "json" };

type Vec3 = [number, number, number];

/** What a player's hand does. */
export interface HandPlan {
  /** Holds a point of a surface and leads it round an ellipse, for `seconds`, lets go for one, and takes it again. */
  kind: "circle";
  /** Players of each room that do so. */
  players: number;
  body: number;
  triangle: number;
  /** Of the ellipse, m, from the room's origin. */
  center: Vec3;
  radii: Vec3;
  movesPerSecond: number;
  /** Of one round. */
  period: number;
  /** How long a hold lasts. Default: the whole test. */
  seconds?: number;
}

export interface RoomPlan {
  /** Name of a scene file without its ending. */
  scene: string;
  count: number;
  /** Clients in each. */
  clients: number;
  /** How many of them decode every frame; the others receive, unpack the envelope and count. */
  decoding: number;
  hands?: HandPlan;
}

/** What comes and goes during a test, per minute over all rooms. */
interface Churn {
  /** A client leaves, or loses its line without a word, and another comes. */
  clientsPerMinute: number;
  resetsPerMinute: number;
  /** A room is deleted and another of its scene opened. */
  roomsPerMinute: number;
}

export interface Scenario {
  title: string;
  /** `bundled`: the server's own scenes; `load`: load-tests/scenes. */
  scenes: "bundled" | "load";
  rooms: RoomPlan[];
  /** Threads that step rooms. */
  workers: number;
  sendHz?: number;
  /** Before the measurement begins, after everybody has come, s. */
  settleSeconds: number;
  seconds: number;
  churn?: Churn;
}

/** A scenario that cannot be used. */
export class ScenarioError extends Error {
  readonly path: string;
  readonly value: unknown;
  readonly limit: string;

  constructor(path: string, value: unknown, limit: string) {
    super(`scenario ${path}: ${JSON.stringify(value)} is not allowed, must be ${limit}`);
    this.name = "ScenarioError";
    this.path = path;
    this.value = value;
    this.limit = limit;
  }
}

const validate = new Ajv({ verbose: true, allErrors: false, strict: false }).compile<Scenario>(schema);

/** @throws ScenarioError */
export function checkScenario(value: unknown): Scenario {
  if (!validate(value)) throw faultOf(validate.errors![0]!);
  value.rooms.forEach(({ clients, decoding, hands }, i) => {
    if (decoding > clients)
      throw new ScenarioError(`/rooms/${i}/decoding`, decoding, `at most the room's clients, ${clients}`);
    if (hands && hands.players > clients)
      throw new ScenarioError(`/rooms/${i}/hands/players`, hands.players, `at most the room's clients, ${clients}`);
  });
  return value;
}

/**
 * @param name of a file in load-tests/scenarios, without its ending.
 * @throws ScenarioError; SyntaxError for what is no JSON
 */
export function readScenario(name: string): Scenario {
  return checkScenario(JSON.parse(readFileSync(new URL(`../scenarios/${name}.json`, import.meta.url), "utf8")));
}

function faultOf({ instancePath, keyword, params, data, message }: ErrorObject): ScenarioError {
  if (keyword === "required")
    return new ScenarioError(`${instancePath}/${params.missingProperty}`, undefined, "there: the field is missing");
  if (keyword === "additionalProperties") {
    const name = params.additionalProperty as string;
    return new ScenarioError(
      `${instancePath}/${name}`,
      (data as Record<string, unknown>)[name],
      "absent: no such field here",
    );
  }
  const limit =
    keyword === "enum"
      ? `one of ${(params.allowedValues as unknown[]).join(", ")}`
      : `what its schema says: ${message?.replace(/^must (be )?/, "")}`;
  return new ScenarioError(instancePath || "/", data, limit);
}
