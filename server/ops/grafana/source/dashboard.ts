/**
 * Builds panels and dashboards in Grafana's provisioning format (schema 41). A dashboard consists of rows of panels;
 * the panels of a row share its width. `write.ts` turns the sources in red.ts, use.ts, survival.ts and cluster.ts into
 * the JSON files in ../dashboards.
 */

export interface Line {
  expr: string;
  /** Legend: plain text, or labels in double braces. */
  legend: string;
}

interface PanelSource {
  title: string;
  description: string;
  /** Grafana's name of the unit: s, bytes, Bps, reqps, percentunit, short. */
  unit: string;
  lines: Line[];
  /** Thresholds above which the line is orange and red, drawn as dashed lines. */
  limits?: { orange?: number; red?: number };
  max?: number;
}

interface RowSource {
  title: string;
  panels: PanelSource[];
}

export interface DashboardSource {
  uid: string;
  title: string;
  description: string;
  rows: RowSource[];
}

/** The reader chooses the data source, so that the files work in any Grafana, imported or provisioned. */
const DATASOURCE = { type: "prometheus", uid: "$datasource" };
const WIDTH = 24;
const PANEL_HEIGHT = 8;
const INSTANCES = 'label_values(pliant_rooms{job="pliant"}, instance)';

/** p50, p95 and p99 of one histogram. @param of returns the query for a quantile */
export const quantiles = (of: (q: number) => string): Line[] =>
  [0.5, 0.95, 0.99].map((q) => ({ expr: of(q), legend: `p${100 * q}` }));

function panel(id: number, source: PanelSource, gridPos: object): object {
  const { title, description, unit, lines, limits, max } = source;
  const steps: { color: string; value: number | null }[] = [{ color: "green", value: null }];
  for (const color of ["orange", "red"] as const)
    if (limits?.[color] !== undefined) steps.push({ color, value: limits[color] });
  return {
    id,
    type: "timeseries",
    title,
    description,
    datasource: DATASOURCE,
    gridPos,
    targets: lines.map(({ expr, legend }, i) => ({
      refId: String.fromCharCode(65 + i),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
      range: true,
    })),
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        ...(max === undefined ? {} : { max }),
        custom: {
          drawStyle: "line",
          lineWidth: 1,
          fillOpacity: 5,
          showPoints: "never",
          stacking: { mode: "none", group: "A" },
          thresholdsStyle: { mode: limits ? "dashed" : "off" },
        },
        thresholds: { mode: "absolute", steps },
      },
      overrides: [],
    },
    options: {
      legend: { displayMode: "list", placement: "bottom", showLegend: true },
      tooltip: { mode: "multi", sort: "desc" },
    },
  };
}

/** Links every dashboard to all others with the tag `pliant`, keeping the selected time and servers. */
const LINKS = [
  {
    type: "dashboards",
    title: "Pliant",
    tags: ["pliant"],
    asDropdown: false,
    includeVars: true,
    keepTime: true,
    targetBlank: false,
    icon: "dashboard",
    tooltip: "",
    url: "",
  },
];

/** Choices of the reader at the top of every dashboard. */
const VARIABLES = [
  {
    name: "datasource",
    label: "Data source",
    type: "datasource",
    query: "prometheus",
    current: {},
    hide: 0,
    includeAll: false,
    multi: false,
    options: [],
    refresh: 1,
    regex: "",
  },
  {
    name: "instance",
    label: "Server",
    type: "query",
    datasource: DATASOURCE,
    query: { query: INSTANCES, refId: "instance" },
    definition: INSTANCES,
    includeAll: true,
    allValue: ".*",
    multi: true,
    refresh: 2,
    sort: 1,
    current: { text: ["All"], value: ["$__all"] },
    hide: 0,
    options: [],
    regex: "",
  },
];

export function dashboard({ uid, title, description, rows }: DashboardSource): object {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
    });
    const w = WIDTH / row.panels.length;
    row.panels.forEach((source, i) =>
      panels.push(panel(panels.length + 1, source, { x: i * w, y: y + 1, w, h: PANEL_HEIGHT })),
    );
    y += 1 + PANEL_HEIGHT;
  }
  return {
    uid,
    title,
    description,
    tags: ["pliant"],
    schemaVersion: 41,
    version: 1,
    editable: false,
    graphTooltip: 1,
    refresh: "10s",
    time: { from: "now-30m", to: "now" },
    timepicker: {},
    timezone: "",
    weekStart: "",
    fiscalYearStartMonth: 0,
    liveNow: false,
    links: LINKS,
    annotations: { list: [] },
    templating: { list: VARIABLES },
    panels,
  };
}
