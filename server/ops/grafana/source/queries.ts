/**
 * PromQL as our panels write it: every selector leaves the choice of the server to the reader, every rate takes
 * Grafana's own interval.
 */

const SERVER = 'job="pliant",instance=~"$instance"';

/** A metric of the servers that the reader has chosen. `where`: more matchers, as PromQL writes them. */
export const metric = (name: string, where = ""): string => `${name}{${SERVER}${where && `,${where}`}}`;

/** Per second. */
export const rate = (name: string, where = ""): string => `rate(${metric(name, where)}[$__rate_interval])`;

export const sumRate = (name: string, by: string[] = [], where = ""): string => `${sum(by)}(${rate(name, where)})`;

/** The q-quantile of a histogram. @param by labels to keep */
export const quantile = (q: number, name: string, by: string[] = [], where = ""): string =>
  `histogram_quantile(${q}, ${sum(["le", ...by])}(${rate(`${name}_bucket`, where)}))`;

/** Mean of a histogram. */
export const mean = (name: string): string => `sum(${rate(`${name}_sum`)}) / sum(${rate(`${name}_count`)})`;

export const sum = (by: string[] = []): string => (by.length > 0 ? `sum by (${by.join(", ")}) ` : "sum");

/** In the last hour: for what happens so seldom that a rate shows nothing. */
export const inAnHour = (name: string, by: string[] = [], where = ""): string =>
  `${sum(by)}(increase(${metric(name, where)}[1h]))`;
