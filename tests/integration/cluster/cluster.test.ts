/**
 * Several processes on one store: leases, takeover, hand-over, forwarding; processes killed, stopped and continued.
 * Real processes, real signals, real stores.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { type Node, Nodes, endAll } from "./nodes.ts";

/** Term of the leases, s. The machine stays busy while a process stops: long enough that it is not taken for gone. */
const TERM = 4;
const folder = mkdtempSync(join(tmpdir(), "pliant-cluster-"));
let count = 0;
let nodes: Nodes;
beforeEach(() => {
  nodes = new Nodes(join(folder, `${++count}.sqlite`), "a secret of the cluster's own", TERM);
});
afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const json = async (url: string, init?: RequestInit): Promise<any> => (await fetch(url, init)).json();
const create = (node: Node, room: string): Promise<any> =>
  json(`${node.url}/api/rooms`, {
    method: "POST",
    body: JSON.stringify({ room }),
    headers: { "content-type": "application/json" },
  });
const names = (length: number): string[] => Array.from({ length }, (_, i) => `room-${i}`);
const owner = (room: string): string | undefined => nodes.last(room)?.by;
const steppedSince = (rooms: string[], ms: number, by?: string): boolean =>
  rooms.every((room) =>
    nodes.ticks.some((tick) => tick.room === room && tick.ms > ms && (by === undefined || tick.by === by)),
  );
/**
 * Who is stopped in the middle of a write keeps SQLite's one write lock until it goes on, and nobody can take over
 * (server/store/sqliteFile.ts): that is not what is tested here.
 */
async function stopBetweenWrites(node: Node): Promise<void> {
  const database = new DatabaseSync(nodes.where);
  try {
    for (let tries = 0; tries < 100; tries++) {
      node.child.kill("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 50));
      try {
        database.exec("BEGIN IMMEDIATE; ROLLBACK");
        return;
      } catch {
        node.child.kill("SIGCONT");
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    throw new Error("it was always stopped in the middle of a write");
  } finally {
    database.close();
  }
}
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

describe("takeover", () => {
  test("killed: its rooms go on at the others, where the store had them, none twice", async () => {
    const [a] = [await nodes.start(), await nodes.start(), await nodes.start()];
    const rooms = names(20);
    for (const room of rooms) await create(a, room);
    await nodes.until("all rooms have ticked so often that something of each is written", () =>
      rooms.every((room) => (nodes.last(room)?.tick ?? 0) > 3),
    );
    const killedMs = nowMs();
    a.child.kill("SIGKILL");
    await nodes.until("all rooms tick elsewhere", () => rooms.every((room) => owner(room) !== a.process));
    // Each goes on from a tick that the dead one had written: at most the one that was on its way is missing, and none
    // is counted twice.
    for (const room of rooms) {
      const own = nodes.ticks.filter((tick) => tick.room === room);
      const last = own.filter(({ by }) => by === a.process).at(-1)?.tick as number;
      const first = own.find(({ by }) => by !== a.process)?.tick as number;
      expect(first).toBeLessThanOrEqual(last + 1);
      expect(first).toBeGreaterThan(1);
    }
    expect(nodes.twins()).toEqual([]);
    expect(steppedSince(rooms, killedMs)).toBe(true);
  });

  test("stopped and continued: the others go on after the term, and who wakes steps nothing of theirs", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    const rooms = names(6);
    for (const room of rooms) await create(a, room);
    await nodes.until("all rooms tick", () => steppedSince(rooms, 0));
    await stopBetweenWrites(a);
    await nodes.until("all rooms tick at the other", () => rooms.every((room) => owner(room) === b.process));
    const wokenMs = nowMs();
    a.child.kill("SIGCONT");
    // Longer than a renewal, after which it knows what it has lost.
    await new Promise((resolve) => setTimeout(resolve, 1000 * TERM));
    expect(nodes.ticks.filter((tick) => tick.by === a.process && tick.ms > wokenMs)).toEqual([]);
    expect(nodes.twins()).toEqual([]);
    expect((await json(`${a.url}/api/rooms/${rooms[0]}`)).process).toBe(b.process);
  });

  test("stopped and continued with nobody else there: the room goes on as if nothing had been", async () => {
    const a = await nodes.start();
    await create(a, "alone");
    await nodes.until("it ticks", () => steppedSince(["alone"], 0));
    a.child.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 1500 * TERM));
    const wokenMs = nowMs();
    a.child.kill("SIGCONT");
    await nodes.until("it ticks again", () => steppedSince(["alone"], wokenMs));
    expect(new Set(nodes.ticks.map(({ epoch }) => epoch)).size).toBe(1);
  });

  test("killed and started again: its rooms need not wait for its own old lease", async () => {
    // Longer than anything is waited for here.
    nodes = new Nodes(nodes.where, "a secret of the cluster's own", 300);
    const a = await nodes.start();
    const rooms = names(10);
    for (const room of rooms) await create(a, room);
    await nodes.until("all rooms tick", () => steppedSince(rooms, 0));
    a.child.kill("SIGKILL");
    await once(a.child, "exit");
    const again = await nodes.start();
    await nodes.until("all rooms tick again", () => rooms.every((room) => owner(room) === again.process));
  });
});

