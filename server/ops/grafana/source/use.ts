/**
 * Utilization, saturation, errors of what the server has: threads, main thread, memory, store, network. Why members
 * notice something.
 */
import type { DashboardSource } from "./dashboard.ts";
import { inAnHour, metric, quantile, rate, sumRate } from "./queries.ts";

const byServer = (expr: string): string => `sum by (instance) (${expr})`;

export const use: DashboardSource = {
  uid: "pliant-use",
  title: "Pliant: utilization, saturation, errors",
  description:
    "What the server has, how much of it is used, what waits for it, and what fails: threads, main thread, memory, store, network. server/ops/RUNBOOK.md says what to do about each.",
  rows: [
    {
      title: "Worker threads",
      panels: [
        {
          title: "Threads: utilization",
          description: "Share of the worker threads' time spent in ticks. Dashed: where PliantWorkersSaturated begins.",
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
          description: "Ticks that wait for a thread; and how late the latest 1 % of the ticks begin.",
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
          description: "In the last hour: rooms that lost their thread in the middle of a step; bodies that blew up.",
          unit: "short",
          lines: [
            { expr: inAnHour("pliant_rooms_restored_total", [], 'cause="thread"'), legend: "threads lost" },
            { expr: inAnHour("pliant_bodies_blown_up_total"), legend: "bodies blown up" },
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
            "Share of its time in which it was not waiting. All sockets and HTTP go through it. Dashed: where PliantMainThreadBusy begins.",
          unit: "percentunit",
          max: 1,
          limits: { red: 0.8 },
          lines: [{ expr: metric("pliant_event_loop_utilization_ratio"), legend: "{{instance}}" }],
        },
        {
          title: "Main thread: saturation",
          description:
            "99th percentile of how late its event loop comes round. Dashed: where PliantEventLoopLag begins.",
          unit: "s",
          limits: { red: 0.1 },
          lines: [{ expr: metric("pliant_event_loop_lag_seconds"), legend: "{{instance}}" }],
        },
        {
          title: "Main thread: errors",
          description:
            "Requests that failed on our side, per second, and times that the process started in the last hour.",
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
            "Resident memory over what the container, or the machine, has. Dashed: where PliantMemoryNearLimit begins.",
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
          title: "Memory: what it is",
          description: "`resident` beyond the others is threads, scenes and the rooms' shared memories.",
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
          description: "Cores in use; open files and sockets over the most that the process may have.",
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
            "Seconds per second spent in operations of the store, by operation: 1 is one operation at a time, all the time.",
          unit: "short",
          lines: [{ expr: sumRate("pliant_store_operation_seconds_sum", ["operation"]), legend: "{{operation}}" }],
        },
        {
          title: "Store: saturation",
          description: "Operations that have not ended yet.",
          unit: "short",
          lines: [{ expr: byServer(metric("pliant_store_operations_in_flight")), legend: "{{instance}}" }],
        },
        {
          title: "Store: errors",
          description:
            "Operations that failed, per second; writes that were refused because the lease was somebody else's.",
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
          description: "Bytes that wait for clients who do not take them.",
          unit: "bytes",
          lines: [{ expr: byServer(metric("pliant_socket_buffered_bytes")), legend: "{{instance}}" }],
        },
        {
          title: "Network: errors",
          description:
            "Frames skipped because a line was congested; sockets that just went (1006), were silent (4410) or too slow (4431), per second.",
          unit: "short",
          lines: [
            { expr: sumRate("pliant_frames_skipped_total"), legend: "frames skipped" },
            {
              expr: `sum(${rate("pliant_sockets_closed_total", 'code=~"1006|4410|4431"')}) or vector(0)`,
              legend: "lines lost",
            },
          ],
        },
      ],
    },
  ],
};
