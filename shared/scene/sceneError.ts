/** One error in a scene. */
export interface SceneFault {
  /** JSON pointer into the scene, e.g. "/bodies/0/material/poissonsRatio". */
  path: string;
  /** The found value; undefined if it is missing. */
  value: unknown;
  /** The limit or rule, phrased to follow "must be", e.g. "< 0.5". */
  limit: string;
}

/** Errors in a message; a broken file has more of one kind. */
const LISTED = 20;

/** Errors of a scene: a line each in the message. The fields are those of the first one. */
export class SceneError extends Error implements SceneFault {
  readonly path: string;
  readonly value: unknown;
  readonly limit: string;
  /** All errors, this one first. */
  readonly faults: readonly SceneFault[];

  constructor(path: string, value: unknown, limit: string, more: readonly SceneFault[] = []) {
    const faults = [{ path, value, limit }, ...more];
    const lines = faults.slice(0, LISTED).map(lineOf);
    if (faults.length > LISTED) lines.push(`and ${faults.length - LISTED} more errors`);
    super(lines.join("\n"));
    this.name = "SceneError";
    this.path = path;
    this.value = value;
    this.limit = limit;
    this.faults = faults;
  }
}

const lineOf = ({ path, value, limit }: SceneFault): string =>
  `scene ${path || "/"}: ${value === undefined ? "missing" : `${shown(value)} is not allowed`}, must be ${limit}`;

/** Characters of a value in a message: enough to identify it, and one line of a log. */
const SHOWN = 200;

/** JSON.stringify fails for deep nesting, which no valid scene has. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return Array.isArray(value) ? "[...]" : "{...}";
  }
}

function shown(value: unknown): string {
  // Numbers not as JSON, which has null for NaN; text that looks like another value in quotes.
  const plain =
    typeof value === "number" ||
    (typeof value === "string" && !["true", "false", "null"].includes(value) && Number.isNaN(Number(value)));
  const text = plain ? String(value) : asJson(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}
