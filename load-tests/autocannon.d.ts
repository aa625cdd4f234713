/** The part of autocannon's interface that the benchmark uses; the package has no types. */
declare module "autocannon" {
  interface Result {
    errors: number;
    non2xx: number;
    requests: { average: number };
    latency: { p50: number; p99: number };
  }
  export default function autocannon(options: { url: string; connections: number; duration: number }): Promise<Result>;
}
