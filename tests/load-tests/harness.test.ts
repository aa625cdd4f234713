/** The benchmark's harness: its arguments, the file of releases, when a figure counts as moved, and its unit. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compare, describeMoves } from "../../load-tests/harness/compare.ts";
import { OptionError, readOptions } from "../../load-tests/harness/options.ts";
import {
  cellsOf,
  columnOf,
  formatReleases,
  HEAD_COLUMNS,
  parseReleases,
  putRelease,
  ReleasesError,
} from "../../load-tests/harness/releases.ts";
import { table } from "../../load-tests/harness/table.ts";
import { measureYardstick, YARDSTICK_HASH } from "../../load-tests/harness/yardstick.ts";
import { type Row, summarize } from "../../load-tests/part.ts";

const parts = [
  { name: "codec" },
  { name: "http", groups: ["rooms", "network"] },
  { name: "rooms" },
  { name: "soak", onDemand: true },
];

describe("arguments", () => {
  const refusal = (...args: string[]): string => {
    try {
      readOptions(args, parts);
    } catch (error) {
      expect(error).toBeInstanceOf(OptionError);
      return (error as Error).message;
    }
    return expect.fail(`${args.join(" ")} was accepted`);
  };

  test("without arguments: every part except those on demand, each with its default number of runs", () => {
    expect(readOptions([], parts)).toEqual({
      only: ["codec", "http", "rooms"],
      list: false,
      release: false,
      minutes: 60,
    });
  });

  test("parts by name or group, in the order of the parts, with or without an equals sign", () => {
    expect(readOptions(["--only", "soak,codec"], parts).only).toEqual(["codec", "soak"]);
    expect(readOptions(["--only=rooms", "--runs=5"], parts)).toMatchObject({ only: ["http", "rooms"], runs: 5 });
    expect(
      readOptions(["--only", "network", "--release", "--minutes", "0.5", "--json", "x.json"], parts),
    ).toMatchObject({ only: ["http"], release: true, minutes: 0.5, json: "x.json" });
    expect(readOptions(["--scenes", "drape, bunny", "--hands=0,8"], parts)).toMatchObject({
      scenes: ["drape", "bunny"],
      hands: [0, 8],
    });
  });

  test("an unusable argument is named with its value and the limit", () => {
    expect(refusal("--runs", "0")).toBe('--runs is "0", but must be an integer from 1 to 100');
    expect(refusal("--runs", "2.5")).toContain('"2.5"');
    expect(refusal("--runs", "many")).toContain('"many"');
    expect(refusal("--runs", "2", "--release")).toBe(
      '--runs is "2", but must be at least 3 with --release: a figure without a spread cannot be compared',
    );
    expect(refusal("--minutes", "1e9")).toBe('--minutes is "1e9", but must be a number from 0.2 to 1440');
    expect(refusal("--only", "codec,kernal")).toBe(
      '--only is "kernal", but must be one or more parts, separated by commas: codec, http, rooms, soak; or a group: network',
    );
    expect(refusal("--hands", "3,-1")).toBe('--hands is "-1", but must be an integer from 0 to 64');
    expect(refusal("--only", "")).toBe('--only is "", but must be followed by its value');
    expect(refusal("--json")).toBe('--json is "", but must be followed by its value');
    expect(refusal("--fast")).toBe(
      '--fast is "--fast", but must be one of --only, --runs, --json, --minutes, --pause, --scenes, --hands, --list, --release, --quick, --renew, --beside',
    );
    expect(refusal("--pause", "3601")).toBe('--pause is "3601", but must be a number from 0 to 3600');
    expect(refusal("codec")).toContain("--only codec");
  });
});

describe("arguments of the quick guard", () => {
  const figures = [{ name: "folded" }, { name: "hands" }];
  const read = (...args: string[]) => readOptions(args, parts, figures);

  test("--only names figures of the guard, not parts", () => {
    expect(read("--quick")).toMatchObject({ quick: true, only: ["folded", "hands"] });
    expect(read("--quick", "--only", "hands").only).toEqual(["hands"]);
    expect(read("--quick", "--renew")).toMatchObject({ quick: true, renew: true });
    expect(() => read("--quick", "--only", "codec")).toThrow("folded, hands");
  });

  test("a release is measured as a whole, so it accepts no other options", () => {
    expect(read("--quick", "--beside", "../other")).toMatchObject({ quick: true, beside: "../other" });
    expect(() => read("--beside", "../other")).toThrow('--beside is "../other", but must be given with --quick');
    expect(() => read("--quick", "--renew", "--beside", "x")).toThrow("without --renew");
    expect(() => read("--renew")).toThrow('--renew is "", but must be given with --quick');
    expect(() => read("--quick", "--renew", "--only", "hands")).toThrow("absent with --renew");
    expect(() => read("--quick", "--runs", "5")).toThrow(
      '--runs is "5", but must be absent with --quick, which accepts --quick, --renew, --beside, --only, --json, --list',
    );
  });
});

const measured = (row: Omit<Row, "value">, ...values: number[]) =>
  summarize(values.map((value) => ({ rows: [{ ...row, value }], yardstickMs: 4 })))[0]!;
const release = (name: string, ...cells: [string, string][]) => putRelease(parseReleases(""), name, cells);

describe("releases", () => {
  test("any cells survive writing and reading, also commas, quotes and line breaks", () => {
    const text = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r\n", " ", "é", "0") });
    fc.assert(
      fc.property(fc.uniqueArray(text, { minLength: 1, maxLength: 4 }), text, (names, cell) => {
        const columns = names.map((name) => `part/${name} hash`);
        const made = release("1.0.0", ["cpu", cell], ...columns.map((name): [string, string] => [name, cell]));
        const back = parseReleases(formatReleases(made));
        expect(back.columns).toEqual([...HEAD_COLUMNS, ...columns]);
        expect(back.rows).toHaveLength(1);
        for (const name of ["cpu", ...columns]) expect(back.rows[0]!.get(name)).toBe(cell);
      }),
    );
  });

  test("a figure is its median in yardsticks, its spread and its hash", () => {
    const summary = measured({ what: "step", unit: "ms", hash: "abcd" }, 8, 6, 12);
    expect(cellsOf("tick", summary)).toEqual([
      ["tick/step [ms]", "2"],
      ["tick/step [ms] spread", "1.5"],
      ["tick/step [ms] hash", "abcd"],
    ]);
    expect(columnOf("kernel", { what: "370,440 tetrahedra", key: "block", unit: "" })).toBe("kernel/block");
  });

  test("a release measured again keeps its place and its unmeasured columns; new columns are added at the end", () => {
    const first = release("0.1.0", ["a", "1"], ["b", "2"]);
    const second = putRelease(first, "0.2.0", [["c", "3"]]);
    const again = putRelease(second, "0.1.0", [
      ["b", "4"],
      ["d", "5"],
    ]);
    expect(formatReleases(again)).toBe(`${HEAD_COLUMNS.join(",")},a,b,c,d\n0.1.0,,,,,,,,1,4,,5\n0.2.0,,,,,,,,,,3,\n`);
    expect(parseReleases(formatReleases(again)).rows.map((row) => row.get("release"))).toEqual(["0.1.0", "0.2.0"]);
  });

  test("a broken file is rejected with the line, the field, its value and the expected form", () => {
    const text = formatReleases(release("0.1.0", ["tick/step [ms]", "2"]));
    const fault = (broken: string): string => {
      try {
        parseReleases(broken);
      } catch (error) {
        expect(error).toBeInstanceOf(ReleasesError);
        return (error as Error).message;
      }
      return expect.fail("the broken file was accepted");
    };
    expect(fault(text.replace("commit", "comit"))).toBe('releases, line 1: column 3 is "comit", but must be "commit"');
    expect(fault(text.replace(",2\n", ",fast\n"))).toBe(
      'releases, line 2: tick/step [ms] is "fast", but must be a number, or empty if it was not measured',
    );
    expect(fault(text.replace(",2\n", "\n"))).toBe(
      'releases, line 2: the number of cells is "8", but must be 9, one for each column',
    );
    expect(fault(`${text}${text.split("\n")[1]}\n`)).toBe('releases, line 3: release is "0.1.0", but must be unique');
    expect(fault(text.replace("tick/step [ms]", "cpu"))).toContain('a column\'s name is "cpu"');
    expect(fault(text.replace(",2\n", ',"2" 3\n'))).toContain("line 2: a cell is");
  });
});

describe("comparison", () => {
  const row = (cells: [string, string][]) => release("0.1.0", ...cells).rows[0]!;
  const step = { what: "step", unit: "ms" };

  test("a figure moved if the medians differ by more than the larger spread", () => {
    const kind = (spread: string, ...values: number[]) =>
      compare(
        "tick",
        [measured(step, ...values)],
        row([
          ["tick/step [ms]", "2"],
          ["tick/step [ms] spread", spread],
        ]),
      )[0]!.kind;
    expect(kind("0.1", 8.2, 8.2, 8.2)).toBe("within noise");
    expect(kind("0.1", 8.8, 8.8, 8.8)).toBe("moved");
    expect(kind("0.3", 8.8, 8.8, 8.8)).toBe("within noise");
    expect(kind("0.1", 7.9, 8.8, 9.3)).toBe("within noise");
    expect(kind("0.1", 7, 7.1, 7.2)).toBe("moved");
    expect(kind("0", 8, 8, 8)).toBe("within noise");
  });

  test("the list names moved figures with their change, counts new figures, and names every changed hash", () => {
    const before = row([
      ["tick/step [ms]", "2"],
      ["tick/step [ms] spread", "0.1"],
      ["tick/step [ms] hash", "aaaa"],
      ["tick/bytes [bytes]", "0.7"],
      ["tick/bytes [bytes] spread", "0"],
      ["tick/misses", "0"],
      ["tick/misses spread", "0"],
    ]);
    const moves = compare(
      "tick",
      [
        measured({ ...step, hash: "bbbb" }, 8, 8, 8),
        measured({ what: "bytes", unit: "bytes" }, 0.56),
        measured({ what: "misses", unit: "" }, 2),
        measured({ what: "fresh", unit: "" }, 1),
      ],
      before,
    );
    const text = describeMoves("0.1.0", moves);
    expect(text.split("\n")[0]).toBe("since release 0.1.0: 2 moved, 1 within noise, 1 new");
    expect(text).toMatch(/-20\.0 % +tick\/bytes \[bytes\], noise 0\.0 %/);
    expect(text).toMatch(/another +tick\/step \[ms\]; another state hash: not the same computation/);
    expect(text).toMatch(/0 -> 2 +tick\/misses/);
    expect(text).not.toContain("fresh");
  });
});

test("the table shows warm-up and hash in columns of their own, and only if any row has them", () => {
  const lines = (row: Partial<Row>): string[] =>
    table([measured({ what: "step", unit: "ms", ...row }, 1, 3, 2)]).split("\n");
  expect(lines({})[0]).not.toMatch(/hash|warm-up/);
  expect(lines({ warmUp: 9, hash: "abcd" }).map((line) => line.trim().split(/\s+/))).toEqual([
    ["warm-up", "min", "median", "max", "unit", "hash"],
    ["step", "9", "1", "2", "3", "ms", "abcd"],
  ]);
});

test("the yardstick is an unchanged loop", () => {
  const { ms, hash } = measureYardstick();
  expect(hash).toBe(YARDSTICK_HASH);
  expect(ms).toBeGreaterThan(0);
});
