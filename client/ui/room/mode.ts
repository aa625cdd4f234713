/** Modes of the room page from its address: which parts are shown, and exhibit mode. */

import { tidyName } from "./profile.ts";

/**
 * `full`; `minimal`: only push, put in, undo and reset; `none`: only the picture, for embedding; `present`: for a big
 * screen, with the picture, the people and the invitation.
 */
const UIS = ["full", "minimal", "none", "present"] as const;

export interface Mode {
  ui: (typeof UIS)[number];
  /** Exhibit mode: time without input after which the room restarts, s. undefined: no exhibit */
  exhibitSeconds: number | undefined;
  /** The visitor's name, set by an embedding page. */
  name?: string;
  /** Invalid parameters, as messages for the author of the address. */
  problems: string[];
}

/** Bounds of exhibitSeconds, s. */
const EXHIBIT = { least: 2, most: 3600 };

/** @param search of the page's address: `?ui=minimal&exhibit=60` */
export function modeOf(search: string): Mode {
  const asked = new URLSearchParams(search);
  const mode: Mode = { ui: "full", exhibitSeconds: undefined, problems: [] };
  const ui = asked.get("ui");
  const known = UIS.find((name) => name === ui);
  if (known) mode.ui = known;
  else if (ui !== null) mode.problems.push(`ui=${ui} is unknown. Use one of: ${UIS.join(", ")}`);
  const name = tidyName(asked.get("name") ?? "");
  if (name) mode.name = name;
  const exhibit = asked.get("exhibit");
  const seconds = Number(exhibit);
  if (exhibit !== null && exhibit !== "" && seconds >= EXHIBIT.least && seconds <= EXHIBIT.most)
    mode.exhibitSeconds = seconds;
  else if (exhibit !== null)
    mode.problems.push(`exhibit=${exhibit} is out of range. Use ${EXHIBIT.least} to ${EXHIBIT.most} seconds`);
  return mode;
}
