/**
 * Names, labels and units of the metrics. Dashboards and alerts depend on them, and a label with unlimited values would
 * overload Prometheus.
 */
import { afterEach, expect, test, vi } from "vitest";
import { Metrics } from "../../server/metrics/metrics.ts";
import { noSeconds, STAGES, type StageSeconds } from "../../server/sim/types.ts";

let metrics: Metrics;
const sources = {
  rooms: () => 2,
  sessions: () => ({ connected: 3, resumable: 1 }),
  bodiesHeld: () => 1,
  roomMemory: () => ({ reserved: 0, used: 0 }),
  queueDepth: () => 4,
  workerThreads: () => 2,
  timeDilation: () => 0.5,
  bufferedBytes: () => 4096,
  roomLoads: () => [],
};
afterEach(() => metrics.close());

test("each of our metrics has the prefix, a help text, and only fixed labels", async () => {
  metrics = new Metrics(sources);
  metrics.observeTick(Object.fromEntries(STAGES.map((stage) => [stage, 0.0003])) as StageSeconds, 0.009, 0.01, {
    threads: 1,
    shared: 0,
    helped: 0,
  });
  const allowed = new Set([
    "stage",
    "by",
    "kind",
    "reason",
    "type",
    "code",
    "state",
    "cause",
    "what",
    "operation",
    "result",
    "direction",
    "way",
    "action",
    "method",
    "route",
    "status",
  ]);
  const own = (await metrics.registry.getMetricsAsJSON()).filter(({ name }) => !/^(process|nodejs)_/.test(name));
  expect(own.length).toBeGreaterThan(20);
  for (const { name, help, type, values } of own) {
    expect(name).toMatch(/^pliant_[a-z_]+$/);
    expect(help).toMatch(/^[A-Z0-9].*\.$/);
    expect(name.endsWith("_total")).toBe(String(type) === "counter");
    const named = /^pliant_(busiest|slowest)_/.test(name) ? ["room", "scene"] : [];
    for (const { labels } of values)
      for (const label of Object.keys(labels)) if (label !== "le") expect([...allowed, ...named]).toContain(label);
  }
});

