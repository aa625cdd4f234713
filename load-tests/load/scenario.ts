/**
 * A load test as a file (load-tests/scenarios/*.json): rooms, clients in each, their grabs, and the length. Checked by
 * a JSON Schema; an error names the place in the file, its value and the limit.
 */
import { readFileSync } from "node:fs";
import { Ajv, type ErrorObject } from "ajv";
import schema from "../scenarios/schema.json" with { type: "json" };

type Vec3 = [number, number, number];

/** Motion of a player's grab. */
export interface HandPlan {
  /** Grabs a point of a surface and moves it in an ellipse for `seconds`, releases it for one second, and repeats. */
  kind: "circle";
  /** Number of players with a grab in each room. */
  players: number;
  body: number;
  triangle: number;
  /** Center of the ellipse, m, relative to the room's origin. */
  center: Vec3;
  radii: Vec3;
  movesPerSecond: number;
  /** Time of one revolution, s. */
  period: number;
  /** Length of a grab, s. Default: the whole test. */
  seconds?: number;
}

export interface RoomPlan {
  /** Name of a scene file without its extension. */
  scene: string;
  count: number;
  /** Clients in each room. */
  clients: number;
  /** Number of clients that decode every frame; the others only receive, unpack the envelope and count. */
  decoding: number;
  hands?: HandPlan;
}

/** Changes during a test, per minute over all rooms. */
interface Churn {
  /** A client leaves, or disappears, and another joins. */
  clientsPerMinute: number;
  resetsPerMinute: number;
  /** A room is deleted, and another one with its scene created. */
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
  /** Time between the last join and the measurement, s. */
  settleSeconds: number;
  seconds: number;
  churn?: Churn;
}

/** An invalid scenario. */
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
 * @param name of a file in load-tests/scenarios, without its extension.
 * @throws ScenarioError; SyntaxError for invalid JSON
 */
export function readScenario(name: string): Scenario {
  return checkScenario(JSON.parse(readFileSync(new URL(`../scenarios/${name}.json`, import.meta.url), "utf8")));
}

function faultOf({ instancePath, keyword, params, data, message }: ErrorObject): ScenarioError {
  if (keyword === "required")
    return new ScenarioError(`${instancePath}/${params.missingProperty}`, undefined, "present: the field is missing");
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
      : `as in the schema: ${message?.replace(/^must (be )?/, "")}`;
  return new ScenarioError(instancePath || "/", data, limit);
}
