/** What the page's address asks of the room page: how much of it is shown, and whether it stands alone in public. */

import { tidyName } from "./profile.ts";

/**
 * `full`; `minimal`: only push, put in and reset; `none`: only the picture, for a page that frames it; `present`: a big
 * screen, with the picture, who is there, and how to come in.
 */
const UIS = ["full", "minimal", "none", "present"] as const;

export interface Mode {
  ui: (typeof UIS)[number];
  /** Exhibit: after so long without a hand the room is as it was, s. undefined: it is nobody's exhibit */
  exhibitSeconds: number | undefined;
  /** The visitor's name, as a page that frames this one knows it. */
  name?: string;
  /** What of the address cannot be followed, for whoever wrote it. */
  problems: string[];
}

/** s */
const EXHIBIT = { least: 2, most: 3600 };

/** @param search of the page's address: `?ui=minimal&exhibit=60` */
export function modeOf(search: string): Mode {
  const asked = new URLSearchParams(search);
  const mode: Mode = { ui: "full", exhibitSeconds: undefined, problems: [] };
  const ui = asked.get("ui");
  const known = UIS.find((name) => name === ui);
  if (known) mode.ui = known;
  else if (ui !== null) mode.problems.push(`ui=${ui} is not known: ${UIS.join(", ")}`);
  const name = tidyName(asked.get("name") ?? "");
  if (name) mode.name = name;
  const exhibit = asked.get("exhibit");
  const seconds = Number(exhibit);
  if (exhibit !== null && exhibit !== "" && seconds >= EXHIBIT.least && seconds <= EXHIBIT.most)
    mode.exhibitSeconds = seconds;
  else if (exhibit !== null)
    mode.problems.push(`exhibit=${exhibit} is not allowed: ${EXHIBIT.least} to ${EXHIBIT.most} seconds`);
  return mode;
}
