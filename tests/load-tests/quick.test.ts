/** The quick guard: every figure can be measured, and it judges the measurements correctly. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runChild } from "../../load-tests/harness/child.ts";
import { readEnvironment } from "../../load-tests/harness/environment.ts";
import { guardBeside } from "../../load-tests/quick/beside.ts";
import { FIGURES } from "../../load-tests/quick/figures.ts";
import { guard, judge, type Reading, readRelease, type Release, renew } from "../../load-tests/quick/guard.ts";
import { repeat, shortest } from "../../load-tests/quick/repeat.ts";
import { testFolder } from "../support/testFolder.ts";

test("there are at most fifteen figures, and the committed release has each of them", () => {
  const names = FIGURES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeLessThanOrEqual(15);
  const release = JSON.parse(
    readFileSync(new URL("../../load-tests/release.json", import.meta.url), "utf8"),
  ) as Release;
  expect(Object.keys(release.figures)).toEqual(names);
  for (const { value, noise } of Object.values(release.figures)) {
    expect(value).toBeGreaterThan(0);
    expect(noise).toBeLessThan(0.15);
  }
});

test.each(FIGURES.map((figure) => [figure.name, figure] as const))("%s runs once", async (_, figure) => {
  const result = await figure.measure({ once: true });
  if ("bytes" in result) expect(result.bytes).toBeGreaterThan(0);
  else expect(result).toMatchObject({ repetitions: 1, ms: expect.any(Number), share: expect.any(Number) });
});

describe("repetitions", () => {
  test("repeat the same pieces of work, and the shortest time of each piece counts", async () => {
    let pieces = 0;
    const { ms, yardstickMs, repetitions } = await repeat(
      async (time) => {
        expect(await time(() => 7)).toBe(7);
        await time(async () => void (pieces += 1));
      },
      {},
      { least: 2, most: 4 },
    );
    expect(repetitions).toBe(4);
    expect(pieces).toBe(4);
    expect(ms).toBeGreaterThanOrEqual(0);
    expect(yardstickMs).toBeGreaterThan(0);
  });

  test("reject work that has other pieces the second time", async () => {
    let runs = 0;
    const work = repeat(async (time) => {
      for (let i = 0; i <= runs; i++) await time(() => {});
      runs += 1;
    }, {});
    await expect(work).rejects.toThrow("repetition 1: 2 pieces, but the first one had 1");
  });

  test("the shortest sample counts unless the clock did not advance during it", () => {
    expect(shortest([5, 4, 6])).toBe(4);
    expect(shortest([5, 3, 6])).toBe(5);
    expect(shortest([0, 5, 6])).toBe(5);
    expect(shortest([3])).toBe(3);
  });
});

describe("the guard", () => {
  const figures = ["a", "b", "c"].map((name) => ({ name, about: `figure ${name}` }));
  const only = ["a", "b", "c"];
  const environment = readEnvironment();
  const reading = (value: number, more: Partial<Reading> = {}): Reading => ({ value, unit: "yardsticks", ...more });
  let folder: string;
  let path: string;
  let lines: string[];
  beforeEach(() => {
    folder = testFolder("guard");
    path = join(folder, "release.json");
    lines = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const released = (cpu = environment.cpu): void => {
    const figure = { value: 10, unit: "yardsticks" as const, noise: 0.07, hash: "aa" };
    const release: Release = { ...environment, cpu, figures: { a: figure, b: figure, c: { ...figure, noise: 0 } } };
    writeFileSync(path, JSON.stringify(release));
  };
  /** Readings by figure, one for each measurement; later measurements repeat the last one. */
  const run = (readings: Record<string, (number | Error)[]>) => {
    const times: Record<string, number> = {};
    const measure = async (name: string): Promise<Reading> => {
      const list = readings[name]!;
      const next = list[Math.min((times[name] = (times[name] ?? 0) + 1), list.length) - 1]!;
      if (next instanceof Error) throw next;
      return reading(next);
    };
    return guard({ figures, only, environment, path, measure, print: (line) => lines.push(line) }).then((report) => ({
      ...report,
      times,
    }));
  };

  test("names a figure that stays slower than its noise, with the factor", async () => {
    released();
    const { slower, failed, times } = await run({ a: [10.3], b: [11.5], c: [10.1] });
    expect(slower).toEqual(["b"]);
    expect(failed).toEqual({});
    expect(times).toEqual({ a: 1, b: 3, c: 1 });
    expect(lines.find((line) => line.startsWith("  b"))).toContain("SLOWER x 1.15");
    expect(lines.at(-1)).toContain("SLOWER: b x 1.15");
  });

  test("takes the best of three measurements of a suspect figure", async () => {
    released();
    const { slower, figures, times } = await run({ a: [12, 13, 10.2], b: [9], c: [10] });
    expect(slower).toEqual([]);
    expect(times.a).toBe(3);
    expect(figures.a!.value).toBe(10.2);
    expect(lines.at(-1)).toContain("none slower");
  });

  test("continues after a failed figure, and names it", async () => {
    released();
    const { slower, failed, figures } = await run({ a: [new Error("2.27 GB > 2 GiB")], b: [12], c: [10] });
    expect(failed).toEqual({ a: "2.27 GB > 2 GiB" });
    expect(slower).toEqual(["b"]);
    expect(Object.keys(figures)).toEqual(["b", "c"]);
    expect(lines.at(-1)).toContain("FAILED: a");
  });

  test("names a figure of the release that is not measured any more", async () => {
    released();
    const release = readRelease(path)!;
    writeFileSync(path, JSON.stringify({ ...release, figures: { ...release.figures, d: release.figures.a } }));
    const { failed } = await run({ a: [10], b: [10], c: [10] });
    expect(failed).toEqual({ d: expect.stringContaining("MISSED") });
  });

  test("judges times more loosely on another processor, but bytes equally", async () => {
    released("another");
    expect((await run({ a: [13], b: [14], c: [10] })).slower).toEqual(["b"]);
    const bytes = { value: 1000, unit: "bytes" as const, noise: 0 };
    expect(judge({ value: 1020, unit: "bytes" }, bytes, true).slower).toBe(true);
    expect(judge({ value: 1010, unit: "bytes" }, bytes, true).slower).toBe(false);
  });

  test("judges more loosely beside other processes, but still detects a loss of 15 %", () => {
    const figure = { value: 10, unit: "yardsticks" as const, noise: 0.02 };
    const slower = (value: number, share: number): boolean => judge(reading(value, { share }), figure).slower;
    expect([slower(10.6, 1), slower(10.6, 0.5), slower(10.6, 0.1)]).toEqual([true, false, false]);
    expect([slower(11.5, 1), slower(11.5, 0.5), slower(11.5, 0.1)]).toEqual([true, true, true]);
    const unrepeated = (value: number, share: number): boolean =>
      judge(reading(value, { share, repetitions: 1 }), figure).slower;
    expect([unrepeated(10.7, 1), unrepeated(10.9, 1), unrepeated(11.5, 0.1)]).toEqual([false, true, true]);
  });

  test("counts NaN as slower, and reports a changed hash", () => {
    const figure = { value: 10, unit: "yardsticks" as const, noise: 0.04, hash: "aa" };
    expect(judge(reading(NaN), figure).slower).toBe(true);
    expect(judge(reading(10, { hash: "bb" }), figure)).toMatchObject({ slower: false, otherHash: true });
    expect(judge(reading(10, { hash: "aa" }), figure).otherHash).toBe(false);
  });

  test("without a release every figure is new, and none is slower", async () => {
    const { slower, failed } = await run({ a: [10], b: [1], c: [2] });
    expect([slower, failed]).toEqual([[], {}]);
    expect(lines[0]).toContain("nothing to compare with");
  });

  test("a release has the median and the spread of the three best rounds of five, and is not written if one round fails", async () => {
    let calls = 0;
    const measure = async (): Promise<Reading> => reading([10, 12, 11.5, 10.5, 13][Math.floor(calls++ / 3)]!);
    await renew({ figures, environment, path, measure, print: (line) => lines.push(line) });
    const { commit, figures: written } = readRelease(path)!;
    expect(commit).toBe(environment.commit);
    expect(written.a).toEqual({ value: 10.5, unit: "yardsticks", noise: 0.1429 });
    expect(lines.join("\n")).toContain("renew on a quieter machine");
    rmSync(path);
    const broken = renew({ figures, environment, path, measure: () => Promise.reject(new Error("out of memory")) });
    await expect(broken).rejects.toThrow("a FAILED: out of memory");
    expect(readRelease(path)).toBeUndefined();
  });
});

