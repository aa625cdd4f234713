/**
 * Damaged pieces of a room, and pieces behind a gap in its journal: the room continues without them. An operator can
 * download them, byte for byte, until they are deleted.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { STORE_FILE } from "../../../server/store/openStore.ts";
import { startTestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const ADMIN = "an-operators-own-token";
const folder = testFolder("quarantined-pieces");

interface Piece {
  id: number;
  what: string;
  tick: number;
  after: number | null;
  reason: string;
  bytes: number;
}

/** Damages the last piece but one, so that the last one does not connect. @returns both, as they are in the file */
function damage(room: string): { until_tick: number; bytes: Uint8Array }[] {
  const file = new DatabaseSync(join(folder, STORE_FILE));
  try {
    const rows = file
      .prepare("SELECT until_tick, bytes FROM journal WHERE room = ? ORDER BY until_tick DESC LIMIT 2")
      .all(room) as unknown as { until_tick: number; bytes: Uint8Array }[];
    const damaged = rows[1]!;
    damaged.bytes[8]! ^= 255;
    file
      .prepare("UPDATE journal SET bytes = ? WHERE room = ? AND until_tick = ?")
      .run(damaged.bytes, room, damaged.until_tick);
    file.prepare("DELETE FROM checkpoints WHERE room = ? AND tick > ?").run(room, rows[1]!.until_tick - 1);
    return rows;
  } finally {
    file.close();
  }
}

test("damaged pieces and the pieces behind them are quarantined, whole, and an operator has them until they are deleted", async () => {
  const options = { store: "sqlite", dataDir: folder, adminToken: ADMIN } as const;
  const first = await startTestServer(options);
  await createRoom(first.url, "cube", "room");
  const bot = await Bot.join(first.url, "room");
  await bot.until(() => bot.tick > 120, "some pieces of journal");
  bot.drop();
  await first.close();
  const [last, damaged] = damage("room");

  const second = await startTestServer(options);
  const { url } = second;
  const call = (method: string, path: string, token = ADMIN): Promise<Response> =>
    fetch(`${url}/api/admin/rooms/${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  const pieces = async (): Promise<Piece[]> =>
    ((await (await call("GET", "room/quarantined-pieces")).json()) as { pieces: Piece[] }).pieces;
  await expect.poll(async () => (await fetch(`${url}/api/rooms/room`)).status, { timeout: 300_000 }).toBe(200);
  const { tick } = (await (await fetch(`${url}/api/rooms/room`)).json()) as { tick: number };
  expect(tick).toBeLessThan(damaged!.until_tick);
  const found = await pieces();
  expect(found.map((piece) => [piece.what, piece.tick, piece.bytes])).toEqual([
    ["journal", damaged!.until_tick, damaged!.bytes.byteLength],
    ["journal", last!.until_tick, last!.bytes.byteLength],
  ]);
  expect(found[0]!.reason).toContain("checksum");
  expect(found[1]!.reason).toContain("the journal before it ends at");
  for (const [i, { bytes }] of [damaged!, last!].entries()) {
    const answer = await call("GET", `room/quarantined-pieces/${found[i]!.id}`);
    expect(answer.status).toBe(200);
    expect(Buffer.compare(new Uint8Array(await answer.arrayBuffer()), bytes)).toBe(0);
  }
  expect((await call("GET", `other/quarantined-pieces/${found[0]!.id}`)).status).toBe(404);
  expect((await call("GET", "other/quarantined-pieces")).status).toBe(404);
  expect((await call("GET", "room/quarantined-pieces", "nobody's-token-at-all")).status).toBe(401);
  expect((await call("DELETE", `room/quarantined-pieces/${found[0]!.id}`)).status).toBe(204);
  expect((await call("DELETE", `room/quarantined-pieces/${found[0]!.id}`)).status).toBe(404);
  expect((await pieces()).map(({ id }) => id)).toEqual([found[1]!.id]);
  await second.close();
});
