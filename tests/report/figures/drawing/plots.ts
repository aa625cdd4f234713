/**
 * Vega-Lite specifications of the plots that figures share. The report adds size, fonts and colors of its page
 * (report/page.ts).
 */
import type { VegaLiteSpec } from "../figure.ts";

export interface Axis {
  title: string;
  log?: boolean;
  /** Begin the axis at 0. */
  zero?: boolean;
  domain?: [number, number];
}

/** A curve. `style` "points" draws dots without a line: measurements over a law. */
export interface Series {
  name: string;
  points: readonly (readonly [number, number])[];
  style?: "line" | "points" | "both" | "dashed";
}

/** A horizontal or vertical line with its label: a limit, a published number. */
export interface Rule {
  x?: number;
  y?: number;
  label: string;
}

/** Labels powers of ten, with 2 and 5 between them; shortened for long numbers. */
const LOG_LABEL =
  "indexof([1, 2, 5, 10], round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))) < 0 ? '' : abs(log(datum.value) / LN10) > 3.5 ? replace(format(datum.value, '.0e'), '+', '') : format(datum.value, '~g')";
const scaleOf = ({ log, zero = false, domain }: Axis): object => ({
  type: log ? "log" : "linear",
  zero,
  nice: domain === undefined,
  ...(domain && { domain }),
});
const axisOf = (axis: Axis): object => (axis.log ? { tickCount: 6, labelExpr: LOG_LABEL } : {});

/** Long names reduce the number of columns, because a legend wider than its plot shrinks both. */
const legendOf = (names: readonly string[]): object => ({
  columns: Math.max(1, Math.min(3, Math.floor(84 / (4 + Math.max(...names.map(({ length }) => length)))))),
});

/** Curves over a common axis. */
export function curves(x: Axis, y: Axis, series: readonly Series[], rules: readonly Rule[] = []): VegaLiteSpec {
  const names = series.map(({ name }) => name);
  const color = {
    field: "series",
    type: "nominal",
    title: null,
    sort: names,
    scale: { domain: names },
    legend: legendOf(names),
  };
  const layer = series.map(({ name, points, style = "line" }) => ({
    data: { values: points.filter(([, v]) => Number.isFinite(v)).map(([px, py]) => ({ x: px, y: py, series: name })) },
    mark:
      style === "points"
        ? { type: "point", filled: true, size: 45 }
        : {
            type: "line",
            point: style === "both" ? { filled: true, size: 35 } : false,
            ...(style === "dashed" && { strokeDash: [5, 4] }),
          },
    encoding: {
      x: { field: "x", type: "quantitative", title: x.title, scale: scaleOf(x), axis: axisOf(x) },
      y: { field: "y", type: "quantitative", title: y.title, scale: scaleOf(y), axis: axisOf(y) },
      color,
    },
  }));
  const lines = rules.flatMap(({ x: at, y: height, label }) => {
    const where = at === undefined ? { y: { datum: height } } : { x: { datum: at } };
    return [
      { data: { values: [{}] }, mark: { type: "rule", strokeDash: [2, 3], color: "#888" }, encoding: where },
      // twice: first with a rim in the page's color, for curves that run through it
      ...[{ stroke: "var(--paper)", strokeWidth: 3, strokeOpacity: 0.8 }, {}].map((rim) => ({
        data: { values: [{}] },
        mark: {
          type: "text",
          text: label,
          ...rim,
          align: at === undefined ? "right" : "left",
          baseline: "bottom",
          dx: at === undefined ? -4 : 4,
          dy: -3,
          color: "#888",
          fontSize: 11,
        },
        encoding:
          at === undefined
            ? { y: { datum: height }, x: { value: "width" } }
            : { x: { datum: at }, y: { value: "height" } },
      })),
    ];
  });
  return { layer: [...layer, ...lines] };
}

/** Areas stacked on each other; negative values are stacked below zero. @param names from the bottom up */
export function stacked(
  x: Axis,
  y: Axis,
  names: readonly string[],
  points: readonly { x: number; values: readonly number[] }[],
  rules: readonly Rule[] = [],
): VegaLiteSpec {
  const values = points.flatMap((point) =>
    names.map((series, order) => ({ x: point.x, y: point.values[order], series, order })),
  );
  const lines = rules.map(({ y: height, label }) => ({
    data: { values: [{ label }] },
    mark: { type: "rule", strokeDash: [2, 3], color: "#888" },
    encoding: { y: { datum: height }, tooltip: { field: "label" } },
  }));
  return {
    layer: [
      {
        data: { values },
        mark: { type: "area" },
        encoding: {
          x: { field: "x", type: "quantitative", title: x.title, scale: scaleOf(x) },
          y: { field: "y", type: "quantitative", title: y.title, stack: "zero" },
          color: {
            field: "series",
            type: "nominal",
            title: null,
            sort: names,
            scale: { domain: names },
            legend: legendOf(names),
          },
          order: { field: "order", type: "quantitative" },
        },
      },
      ...lines,
    ],
  };
}

/** One colored cell with its value for every (column, row). */
export function heatMap(
  columns: { title: string; names: readonly string[] },
  rows: { title: string; names: readonly string[] },
  /** value[row][column] */
  values: readonly (readonly number[])[],
  legend: { title: string; log?: boolean; format?: string },
): VegaLiteSpec {
  const cells = values.flatMap((line, r) =>
    line.map((value, c) => ({ column: columns.names[c], row: rows.names[r], value })),
  );
  const x = { field: "column", type: "ordinal", title: columns.title, sort: columns.names, axis: { labelAngle: 0 } };
  const y = { field: "row", type: "ordinal", title: rows.title, sort: rows.names };
  return {
    data: { values: cells },
    encoding: { x, y },
    layer: [
      {
        mark: "rect",
        encoding: {
          color: {
            field: "value",
            type: "quantitative",
            title: legend.title,
            scale: { type: legend.log ? "log" : "linear", scheme: "viridis" },
          },
        },
      },
      {
        mark: {
          type: "text",
          stroke: "#000",
          strokeWidth: 2.5,
          strokeOpacity: 0.45,
          color: "#fff",
          fontSize: 11,
          fontWeight: "bold",
        },
        encoding: { text: { field: "value", type: "quantitative", format: legend.format ?? ".2~r" } },
      },
      {
        mark: { type: "text", color: "#fff", fontSize: 11, fontWeight: "bold" },
        encoding: { text: { field: "value", type: "quantitative", format: legend.format ?? ".2~r" } },
      },
    ],
  };
}

/** Named values as horizontal bars; `group` puts several colors under one name. */
export function bars(
  x: Axis & { names?: readonly string[] },
  y: Axis,
  values: readonly { name: string; value: number; group?: string }[],
): VegaLiteSpec {
  const groups = [...new Set(values.flatMap(({ group }) => group ?? []))];
  const grouped = groups.length > 0;
  const names = x.names ?? [...new Set(values.map(({ name }) => name))];
  return {
    data: { values },
    mark: { type: "bar" },
    ...(grouped && { height: { step: 15, for: "offset" } }),
    encoding: {
      y: { field: "name", type: "nominal", title: x.title || null, sort: names, axis: { labelLimit: 0 } },
      x: {
        field: "value",
        type: "quantitative",
        title: y.title,
        scale: scaleOf({ zero: !y.log, ...y }),
        axis: axisOf(y),
      },
      ...(grouped && {
        yOffset: { field: "group", sort: groups },
        color: {
          field: "group",
          type: "nominal",
          title: null,
          sort: groups,
          scale: { domain: groups },
          legend: legendOf(groups),
        },
      }),
    },
  };
}
