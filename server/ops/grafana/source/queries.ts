/**
 * PromQL for our panels. Every selector respects the reader's choice of servers, and every rate uses Grafana's
 * interval.
 */

const SERVER = 'job="pliant",instance=~"$instance"';

/** Selects a metric of the chosen servers. `where`: additional matchers in PromQL. */
export const metric = (name: string, where = ""): string => `${name}{${SERVER}${where && `,${where}`}}`;

/** Rate per second. */
export const rate = (name: string, where = ""): string => `rate(${metric(name, where)}[$__rate_interval])`;

export const sumRate = (name: string, by: string[] = [], where = ""): string => `${sum(by)}(${rate(name, where)})`;

/** The q-quantile of a histogram. @param by labels to keep */
export const quantile = (q: number, name: string, by: string[] = [], where = ""): string =>
  `histogram_quantile(${q}, ${sum(["le", ...by])}(${rate(`${name}_bucket`, where)}))`;

/** Mean of a histogram. */
export const mean = (name: string): string => `sum(${rate(`${name}_sum`)}) / sum(${rate(`${name}_count`)})`;

export const sum = (by: string[] = []): string => (by.length > 0 ? `sum by (${by.join(", ")}) ` : "sum");

/** Increase in the last hour, for events that are too rare for a rate. */
export const inAnHour = (name: string, by: string[] = [], where = ""): string =>
  `${sum(by)}(increase(${metric(name, where)}[1h]))`;
