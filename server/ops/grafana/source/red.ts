/** Rate, errors and duration of HTTP, sockets, inputs and frames, as members experience them. */
import { type DashboardSource, quantiles } from "./dashboard.ts";
import { mean, quantile, sumRate } from "./queries.ts";

export const red: DashboardSource = {
  uid: "pliant-red",
  title: "Pliant: rate, errors, duration",
  description:
    "Requests, refusals, failures and durations of HTTP, sockets, inputs and frames. server/ops/RUNBOOK.md explains how to react to each.",
  rows: [
    {
      title: "HTTP",
      panels: [
        {
          title: "Requests",
          description: "Answers per second, by route; `none`: addresses without a route.",
          unit: "reqps",
          lines: [{ expr: sumRate("pliant_http_request_seconds_count", ["route"]), legend: "{{route}}" }],
        },
        {
          title: "Requests that failed",
          description: "4xx: the caller's mistakes. 5xx: ours, or a full or closing server.",
          unit: "reqps",
          lines: [
            {
              expr: sumRate("pliant_http_request_seconds_count", ["status", "route"], 'status=~"4xx|5xx"'),
              legend: "{{status}} {{route}}",
            },
          ],
        },
        {
          title: "Time of a request",
          description: "All routes together. Opening a room may wait once until its scene is built.",
          unit: "s",
          lines: [
            ...quantiles((q) => quantile(q, "pliant_http_request_seconds")),
            { expr: mean("pliant_http_request_seconds"), legend: "mean" },
          ],
        },
        {
          title: "Time of a request, by route",
          description: "95th percentile.",
          unit: "s",
          lines: [{ expr: quantile(0.95, "pliant_http_request_seconds", ["route"]), legend: "{{route}}" }],
        },
      ],
    },
    {
      title: "Sockets",
      panels: [
        {
          title: "Sockets opened and closed",
          description: "Per second. A peak of both is a reconnect storm.",
          unit: "short",
          lines: [
            { expr: sumRate("pliant_sockets_opened_total"), legend: "opened" },
            { expr: sumRate("pliant_sockets_closed_total"), legend: "closed" },
          ],
        },
        {
          title: "Sockets closed, by code",
          description: "1000 and 1001: left; 1006: connection lost; 1012: the server restarts; 44xx: see PROTOCOL.md.",
          unit: "short",
          lines: [{ expr: sumRate("pliant_sockets_closed_total", ["code"]), legend: "{{code}}" }],
        },
        {
          title: "Refused, by reason",
          description: "Refused sockets and requests per second.",
          unit: "short",
          lines: [{ expr: sumRate("pliant_connections_refused_total", ["reason"]), legend: "{{reason}}" }],
        },
        {
          title: "Time to the welcome",
          description:
            "From a socket's upgrade until its member is in the room: one round trip of the client plus the server's time.",
          unit: "s",
          lines: quantiles((q) => quantile(q, "pliant_socket_join_seconds")),
        },
      ],
    },
    {
      title: "Inputs",
      panels: [
        {
          title: "Inputs",
          description: "Accepted per second, by type.",
          unit: "short",
          lines: [{ expr: sumRate("pliant_inputs_total", ["type"]), legend: "{{type}}" }],
        },
        {
          title: "Inputs refused",
          description: "Per second, by reason; see PliantInputsRejected.",
          unit: "short",
          lines: [{ expr: sumRate("pliant_inputs_rejected_total", ["reason"]), legend: "{{reason}}" }],
        },
        {
          title: "Time of an input",
          description:
            "From an input's arrival until the tick that applied it was handed to the sockets; the oldest input of each tick. Up to one tick of this time is the wait for the next tick. Dashed: two ticks at 60 Hz.",
          unit: "s",
          limits: { red: 0.0333 },
          lines: quantiles((q) => quantile(q, "pliant_input_seconds")),
        },
      ],
    },
    {
      title: "Frames",
      panels: [
        {
          title: "Frames",
          description: "Encoded per second, in all rooms; each goes to all members of its room.",
          unit: "short",
          lines: [
            { expr: sumRate("pliant_deltas_total"), legend: "deltas" },
            { expr: sumRate("pliant_keyframes_total"), legend: "keyframes" },
          ],
        },
        {
          title: "Skipped frames and ticks",
          description:
            "Frames not sent to a congested member; ticks skipped because a room was late, and how often that happened.",
          unit: "short",
          lines: [
            { expr: sumRate("pliant_frames_skipped_total"), legend: "frames skipped" },
            { expr: sumRate("pliant_ticks_skipped_total"), legend: "ticks skipped" },
            { expr: sumRate("pliant_ticks_limited_total"), legend: "times that ticks were skipped" },
          ],
        },
        {
          title: "Time of a frame",
          description:
            "From handing its tick to the pool until the frame was handed to the sockets. Dashed: the budget of a tick at 60 Hz.",
          unit: "s",
          limits: { red: 0.0167 },
          lines: quantiles((q) => quantile(q, "pliant_frame_seconds")),
        },
      ],
    },
  ],
};
