/** A scene error: path (JSON pointer), found value, and the limit. */
export class SceneError extends Error {
  /** JSON pointer into the scene, e.g. "/bodies/0/material/poissonsRatio". */
  readonly path: string;
  /** The found value; undefined if it is missing. */
  readonly value: unknown;
  /** The limit or rule, phrased to follow "must be", e.g. "< 0.5". */
  readonly limit: string;

  constructor(path: string, value: unknown, limit: string) {
    super(
      `scene ${path || "/"}: ${value === undefined ? "missing" : `${shown(value)} is not allowed`}, must be ${limit}`,
    );
    this.name = "SceneError";
    this.path = path;
    this.value = value;
    this.limit = limit;
  }
}

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
  // numbers not as JSON, which has null for NaN; the empty string in quotes, to be visible
  const text = typeof value === "number" || (typeof value === "string" && value !== "") ? String(value) : asJson(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}
