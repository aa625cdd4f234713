/** The mode of a room's page from its address, and the report of invalid values. */
import { expect, test } from "vitest";
import { modeOf } from "../../../../client/ui/room/mode.ts";

test("without options the page shows everything", () => {
  expect(modeOf("")).toEqual({ ui: "full", exhibitSeconds: undefined, problems: [] });
  expect(modeOf("?scene=bunny&quality=3").problems).toEqual([]);
});

test("valid options are followed, and an invalid one is reported with the valid values", () => {
  expect(modeOf("?ui=none&exhibit=60")).toEqual({ ui: "none", exhibitSeconds: 60, problems: [] });
  expect(modeOf("?name=%20Ada%20%20L%20").name).toBe("Ada L");
  expect(modeOf("?name=").name).toBeUndefined();
  expect(modeOf("?ui=present").ui).toBe("present");
  expect(modeOf("?ui=tiny")).toEqual({
    ui: "full",
    exhibitSeconds: undefined,
    problems: ["ui=tiny is unknown. Use one of: full, minimal, none, present"],
  });
  for (const value of ["", "1", "3601", "soon", "-5"])
    expect(modeOf(`?exhibit=${value}`).problems).toEqual([`exhibit=${value} is out of range. Use 2 to 3600 seconds`]);
});
