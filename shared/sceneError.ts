/** What is wrong with a scene: where (JSON path), the value found, and what would be right. */
export class SceneError extends Error {
  /** JSON pointer into the scene, e.g. "/bodies/0/material/poissonsRatio". */
  readonly path: string;
  /** As found; undefined where nothing was. */
  readonly value: unknown;
  /** The limit or rule, in words that follow "must be", e.g. "< 0.5". */
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

/** Characters of a value that a message shows: enough to find it by, and one line of a log. */
const SHOWN = 200;

/** What is nested so deeply that JSON.stringify gives up was no scene anyway. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return Array.isArray(value) ? "[...]" : "{...}";
  }
}

function shown(value: unknown): string {
  // numbers not as JSON, which has null for NaN; the empty string in quotes, to be seen at all
  const text = typeof value === "number" || (typeof value === "string" && value !== "") ? String(value) : asJson(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}
