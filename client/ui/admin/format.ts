/** Formats numbers for operators. */

/** 0.00123 -> "1.23 ms". */
export const milliseconds = (seconds: number): string => `${(1000 * seconds).toFixed(2)} ms`;

export const percent = (ratio: number): string => `${Math.round(100 * ratio)} %`;

/** 0 -> "–"; 4.2 -> "4 s"; 130 -> "2 min". */
export function age(seconds: number): string {
  if (seconds <= 0) return "–";
  return seconds < 100
    ? `${Math.round(seconds)} s`
    : seconds < 6000
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3600)} h`;
}

/** 1 234 567 -> "1206 kB". */
export const size = (bytes: number): string => (bytes < 1024 ? `${bytes} B` : `${Math.round(bytes / 1024)} kB`);

/** 26 345 678 -> "25 MB" (of 2^20 bytes, as operating systems count). */
export const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;

/** Formats the details of an audit entry in one line. */
export const details = (values: Record<string, unknown>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
    .join(", ");
