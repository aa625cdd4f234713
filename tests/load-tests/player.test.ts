/** Players of load tests share topologies, but not failures to fetch them. */
import { encode } from "@msgpack/msgpack";
import { afterEach, expect, test, vi } from "vitest";
import { fetchOnce } from "../../load-tests/load/player.ts";

afterEach(() => vi.unstubAllGlobals());

test("a topology is fetched once; a failed fetch is repeated", async () => {
  const answers = [
    () => Promise.reject(new TypeError("fetch failed")),
    () => Promise.resolve(new Response(encode({ version: 1, bodies: [] }) as Uint8Array<ArrayBuffer>)),
  ];
  const fetched = vi.fn(() => answers.shift()!());
  vi.stubGlobal("fetch", fetched);
  await expect(fetchOnce("http://one", "hash")).rejects.toMatchObject({ code: "UNREACHABLE" });
  const [first, second] = await Promise.all([fetchOnce("http://one", "hash"), fetchOnce("http://one", "hash")]);
  expect(first).toBe(second);
  expect(fetched).toHaveBeenCalledTimes(2);
});