test("gauges are read at the scrape", async () => {
  metrics = new Metrics(sources);
  const text = await metrics.registry.metrics();
  for (const line of [
    "pliant_rooms 2",
    'pliant_sessions{state="connected"} 3',
    'pliant_sessions{state="resumable"} 1',
    "pliant_bodies_held 1",
    "pliant_worker_queue_depth 4",
    "pliant_worker_threads 2",
    "pliant_time_dilation_ratio 0.5",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
});

test("a tick is in the histograms of its stages, of the whole, and of the threads' time", async () => {
  metrics = new Metrics(sources);
  const stages = { ...noSeconds(), inputs: 0.0001, contacts: 0.009, integrate: 0.0003, encode: 0.0007 };
  metrics.observeTick(stages, 0.0105, 0.011, { threads: 3, shared: 10, helped: 6 });
  const text = await metrics.registry.metrics();
  for (const [stage, seconds] of Object.entries(stages)) {
    const line = `pliant_step_stage_seconds_sum{stage="${stage}"} ${seconds}`;
    if (seconds > 0) expect(text).toContain(line);
    else expect(text).not.toContain(`stage="${stage}"`);
  }
  expect(text).toContain('pliant_step_stage_seconds_bucket{le="0.008",stage="contacts"} 0');
  expect(text).toContain('pliant_step_stage_seconds_bucket{le="0.012",stage="contacts"} 1');
  expect(text).toContain("pliant_tick_seconds_sum 0.0105");
  expect(text).toContain("pliant_tick_threads_sum 3");
  expect(text).toContain('pliant_tick_chunks_total{by="own"} 4');
  expect(text).toContain('pliant_tick_chunks_total{by="helper"} 6');
  expect(text).toContain("pliant_worker_busy_seconds_total 0.0105");
});

test("a tick of seconds, and one that began seconds late, are within the last bucket", async () => {
  metrics = new Metrics(sources);
  metrics.observeTick(noSeconds(), 9, 9.5, { threads: 1, shared: 0, helped: 0 });
  metrics.tickLatenessSeconds.observe(7);
  const lines = (await metrics.registry.metrics()).split("\n");
  for (const name of ["tick_seconds", "tick_round_trip_seconds", "tick_lateness_seconds"]) {
    const bucket = (le: number): string | undefined =>
      lines.find((line) => line.startsWith(`pliant_${name}_bucket{le="${le}"} `))?.split(" ")[1];
    expect([name, bucket(5), bucket(10)]).toEqual([name, "0", "1"]);
  }
});

test("contact work is counted tick by tick", async () => {
  metrics = new Metrics(sources);
  metrics.observeContact({ lists: 1, checks: 7, impulses: 5, zones: 0, stops: 0, full: 0 });
  metrics.observeContact({ lists: 2, checks: 3, impulses: 1, zones: 1, stops: 4, full: 2 });
  const lines = (await metrics.registry.metrics()).split("\n");
  const wanted = [
    "lists_total 3",
    "checks_total 10",
    "impulses_total 6",
    "zones_total 1",
    "stops_total 4",
    "full_total 2",
  ];
  for (const line of wanted) expect(lines).toContain(`pliant_contact_${line}`);
});

test("reports of other parts of the server are counted by a fixed list of labels", async () => {
  metrics = new Metrics(sources);
  const { persistence, store, cluster, auth, requests } = metrics;
  persistence.checkpoint(0.02, 5000);
  persistence.held(0.0015);
  persistence.journalFlush(0.003, 120);
  persistence.restored("takeover", 0.4, 37);
  persistence.failed("journal");
  persistence.damaged("checkpoint");
  persistence.sources = { checkpointAgeSeconds: () => 3.5, journalAgeSeconds: () => 0.25 };
  cluster.sources = { roomsOwned: () => 5, leaseSecondsLeft: () => 4.5 };
  cluster.renewal("ok", 5);
  cluster.known(7, 2, 0);
  cluster.takeover();
  cluster.handover("out");
  cluster.forwarded("proxy");
  auth.refused("banned");
  auth.audited("kick");
  auth.audited("something that a later version does");
  requests.answered("GET", "/api/rooms/:room", 404, 0.004);
  requests.answered("BREW", undefined, 404, 0.004);
  const [ended, lost] = [store.begin("writeCheckpoint"), store.begin("writeCheckpoint")];
  store.begin("rooms");
  ended("failed");
  lost("refused");
  const lines = (await metrics.registry.metrics()).split("\n");
  for (const line of [
    'checkpoint_seconds_bucket{le="0.025"} 1',
    'checkpoint_bytes_bucket{le="4096"} 0',
    'checkpoint_bytes_bucket{le="16384"} 1',
    'checkpoint_hold_seconds_bucket{le="0.002"} 1',
    "journal_bytes_total 120",
    'rooms_restored_total{cause="takeover"} 1',
    'rooms_restored_total{cause="restart"} 0',
    "replayed_ticks_total 37",
    "room_restore_seconds_sum 0.4",
    'persistence_failures_total{what="journal"} 1',
    'damaged_total{what="checkpoint"} 1',
    "checkpoint_age_seconds 3.5",
    "journal_flush_age_seconds 0.25",
    "rooms_owned 5",
    'rooms_known{state="owned"} 7',
    'rooms_known{state="free"} 2',
    "lease_seconds_left 4.5",
    'lease_renewals_total{result="ok"} 5',
    "takeovers_total 1",
    'handovers_total{direction="out"} 1',
    'forwarded_total{way="proxy"} 1',
    'connections_refused_total{reason="banned"} 1',
    'audit_actions_total{action="kick"} 1',
    'audit_actions_total{action="other"} 1',
    'http_request_seconds_count{method="GET",route="/api/rooms/:room",status="4xx"} 1',
    'http_request_seconds_count{method="other",route="none",status="4xx"} 1',
    'store_operation_seconds_count{operation="writeCheckpoint"} 2',
    'store_errors_total{operation="writeCheckpoint"} 1',
    'store_errors_total{operation="renew"} 0',
    "store_fenced_writes_total 1",
    "store_operations_in_flight 1",
  ])
    expect(lines).toContain(`pliant_${line}`);
});

test("of any number of rooms, the ten busiest and the ten slowest are named", async () => {
  const roomLoads = () =>
    Array.from({ length: 300 }, (_, i) => ({
      room: `room-${i}`,
      scene: `scene-${i % 50}`,
      load: i / 300,
      dilation: i < 20 ? 0.9 - i / 100 : 1,
    }));
  metrics = new Metrics({ ...sources, roomLoads });
  const read = async (): Promise<string[]> => (await metrics.registry.metrics()).split("\n");
  const of = (lines: string[], name: string): string[] =>
    lines.filter((line) => line.startsWith(`pliant_${name}{`)).map((line) => line.slice(line.indexOf("{")));
  const first = await read();
  for (const name of ["busiest_room_load_ratio", "slowest_room_dilation_ratio", "busiest_scene_load_ratio"])
    expect([name, of(first, name).length]).toEqual([name, 10]);
  expect(of(first, "busiest_room_load_ratio")).toContain(`{room="room-299",scene="scene-49"} ${299 / 300}`);
  expect(of(first, "slowest_room_dilation_ratio")).toContain('{room="room-19",scene="scene-19"} 0.71');
  expect(of(first, "busiest_scene_load_ratio")[0]).toMatch(/^\{scene="scene-49"\} 3\.48/);
  expect(of(await read(), "busiest_room_load_ratio")).toEqual(of(first, "busiest_room_load_ratio"));
});

test("a room that becomes quiet loses its series", async () => {
  let loads = [{ room: "a", scene: "s", load: 0.5, dilation: 0.5 }];
  metrics = new Metrics({ ...sources, roomLoads: () => loads });
  expect(await metrics.registry.metrics()).toContain('pliant_busiest_room_load_ratio{room="a",scene="s"} 0.5');
  loads = [{ room: "a", scene: "s", load: 0.001, dilation: 1 }];
  expect(await metrics.registry.metrics()).not.toContain('room="a"');
});

test("reading often changes no value: a stall of the main thread stays visible to every scraper", async () => {
  metrics = new Metrics(sources);
  const value = async (series: string): Promise<number> => {
    const line = (await metrics.registry.metrics()).split("\n").find((text) => text.startsWith(`${series} `));
    return Number(line?.split(" ").at(-1));
  };
  const LATE = 'pliant_event_loop_lag_seconds_bucket{le="0.1"}';
  const stalls = async (): Promise<number> =>
    (await value("pliant_event_loop_lag_seconds_count")) - (await value(LATE));
  const until = performance.now() + 300;
  while (performance.now() < until);
  await vi.waitUntil(async () => (await stalls()) > 0, { timeout: 60_000 });
  const busy = await value("pliant_event_loop_busy_seconds_total");
  expect(busy).toBeGreaterThan(0.2);
  for (let i = 0; i < 20; i++) {
    expect(await stalls()).toBeGreaterThan(0);
    expect(await value("pliant_event_loop_busy_seconds_total")).toBeGreaterThanOrEqual(busy);
  }
  const names = (await metrics.registry.getMetricsAsJSON()).map(({ name }) => name);
  expect(names.filter((name) => /eventloop_lag|utilization/.test(name))).toEqual([]);
});

test("two servers in one process do not share metrics", async () => {
  metrics = new Metrics(sources);
  const other = new Metrics({ ...sources, rooms: () => 7 });
  metrics.ticks.inc(5);
  expect(await other.registry.metrics()).toContain("pliant_ticks_total 0");
  expect(await other.registry.metrics()).toContain("pliant_rooms 7");
  other.close();
});
