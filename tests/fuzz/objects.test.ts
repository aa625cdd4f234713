/** Damaged files of every format that visitors may upload are read, or refused with a documented error. */
import { expect, test } from "vitest";
import { damaged } from "./mutate.ts";
import { OBJECT_FORMATS } from "./objectFormats.ts";
import { Random } from "./random.ts";

test.each(OBJECT_FORMATS)(
  "$name: intact files are read, damaged ones read or refused, and both occur",
  async (format) => {
    for (const seed of format.seeds) expect(await format.read(seed)).toBe("read");
    const random = new Random(format.name.length);
    const counts = { read: 0, refused: 0 };
    for (let i = 0; i < 300; i++) {
      const input = random.pick(format.seeds);
      counts[await format.read(format.mutate(input, random) ?? damaged(input, random))]++;
    }
    expect(counts.read).toBeGreaterThan(8);
    expect(counts.refused).toBeGreaterThan(20);
  },
);
