/**
 * Utilization, saturation and errors of the server's resources: threads, main thread, memory, store, network. They are
 * the causes behind the symptoms in red.ts.
 */
import type { DashboardSource } from "./dashboard.ts";
import { inAnHour, metric, quantile, rate, sumRate } from "./queries.ts";

const byServer = (expr: string): string => `sum by (instance) (${expr})`;

export const use: DashboardSource = {
  uid: "pliant-use",
  title: "Pliant: utilization, saturation, errors",
  description:
    "Use, waiting work and failures of the server's resources: threads, main thread, memory, store, network. server/ops/RUNBOOK.md explains how to react to each.",
  rows: [
    {
      title: "Worker threads",
      panels: [
        {
          title: "Threads: utilization",
          description: "Share of the worker threads' time spent in ticks. Dashed: threshold of PliantWorkersSaturated.",
          unit: "percentunit",
          max: 1,
          limits: { red: 0.9 },
          lines: [
            {
              expr: `${byServer(rate("pliant_worker_busy_seconds_total"))} / ${byServer(metric("pliant_worker_threads"))}`,
              legend: "{{instance}}",
            },
          ],
        },
        {
          title: "Threads: saturation",
          description: "Ticks that wait for a thread, and the 99th percentile of the ticks' delay.",
          unit: "short",
          lines: [
            { expr: byServer(metric("pliant_worker_queue_depth")), legend: "waiting ticks {{instance}}" },
            {
              expr: quantile(0.99, "pliant_tick_lateness_seconds", ["instance"]),
              legend: "lateness p99 (s) {{instance}}",
            },
          ],
        },
        {
          title: "Threads: errors",
          description:
            "In the last hour: rooms that lost their thread in the middle of a step; bodies that became unstable.",
          unit: "short",
          lines: [
            { expr: inAnHour("pliant_rooms_restored_total", [], 'cause="thread"'), legend: "threads lost" },
            { expr: inAnHour("pliant_bodies_blown_up_total"), legend: "unstable bodies" },
          ],
        },
      ],
    },
    {
      title: "Busiest rooms and scenes",
      panels: [
        {
          title: "Busiest rooms",
          description: "Share of a thread that each of the ten busiest rooms takes.",
          unit: "percentunit",
          lines: [
            {
              expr: `topk(10, ${metric("pliant_busiest_room_load_ratio")})`,
              legend: "{{room}} ({{scene}}) {{instance}}",
            },
          ],
        },
        {
          title: "Busiest scenes",
          description: "Threads that all rooms of each of the ten busiest scenes take together.",
          unit: "percentunit",
          lines: [
            { expr: `topk(10, sum by (scene) (${metric("pliant_busiest_scene_load_ratio")}))`, legend: "{{scene}}" },
          ],
        },
        {
          title: "Slowest rooms",
          description: "Simulated time over wall time of the ten slowest rooms; none while all keep real time.",
          unit: "percentunit",
          max: 1,
          lines: [
            {
              expr: `bottomk(10, ${metric("pliant_slowest_room_dilation_ratio")})`,
              legend: "{{room}} ({{scene}}) {{instance}}",
            },
          ],
        },
      ],
    },
    {
      title: "Main thread",
      panels: [
        {
          title: "Main thread: utilization",
          description:
            "Share of time that the main thread is busy. All sockets and HTTP go through it. Dashed: threshold of PliantMainThreadBusy.",
          unit: "percentunit",
          max: 1,
          limits: { red: 0.8 },
          lines: [{ expr: rate("pliant_event_loop_busy_seconds_total"), legend: "{{instance}}" }],
        },
        {
          title: "Main thread: saturation",
          description: "99th percentile of the delay of a timer. Dashed: threshold of PliantEventLoopLag.",
          unit: "s",
          limits: { red: 0.1 },
          lines: [{ expr: quantile(0.99, "pliant_event_loop_lag_seconds", ["instance"]), legend: "{{instance}}" }],
        },
        {
          title: "Main thread: errors",
          description: "Requests per second that failed on our side, and starts of the process in the last hour.",
          unit: "short",
          lines: [
            { expr: `sum(${rate("pliant_http_request_seconds_count", 'status="5xx"')}) or vector(0)`, legend: "5xx" },
            { expr: `changes(${metric("process_start_time_seconds")}[1h])`, legend: "restarts {{instance}}" },
          ],
        },
      ],
    },
    {
      title: "Memory and processor",
      panels: [
        {
          title: "Memory: utilization",
          description:
            "Resident memory over the limit of the container or the machine. Dashed: threshold of PliantMemoryNearLimit.",
          unit: "percentunit",
          max: 1,
          limits: { red: 0.9 },
          lines: [
            {
              expr: `${metric("process_resident_memory_bytes")} / ${metric("pliant_memory_limit_bytes")}`,
              legend: "{{instance}}",
            },
          ],
        },
        {
          title: "Memory: composition",
          description: "The rest of `resident` is threads, scenes and the rooms' shared memories.",
          unit: "bytes",
          lines: [
            { expr: metric("process_resident_memory_bytes"), legend: "resident {{instance}}" },
            { expr: metric("nodejs_heap_size_used_bytes"), legend: "heap {{instance}}" },
            { expr: metric("nodejs_external_memory_bytes"), legend: "buffers {{instance}}" },
          ],
        },
        {
          title: "Memory: saturation",
          description: "Share of the main thread's time spent in garbage collection.",
          unit: "percentunit",
          lines: [{ expr: sumRate("nodejs_gc_duration_seconds_sum", ["kind"]), legend: "{{kind}}" }],
        },
        {
          title: "Processor and files",
          description: "Cores in use; open files and sockets over the process's limit.",
          unit: "short",
          lines: [
            { expr: rate("process_cpu_seconds_total"), legend: "cores {{instance}}" },
            { expr: `${metric("process_open_fds")} / ${metric("process_max_fds")}`, legend: "files {{instance}}" },
          ],
        },
      ],
    },
    {
      title: "Store",
      panels: [
        {
          title: "Store: utilization",
          description:
            "Seconds per second spent in store operations, by operation. 1 means that one operation is always in flight.",
          unit: "short",
          lines: [{ expr: sumRate("pliant_store_operation_seconds_sum", ["operation"]), legend: "{{operation}}" }],
        },
        {
          title: "Store: saturation",
          description: "Operations in flight.",
          unit: "short",
          lines: [{ expr: byServer(metric("pliant_store_operations_in_flight")), legend: "{{instance}}" }],
        },
        {
          title: "Store: errors",
          description: "Failed operations per second; writes that were refused because another process held the lease.",
          unit: "short",
          lines: [
            { expr: sumRate("pliant_store_errors_total", ["operation"]), legend: "{{operation}}" },
            { expr: sumRate("pliant_store_fenced_writes_total"), legend: "fenced" },
          ],
        },
      ],
    },
    {
      title: "Network",
      panels: [
        {
          title: "Network: utilization",
          description: "Payload handed to sockets, by kind of message.",
          unit: "Bps",
          lines: [{ expr: sumRate("pliant_socket_sent_bytes_total", ["kind"]), legend: "{{kind}}" }],
        },
        {
          title: "Network: saturation",
          description: "Bytes queued for slow clients.",
          unit: "bytes",
          lines: [{ expr: byServer(metric("pliant_socket_buffered_bytes")), legend: "{{instance}}" }],
        },
        {
          title: "Network: errors",
          description:
            "Frames skipped because a connection was congested; sockets that were lost (1006), silent (4410) or too slow (4431), per second.",
          unit: "short",
          lines: [
            { expr: sumRate("pliant_frames_skipped_total"), legend: "frames skipped" },
            {
              expr: `sum(${rate("pliant_sockets_closed_total", 'code=~"1006|4410|4431"')}) or vector(0)`,
              legend: "sockets lost",
            },
          ],
        },
      ],
    },
  ],
};
