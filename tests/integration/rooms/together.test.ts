/**
 * One grab on two bodies, as the server executes it: both move alike for all members, it is one grab on the socket, in
 * the journal and in a replay, and a release ends both.
 */
import { decode } from "@msgpack/msgpack";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom, type Point } from "../../../load-tests/bot.ts";
import { decodeRecording } from "../../../server/persistence/recording.ts";
import { ServerMessage } from "../../../shared/protocol/fromServer.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

const [LEFT, ALONE, RIGHT] = [0, 1, 2];
/** One grab, as `grabs` and replays encode it. */
type GrabRow = [grab: number, body: number, triangle: number, u: number, v: number, ...Point, together?: true];

let server: TestServer;
beforeAll(async () => (server = await startTestServer()));
afterAll(() => server.close());

const of = async (path: string): Promise<Uint8Array> =>
  new Uint8Array(await (await fetch(`${server.url}/api/rooms/twins/${path}`)).arrayBuffer());

/** The list of all members' grabs at each change in a replay. */
function heldIn(replay: Uint8Array): GrabRow[][] {
  const view = new DataView(replay.buffer);
  const told: GrabRow[][] = [];
  // After the header, which is a map.
  for (let at = 4 + view.getUint32(0); at < replay.byteLength; at += 4 + view.getUint32(at)) {
    const [type, , members] = decode(replay.subarray(at + 4, at + 4 + view.getUint32(at))) as unknown[];
    if (type === ServerMessage.grabs)
      told.push((members as [number, unknown, GrabRow[]][]).flatMap(([, , held]) => held));
  }
  return told;
}

test("both bodies move alike, the third not at all; other members and a replay see the grab", async () => {
  await createRoom(server.url, "twins", "twins");
  const ann = await Bot.join(server.url, "twins");
  const ben = await Bot.join(server.url, "twins");
  const starts = [LEFT, ALONE, RIGHT].map((body) => ben.center(body));
  const way = (body: number): number => ben.center(body)[0] - starts[body]![0];
  const point = { body: RIGHT, triangle: 7, u: 0.3, v: 0.3 };
  const [x, y, z] = ann.surfacePosition(point);
  ann.grab(5, point, [x, y, z], { together: true });
  ann.move(5, [x + 0.4, y, z]);
  await ben.until(() => way(LEFT) > 0.3 && way(RIGHT) > 0.3, "both cubes");
  expect(way(ALONE)).toBe(0);
  const { quantum } = ben.topology.bodies[LEFT]!;
  expect(Math.abs(way(LEFT) - way(RIGHT))).toBeLessThan(quantum);
  const held = { grab: 5, body: RIGHT, triangle: 7, together: true };
  expect(ben.memberGrabs.get(ann.welcome.member)!.grabs).toMatchObject([held]);
  const late = await Bot.join(server.url, "twins");
  await late.until(() => late.memberGrabs.get(ann.welcome.member)?.grabs[0]?.together === true, "the earlier grab");

  // A grab of a body outside the group is refused with a message, and has no effect.
  ann.grab(6, { ...point, body: ALONE }, [0, 1, 0], { together: true });
  await ann.until(() => ann.notices.length > 0, "a refusal");
  expect(ann.notices[0]).toMatchObject({
    code: "OUT_OF_RANGE",
    details: {
      field: "together",
      value: ALONE,
      limit: `a body that one grab pulls together with others: ${LEFT}, ${RIGHT}`,
    },
  });

  ann.release(5);
  await ben.until(() => ben.memberGrabs.get(ann.welcome.member)!.grabs.length === 0, "the release");
  // No grab is active any more. Impulses carry the cubes away from the grab's place; one of them may only stop the
  // throw.
  for (const body of [LEFT, RIGHT, LEFT, RIGHT]) ann.impulse({ ...point, body }, [-20, 0, 0]);
  await ben.until(() => way(LEFT) < 0.2 && way(RIGHT) < 0.2, "both cubes on their way back");

  const { records } = decodeRecording(await of("recording"));
  const grabs = records.flatMap(({ inputs }) => inputs).filter(({ type }) => type === "grab");
  expect(grabs).toMatchObject([held]);
  const told = heldIn(await of("replay"));
  expect(told.some((rows) => rows[0]?.[0] === 5 && rows[0][8] === true)).toBe(true);
  expect(told.at(-1)).toEqual([]);
  await Promise.all([ann.leave(), ben.leave(), late.leave()]);
});
