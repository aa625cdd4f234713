/** Reports of processes to each other. */
import { expect, test } from "vitest";
import { type OwnState, Processes } from "../../../server/cluster/processes.ts";
import type { ClusterMetrics } from "../../../server/metrics/cluster.ts";
import type { Store, StoredReport } from "../../../server/store/store.ts";

test("an invalid report is logged once, with its cause, until its process writes a valid one", async () => {
  const logged: unknown[] = [];
  let stored: StoredReport[] = [];
  const log = { info: () => {}, error: () => {}, warn: (details: object) => logged.push(details) };
  const processes = new Processes({
    store: { leaseSeconds: 6, processes: async () => stored } as Partial<Store> as Store,
    holder: { process: "ann", url: "http://ann:8080" },
    rooms: { members: () => 0, names: () => [], loads: () => [] },
    maxRooms: 64,
    own: (): OwnState => ({ version: "1", state: "ready", publicUrl: null, threads: 1, memoryBytes: 0 }),
    metrics: {} as ClusterMetrics,
    log,
  });
  const good = JSON.stringify({ ...processes.report(), url: "http://bob:8080" });
  const read = async (texts: Record<string, string>): Promise<string[]> => {
    stored = Object.entries(texts).map(([process, text]) => ({ process, text, secondsLeft: 5 }));
    return (await processes.table()).map(({ process }) => process);
  };
  expect(await read({ bad: '{"url":1}', good })).toEqual(["good"]);
  expect(await read({ bad: '{"url":1}', good })).toEqual(["good"]);
  expect(logged).toEqual([{ process: "bad", reason: "field url is not valid" }]);
  expect(await read({ bad: good, good })).toEqual(["bad", "good"]);
  expect(await read({ bad: "{", good })).toEqual(["good"]);
  expect(logged).toHaveLength(2);
  // A process that ended at this one's address would get this one's requests.
  const own = JSON.stringify(processes.report());
  expect(await read({ ann: own, former: own, good })).toEqual(["ann", "good"]);
});
