/** What is wrong with a scene: where (JSON path), the value found, and what would be right. */
export class SceneError extends Error {
  /** JSON pointer into the scene, e.g. "/bodies/0/material/poissonsRatio". */
  readonly path: string;
  readonly value: unknown;
  /** The limit or rule, in words, e.g. "less than 0.5". */
  readonly limit: string;

  constructor(path: string, value: unknown, limit: string) {
    super(`scene ${path || "/"}: ${typeof value === "string" ? value : JSON.stringify(value)} is not allowed, must be ${limit}`);
    this.name = "SceneError";
    this.path = path;
    this.value = value;
    this.limit = limit;
  }
}
