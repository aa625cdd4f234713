/** Codes for the results of reading an uploaded file: the server sends them, and pages explain them. */

/** Reasons for refusal (`reason` of OBJECT_REFUSED, and of BUILD_FAILED if the chosen role is impossible). */
export const REFUSALS = [
  /** Neither the content nor the extension is of a supported format. */
  "FORMAT_UNKNOWN",
  /** The file violates its format. */
  "FILE_DAMAGED",
  /** The file, or a count in it, exceeds a limit. */
  "TOO_LARGE",
  /** Some data lies outside the file. */
  "EXTERNAL_URI",
  /** The file needs an unsupported extension or version. */
  "NOT_SUPPORTED",
  /** The file has no triangles. */
  "NO_TRIANGLES",
  /** A number is invalid, or the area or extent is zero. */
  "GEOMETRY_INVALID",
  /** The chosen role, size or particles are out of range. */
  "CHOICE_INVALID",
  /** The surface cannot take the chosen role. */
  "ROLE_IMPOSSIBLE",
  /** Reading exceeded the time or memory limit, or failed because of a defect of ours. */
  "NOT_READ",
] as const;

/** Ignored or repaired parts of a file (`notes` of an object). */
export const FILE_NOTES = [
  "ANIMATIONS_IGNORED",
  "BORDERS_JOINED",
  "CAMERAS_IGNORED",
  "COLORS_IGNORED",
  "EXTENSIONS_IGNORED",
  "FAR_FROM_ORIGIN",
  "LIGHTS_IGNORED",
  "LINES_IGNORED",
  "MATERIALS_IGNORED",
  "NUMBERS_IGNORED",
  "PICTURE_SIMPLIFIED",
  "POLYGONS_CROSSED",
  "POLYGONS_FLAT",
  "POSED",
  "SCENES_IGNORED",
  "TRIANGLES_DROPPED",
  "UP_ASSUMED",
  "VARIANTS_IGNORED",
] as const;

/** Findings and repairs in a surface when it became a body (`notes` of a room when it is opened). */
export const SURFACE_NOTES = [
  "COARSE",
  "FLIPPED",
  "HOLES",
  "NON_MANIFOLD",
  "PIECES",
  "PIECES_JOINED",
  "SHEET",
  "SIMPLIFIED",
] as const;

/** Changes to a body so that it suits the scene (`notes` of a room when it is opened). */
export const BODY_NOTES = ["SOLVER_CHANGED"] as const;
