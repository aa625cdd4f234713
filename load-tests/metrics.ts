/** Reads a server's /metrics and compares two readings, as PromQL's `increase` and `histogram_quantile` do. */

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Parses the Prometheus text format; comments are ignored. */
export function parseMetrics(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const match = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!match) return [];
    const labels = Object.fromEntries(
      [...(match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, value]) => [key, value]),
    );
    return [{ name: match[1], labels, value: Number(match[3].replace("Inf", "Infinity")) }];
  });
}

export async function readMetrics(url: string): Promise<Sample[]> {
  return parseMetrics(await (await fetch(`${url}/metrics`)).text());
}

const fits = (sample: Sample, name: string, labels: Record<string, string>): boolean =>
  sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value);

/** Sum over the series with this name and these labels. */
export function total(samples: readonly Sample[], name: string, labels: Record<string, string> = {}): number {
  return samples.filter((sample) => fits(sample, name, labels)).reduce((sum, { value }) => sum + value, 0);
}

export function increase(
  before: readonly Sample[],
  after: readonly Sample[],
  name: string,
  labels: Record<string, string> = {},
): number {
  return total(after, name, labels) - total(before, name, labels);
}

/**
 * q-quantile of a histogram's observations between two readings, linear within a bucket. Observations above the last
 * finite bound count as that bound.
 *
 * @returns NaN if nothing was observed
 */
export function histogramQuantile(
  before: readonly Sample[],
  after: readonly Sample[],
  name: string,
  q: number,
  labels: Record<string, string> = {},
): number {
  const bounds = [
    ...new Set(
      after
        .filter((sample) => fits(sample, `${name}_bucket`, labels))
        .map((sample) => Number(sample.labels.le.replace("+Inf", "Infinity"))),
    ),
  ];
  bounds.sort((a, b) => a - b);
  const upTo = bounds.map((bound) =>
    increase(before, after, `${name}_bucket`, { ...labels, le: Number.isFinite(bound) ? String(bound) : "+Inf" }),
  );
  const count = upTo[upTo.length - 1] ?? 0;
  if (count === 0) return NaN;
  const rank = q * count;
  const index = upTo.findIndex((number) => number >= rank);
  if (!Number.isFinite(bounds[index])) return bounds[index - 1];
  const low = index === 0 ? 0 : bounds[index - 1];
  const below = index === 0 ? 0 : upTo[index - 1];
  return low + ((bounds[index] - low) * (rank - below)) / (upTo[index] - below);
}
