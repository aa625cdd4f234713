/** Persistence of rooms: stored data, owners, restored rooms, refused clients. */
import { type DashboardSource, quantiles } from "./dashboard.ts";
import { inAnHour, metric, quantile, rate, sum, sumRate } from "./queries.ts";

const oldest = (name: string): string => `max by (instance) (${metric(name)})`;

export const survival: DashboardSource = {
  uid: "pliant-survival",
  title: "Pliant: rooms that survive",
  description:
    "Checkpoints, journal, store, leases, restored rooms, and authentication. server/ops/RUNBOOK.md explains how to react to each.",
  rows: [
    {
      title: "Data at risk",
      panels: [
        {
          title: "Checkpoint age",
          description:
            "Age for the awake room whose last checkpoint is oldest: a restore would step this time again. Dashed: threshold of PliantCheckpointOld.",
          unit: "s",
          limits: { red: 300 },
          lines: [{ expr: oldest("pliant_checkpoint_age_seconds"), legend: "{{instance}}" }],
        },
        {
          title: "Journal age",
          description:
            "Waiting time of the oldest input that is not stored yet: a crash would lose this time. Dashed: flush interval, and threshold of PliantJournalNotFlushed.",
          unit: "s",
          limits: { orange: 0.5, red: 5 },
          lines: [{ expr: oldest("pliant_journal_flush_age_seconds"), legend: "{{instance}}" }],
        },
        {
          title: "Failed and damaged",
          description:
            "In the last hour: checkpoints and journal segments that could not be stored, rooms that could not be restored, damaged data, and rooms that wrote data again which a replica lacked.",
          unit: "short",
          lines: [
            { expr: inAnHour("pliant_persistence_failures_total", ["what"]), legend: "{{what}} failed" },
            { expr: inAnHour("pliant_damaged_total", ["what"]), legend: "{{what}} damaged" },
            { expr: inAnHour("pliant_store_sent_again_total", ["what"]), legend: "sent again ({{what}})" },
          ],
        },
      ],
    },
    {
      title: "Writing",
      panels: [
        {
          title: "Checkpoints",
          description: "Stored checkpoints and journal segments per second.",
          unit: "short",
          lines: [
            { expr: sumRate("pliant_checkpoint_seconds_count"), legend: "checkpoints" },
            { expr: sumRate("pliant_journal_flush_seconds_count"), legend: "journal" },
          ],
        },
        {
          title: "Bytes stored",
          description: "Per second, of checkpoints and of the journal; and the size of one checkpoint.",
          unit: "bytes",
          lines: [
            { expr: sumRate("pliant_checkpoint_bytes_sum"), legend: "checkpoints" },
            { expr: sumRate("pliant_journal_bytes_total"), legend: "journal" },
            { expr: quantile(0.95, "pliant_checkpoint_bytes"), legend: "one checkpoint, p95" },
          ],
        },
        {
          title: "Time of a write",
          description: "Time to write a checkpoint, and the inputs of one room. No tick waits for either.",
          unit: "s",
          lines: [0.5, 0.99].flatMap((q) => [
            { expr: quantile(q, "pliant_checkpoint_seconds"), legend: `checkpoint p${100 * q}` },
            { expr: quantile(q, "pliant_journal_flush_seconds"), legend: `journal p${100 * q}` },
          ]),
        },
      ],
    },
    {
      title: "Cost",
      panels: [
        {
          title: "Delay of ticks",
          description: "Delay of a tick by copying its room's state. Dashed: 4 ms.",
          unit: "s",
          limits: { red: 0.004 },
          lines: quantiles((q) => quantile(q, "pliant_checkpoint_hold_seconds")),
        },
        {
          title: "Share of the ticks",
          description: "Time for copying states over the total time in ticks. Dashed: 2 %.",
          unit: "percentunit",
          limits: { red: 0.02 },
          lines: [
            {
              expr: `sum(${rate("pliant_checkpoint_hold_seconds_sum")}) / sum(${rate("pliant_tick_seconds_sum")})`,
              legend: "of the ticks' time",
            },
          ],
        },
        {
          title: "Time of an operation",
          description: "95th percentile of each operation of the store.",
          unit: "s",
          lines: [{ expr: quantile(0.95, "pliant_store_operation_seconds", ["operation"]), legend: "{{operation}}" }],
        },
      ],
    },
    {
      title: "Owners",
      panels: [
        {
          title: "Rooms owned",
          description: "Rooms that each process steps and whose lease it holds.",
          unit: "short",
          lines: [{ expr: `${sum(["instance"])}(${metric("pliant_rooms_owned")})`, legend: "{{instance}}" }],
        },
        {
          title: "Rooms without an owner",
          description:
            "Among all rooms in the store, as of the processes' last read. A few seconds are normal after a process has ended.",
          unit: "short",
          lines: [
            { expr: `max(${metric("pliant_rooms_known", 'state="free"')})`, legend: "without an owner" },
            { expr: `max(${metric("pliant_rooms_known", 'state="owned"')})`, legend: "owned" },
          ],
        },
        {
          title: "Leases",
          description: "Renewals per second, by result.",
          unit: "short",
          lines: [{ expr: sumRate("pliant_lease_renewals_total", ["result"]), legend: "{{result}}" }],
        },
        {
          title: "Lease left",
          description: "Seconds left of the lease that ends first; 0 for a process that holds none.",
          unit: "s",
          lines: [
            {
              expr: `min by (instance) (${metric("pliant_lease_seconds_left")} < Inf) or 0 * ${sum(["instance"])}(${metric("pliant_rooms_owned")})`,
              legend: "{{instance}}",
            },
          ],
        },
        {
          title: "Rooms that moved",
          description:
            "In the last hour: taken over from a process that died, handed over, and taken from a process that released them.",
          unit: "short",
          lines: [
            { expr: inAnHour("pliant_takeovers_total"), legend: "taken over" },
            { expr: inAnHour("pliant_handovers_total", ["direction"]), legend: "handed {{direction}}" },
          ],
        },
        {
          title: "Forwarded",
          description: "Requests and sockets for rooms of other processes, per second, by result.",
          unit: "short",
          lines: [{ expr: sumRate("pliant_forwarded_total", ["way"]), legend: "{{way}}" }],
        },
      ],
    },
    {
      title: "Restored rooms",
      panels: [
        {
          title: "Restored, by cause",
          description: "Rooms restored since each process started.",
          unit: "short",
          lines: [{ expr: `${sum(["cause"])}(${metric("pliant_rooms_restored_total")})`, legend: "{{cause}}" }],
        },
        {
          title: "Replayed ticks",
          description: "Ticks per second that were stepped again from the journal to restore rooms.",
          unit: "short",
          lines: [{ expr: sumRate("pliant_replayed_ticks_total"), legend: "ticks" }],
        },
        {
          title: "Restarts",
          description: "Number of starts of each process in the last hour.",
          unit: "short",
          lines: [{ expr: `changes(${metric("process_start_time_seconds")}[1h])`, legend: "{{instance}}" }],
        },
      ],
    },
    {
      title: "Authentication",
      panels: [
        {
          title: "Refused",
          description: "Refused sockets and requests in the last hour, by reason.",
          unit: "short",
          lines: [{ expr: inAnHour("pliant_connections_refused_total", ["reason"]), legend: "{{reason}}" }],
        },
        {
          title: "Audited",
          description: "Actions written to the audit log in the last hour.",
          unit: "short",
          lines: [{ expr: inAnHour("pliant_audit_actions_total", ["action"]), legend: "{{action}}" }],
        },
      ],
    },
  ],
};
