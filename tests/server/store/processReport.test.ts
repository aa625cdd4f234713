/** Reports of processes: one process cannot hide, replace or outbid the others by its own. */
import { describe, expect, test } from "vitest";
import { placeOf, successorOf } from "../../../server/cluster/balance.ts";
import { BALANCE } from "../../../server/cluster/balanceRules.ts";
import { readReport } from "../../../server/store/processReport.ts";
import type { ListedProcess, ProcessReport } from "../../../server/store/store.ts";

const report: ProcessReport = {
  process: "ann",
  url: "http://10.0.0.1:8080",
  publicUrl: null,
  version: "1",
  state: "ready",
  load: 0.5,
  rooms: 3,
  maxRooms: 64,
  members: 9,
  memoryBytes: 2 ** 30,
  clockMs: 1.8e12,
  given: [{ room: "moved", to: null, secondsAgo: 0 }],
};
const readText = (text: string, process = "ann"): ListedProcess | { invalid: string } =>
  readReport({ process, text, secondsLeft: 5 });
const read = (changes: object, process = "ann"): ListedProcess | { invalid: string } =>
  readText(JSON.stringify({ ...report, ...changes }), process);
/** The reports that count. */
const valid = (...reports: ReturnType<typeof read>[]): ListedProcess[] =>
  reports.flatMap((one) => ("invalid" in one ? [] : [one]));

test.each(["http://ann:8080", "https://ann.example", "http://[fd00::1]:80", "http://127.0.0.1:1"])(
  "a report with %s is read",
  (url) => {
    expect(read({ url })).toEqual({ ...report, url, secondsLeft: 5 });
  },
);

test("a process that names itself as another one speaks for itself only", () => {
  expect(read({ process: "bob", clockMs: 0 }, "ann")).toMatchObject({ process: "ann", clockMs: 0 });
});

describe("counts as none:", () => {
  test.each(["", "null", "[]", "5", '"ann"', "{", "{}", '{"url":"http://ann"}', `"${"x".repeat(2 ** 20)}"`])(
    "the text %.30s",
    (text) => {
      expect(readText(text)).toEqual({ invalid: expect.any(String) });
    },
  );

  const given = report.given[0]!;
  test.each<Record<string, unknown>>([
    ...["ftp://ann", "http://ann/admin", "http://ann?x", "http://a@ann", "http://ann\r\nhost: b", "", 5, null].map(
      (url) => ({ url }),
    ),
    ...[-0.1, 1.1, null, "0"].map((load) => ({ load })),
    ...[-1, 0.5, 2 ** 60, null].flatMap((count) => [{ rooms: count }, { members: count }, { memoryBytes: count }]),
    ...[0, -1, null].map((maxRooms) => ({ maxRooms })),
    ...[-1, 1e300, null, "now"].map((clockMs) => ({ clockMs })),
    ...["READY", "constructor", null].map((state) => ({ state })),
    { version: 1 },
    { publicUrl: 1 },
    ...[null, {}, [null], [{ ...given, secondsAgo: -1 }], [{ ...given, to: 5 }], [{ ...given, room: null }]].map(
      (list) => ({ given: list }),
    ),
    { given: Array.from({ length: 10_001 }, () => given) },
  ])("%o", (changes) => {
    const field = Object.keys(changes)[0]!;
    expect(read(changes)).toEqual({ invalid: `field ${field} is not valid` });
  });
});

test("with any report, no room goes to a process that claims a load below 0 or more hand-overs than there were", () => {
  const [own] = valid(read({ load: 0.9 }, "own"));
  const liar = read({ load: -1e9, rooms: -5 }, "liar");
  const table = valid(read({ load: 0.9 }, "own"), read({ load: 0.1 }, "honest"), liar);
  expect(placeOf(own!, table, BALANCE)?.process).toBe("honest");
  const claim = valid(read({ given: [{ room: "free", to: "liar", secondsAgo: -1e9 }] }, "liar"));
  expect(successorOf({ name: "free", expired: null }, own!, claim, BALANCE)).toBeNull();
});
