/** The parts of a cluster beside the servers: the load balancer and the database, by their own metrics. */
import type { DashboardSource } from "./dashboard.ts";

const haproxy = (name: string, where = ""): string => `haproxy_${name}{job="haproxy"${where && `,${where}`}}`;
const postgres = (name: string, where = ""): string => `pg_${name}{job="postgres"${where && `,${where}`}}`;
const rate = (metric: string): string => `rate(${metric}[$__rate_interval])`;
/** The database of the rooms, in docker-compose.cluster.yml. */
const ROOMS = 'datname="pliant"';

export const cluster: DashboardSource = {
  uid: "pliant-cluster",
  title: "Pliant: balancer and database",
  description: "HAProxy and PostgreSQL. server/ops/RUNBOOK.md explains how to react to their alerts.",
  rows: [
    {
      title: "HAProxy",
      panels: [
        {
          title: "Ready servers",
          description: "Servers whose /readyz answers 200. None: PliantBalancerEmpty.",
          unit: "short",
          lines: [{ expr: haproxy("backend_active_servers", 'proxy="servers"'), legend: "{{proxy}}" }],
        },
        {
          title: "Connections of visitors",
          description: "Open connections, room sockets among them.",
          unit: "short",
          lines: [{ expr: haproxy("frontend_current_sessions", 'proxy="visitors"'), legend: "{{proxy}}" }],
        },
        {
          title: "Answers by class",
          description: "Per second. 5xx without a server's own failures: no server was ready.",
          unit: "reqps",
          lines: [
            {
              expr: `sum by (code) (${rate(haproxy("frontend_http_responses_total", 'proxy="visitors"'))})`,
              legend: "{{code}}",
            },
          ],
        },
        {
          title: "Waiting requests",
          description: "Requests that wait for a server.",
          unit: "short",
          lines: [{ expr: haproxy("backend_current_queue", 'proxy="servers"'), legend: "{{proxy}}" }],
        },
      ],
    },
    {
      title: "PostgreSQL",
      panels: [
        {
          title: "Database up",
          description: "1: the exporter can log in. 0: PliantDatabaseDown.",
          unit: "short",
          max: 1,
          lines: [{ expr: postgres("up"), legend: "{{instance}}" }],
        },
        {
          title: "Connections in use",
          description: "Share of max_connections. Dashed: threshold of PliantDatabaseConnections.",
          unit: "percentunit",
          max: 1,
          limits: { red: 0.8 },
          lines: [
            {
              expr: `sum(${postgres("stat_activity_count")}) / max(${postgres("settings_max_connections")})`,
              legend: "connections",
            },
          ],
        },
        {
          title: "Transactions",
          description: "Per second: each write of a journal, checkpoint or lease is one.",
          unit: "short",
          lines: [
            { expr: rate(postgres("stat_database_xact_commit", ROOMS)), legend: "committed" },
            { expr: rate(postgres("stat_database_xact_rollback", ROOMS)), legend: "rolled back" },
          ],
        },
        {
          title: "Size of the database",
          description: "Checkpoints, journals, objects and quarantined rows.",
          unit: "bytes",
          lines: [{ expr: postgres("database_size_bytes", ROOMS), legend: "{{datname}}" }],
        },
      ],
    },
  ],
};