describe("the guard beside another checkout", () => {
  const figures = [{ name: "a", about: "figure a" }];
  const environment = readEnvironment();
  /** Ratios of the five rounds, and the other checkout's values. */
  const run = async (ratios: readonly number[], theirs: readonly number[]) => {
    const lines: string[] = [];
    const asked: (string | undefined)[] = [];
    const measure = async (_: string, checkout?: string): Promise<Reading> => {
      const round = (asked.push(checkout) - 1) >> 1;
      const value = theirs[round]! * (checkout === undefined ? ratios[round]! : 1);
      return { value, unit: "yardsticks", hash: checkout === undefined ? "aa" : "bb" };
    };
    const print = (line: string): void => void lines.push(line);
    return {
      ...(await guardBeside({ figures, only: ["a"], environment, other: "/other", measure, print })),
      lines,
      asked,
    };
  };

  test("measures both in turn, and names a figure that is slower in most rounds", async () => {
    const { slower, lines, asked } = await run([1.15, 1.15, 1.15, 1.15, 1.15], [10, 10, 10.1, 10, 10]);
    expect(asked).toEqual(Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? "/other" : undefined)));
    expect(slower).toEqual(["a"]);
    expect(lines.find((line) => line.startsWith("  a"))).toContain("SLOWER x 1.15; other bits");
  });

  test("a machine that changes between two measurements makes nothing slower", async () => {
    // The other checkout alone meets the calm moment, or the machine becomes slow half-way.
    expect((await run([1, 1, 2, 1, 1], [20, 20, 10, 20, 20])).slower).toEqual([]);
    expect((await run([1, 2, 1, 1, 1], [10, 10, 20, 20, 20])).slower).toEqual([]);
    expect((await run([1.15, 1.15, 1.15, 1.15, 1.15], [10, 20, 30, 20, 10])).slower).toEqual(["a"]);
  });

  test("a figure that fails in either checkout is named", async () => {
    const measure = (_: string, checkout?: string): Promise<Reading> =>
      checkout === undefined
        ? Promise.resolve({ value: 1, unit: "bytes" })
        : Promise.reject(new Error("ended with code 1"));
    const { failed } = await guardBeside({
      figures,
      only: ["a"],
      environment,
      other: "/other",
      measure,
      print: () => {},
    });
    expect(failed).toEqual({ a: "ended with code 1" });
  });
});

test("a child that ends without a report is an error that tells its exit code or signal", async () => {
  const folder = testFolder("child");
  const program = (name: string, text: string): URL => {
    writeFileSync(join(folder, name), text);
    return pathToFileURL(join(folder, name));
  };
  const report = program("report.mjs", "process.send(process.argv[2]);");
  expect(await runChild(report, ["whole"], 60)).toBe("whole");
  await expect(runChild(program("exit.mjs", "process.exit(3);"), [], 60)).rejects.toThrow("ended with code 3");
  await expect(runChild(program("hang.mjs", "setInterval(() => {}, 1000);"), [], 0.5)).rejects.toThrow("limit 0.5 s");
});
