/** Codes of what happens to a file that somebody brings along: the server says them, pages say what they mean. */

/** Why it is refused (`reason` of OBJECT_REFUSED, and of BUILD_FAILED where it cannot be what was chosen). */
export const REFUSALS = [
  /** Neither the content nor the ending is of a format that is read. */
  "FORMAT_UNKNOWN",
  /** The file breaks its format. */
  "FILE_DAMAGED",
  /** Larger, or more of something, than is allowed. */
  "TOO_LARGE",
  /** Something lies outside the file. */
  "EXTERNAL_URI",
  /** The file needs an extension or a version that is not read. */
  "NOT_SUPPORTED",
  /** Nothing in it has a surface. */
  "NO_TRIANGLES",
  /** No number, no area, no extent. */
  "GEOMETRY_INVALID",
  /** A choice of role, size or particles outside its range. */
  "CHOICE_INVALID",
  /** It has a surface, and cannot be what was chosen. */
  "ROLE_IMPOSSIBLE",
  /** It took more time or memory than there is for one file, or a defect of ours. */
  "NOT_READ",
] as const;

/** What was ignored or mended in reading it (`notes` of an object). */
export const FILE_NOTES = [
  "ANIMATIONS_IGNORED",
  "CAMERAS_IGNORED",
  "COLORS_IGNORED",
  "EXTENSIONS_IGNORED",
  "FAR_FROM_ORIGIN",
  "LIGHTS_IGNORED",
  "LINES_IGNORED",
  "MATERIALS_IGNORED",
  "PICTURE_SIMPLIFIED",
  "POSED",
  "SCENES_IGNORED",
  "TRIANGLES_DROPPED",
  "UP_ASSUMED",
  "VARIANTS_IGNORED",
] as const;

/** What was found in its surface, or done to it, when a body was made of it (`notes` of a room that is opened). */
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
