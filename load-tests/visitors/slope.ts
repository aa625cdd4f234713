/** Slope of a series by least squares, with its standard error, to tell growth from noise. */

export interface Slope {
  /** Unit of the values per unit of the times. */
  slope: number;
  /** Standard error: sqrt(sum of squared residuals / (n - 2) / sum of squared times from their mean). */
  error: number;
  /** Value of the line at the mean of the times. */
  mean: number;
}

/** @throws RangeError for fewer than three points, which have no error estimate */
export function slopeOf(times: readonly number[], values: readonly number[]): Slope {
  const n = times.length;
  if (n < 3 || values.length !== n) throw new RangeError(`slope of ${n} times and ${values.length} values`);
  const average = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0) / n;
  const [t, mean] = [average(times), average(values)];
  const sxx = times.reduce((sum, time) => sum + (time - t) ** 2, 0);
  const slope = times.reduce((sum, time, i) => sum + (time - t) * (values[i]! - mean), 0) / sxx;
  const residuals = times.reduce((sum, time, i) => sum + (values[i]! - mean - slope * (time - t)) ** 2, 0);
  return { slope, error: Math.sqrt(residuals / (n - 2) / sxx), mean };
}