describe("hand-over", () => {
  test("on SIGTERM every room goes on at the others with its very next tick, and the process ends by itself", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    const rooms = names(12);
    for (const room of rooms) await create(a, room);
    await nodes.until("all rooms tick", () => steppedSince(rooms, 0));
    a.child.kill("SIGTERM");
    const [code] = (await once(a.child, "exit")) as [number];
    expect(code).toBe(0);
    await nodes.until("all rooms tick at the other", () => rooms.every((room) => owner(room) === b.process));
    for (const room of rooms) {
      const own = nodes.ticks.filter((tick) => tick.room === room).map(({ tick }) => tick);
      expect(own).toEqual(own.map((_, i) => i + 1));
    }
    expect(nodes.twins()).toEqual([]);
  });

  test("on request one room changes hands; with nobody to take it, it comes back", async () => {
    const a = await nodes.start();
    await create(a, "wanderer");
    await nodes.until("it ticks", () => steppedSince(["wanderer"], 0));
    const first = nodes.last("wanderer")?.epoch;
    expect(await json(`${a.url}/api/admin/rooms/wanderer/hand-over`, { method: "POST" })).toEqual({
      handed: ["wanderer"],
    });
    await nodes.until("it comes back", () => nodes.last("wanderer")?.epoch !== first);
    expect(owner("wanderer")).toBe(a.process);
    const b = await nodes.start();
    await json(`${b.url}/api/admin/rooms/wanderer/hand-over`, { method: "POST" }); // Passed on to the owner.
    await nodes.until("it goes", () => owner("wanderer") === b.process);
  });
});

describe("forwarding", () => {
  test("whoever is asked, the owner answers, and knows who asked", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    await create(a, "far");
    const [near, far] = [
      await json(`${a.url}/api/rooms/far?x=1&y=%20`),
      await json(`${b.url}/api/rooms/far?x=1&y=%20`),
    ];
    expect(far).toEqual({ ...near, tick: far.tick, host: new URL(b.url).host });
    expect(far).toMatchObject({ process: a.process, address: "127.0.0.1", query: { x: "1", y: " " } });
    expect(await create(b, "far")).toMatchObject({ created: false, process: a.process, body: { room: "far" } });
    for (const node of [a, b]) {
      expect(await json(`${node.url}/api/rooms`)).toEqual([{ name: "far", owner: a.process }]);
      expect((await fetch(`${node.url}/api/rooms/nowhere`)).status).toBe(404);
    }
  });

  test("a socket through another process: the same bytes both ways, also large and many; the owner's refusal; its end", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    await create(a, "far");
    const socket = new WebSocket(`${b.url.replace("http", "ws")}/api/rooms/far/socket`);
    const received: Buffer[] = [];
    socket.on("message", (data: Buffer) => received.push(data));
    await nodes.until("a word of the owner's", () => received.length === 1);
    expect(JSON.parse(received[0].toString())).toEqual({
      process: a.process,
      address: "127.0.0.1",
      host: new URL(b.url).host,
    });
    const sent = Array.from({ length: 60 }, (_, i) => Buffer.alloc(1 + i * i * 50, i));
    for (const data of sent) socket.send(data);
    await nodes.until("all of it", () => received.length === 1 + sent.length);
    expect(Buffer.concat(received.slice(1)).equals(Buffer.concat(sent))).toBe(true);

    const refused = new WebSocket(`${b.url.replace("http", "ws")}/api/rooms/far/socket?refuse=1`);
    const [, answer] = (await once(refused, "unexpected-response")) as [unknown, { statusCode: number }];
    expect(answer.statusCode).toBe(403);
    refused.on("error", () => {});
    refused.terminate();

    const closed = once(socket, "close");
    a.child.kill("SIGKILL");
    expect((await closed)[0]).toBe(1006);
  });

  test("who only passes sockets on ends in order, too, and takes them along", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    await create(a, "far");
    const socket = new WebSocket(`${b.url.replace("http", "ws")}/api/rooms/far/socket`);
    await once(socket, "message");
    const [closed, exit] = [once(socket, "close"), once(b.child, "exit")];
    b.child.kill("SIGTERM");
    expect((await exit)[0]).toBe(0);
    await closed;
    expect((await json(`${a.url}/api/rooms/far`)).process).toBe(a.process);
  });

  test("a forged word about who asks is not believed, and is passed on to nobody", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    await create(a, "far");
    const forged = { "x-pliant-hop": `${Date.now()}.${Buffer.from("192.0.2.1").toString("base64url")}.AAAA` };
    expect(await json(`${a.url}/api/rooms/far`, { headers: forged })).toMatchObject({ address: "127.0.0.1" });
    const passed = await fetch(`${b.url}/api/rooms/far`, { headers: forged });
    expect([passed.status, (await passed.json()).code]).toEqual([503, "ROOM_MOVING"]);
  });

  test("an owner that does not answer: 503 until another has the room, never 404", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    await create(a, "far");
    a.child.kill("SIGKILL");
    const statuses = new Set<number>();
    await nodes.until("the room is back", async () => {
      const answer = await fetch(`${b.url}/api/rooms/far`);
      statuses.add(answer.status);
      return answer.status === 200 && (await answer.json()).process === b.process;
    });
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  });
});
