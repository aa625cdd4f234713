/**
 * Several processes on one store: leases, takeover, hand-over, forwarding; processes killed, paused and continued. Real
 * processes, real signals, real stores.
 */
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { type Node, Nodes, endAll } from "./nodes.ts";
import { postJson } from "../../support/request.ts";
import { testFolder } from "../../support/testFolder.ts";

/** Term of the leases, s. Long enough that a slow process on a busy machine does not count as dead. */
const TERM = 4;
const folder = testFolder("cluster");
let count = 0;
let nodes: Nodes;
beforeEach(() => {
  nodes = new Nodes(join(folder, `${++count}.sqlite`), "a secret of the cluster's own", TERM);
});
afterEach(endAll);

const json = async (url: string, init?: RequestInit): Promise<any> => (await fetch(url, init)).json();
const create = (node: Node, room: string): Promise<any> =>
  postJson(`${node.url}/api/rooms`, { room }).then((answer) => answer.json());
const names = (length: number): string[] => Array.from({ length }, (_, i) => `room-${i}`);
const owner = (room: string): string | undefined => nodes.last(room)?.by;
const steppedSince = (rooms: string[], ms: number, by?: string): boolean =>
  rooms.every((room) =>
    nodes.ticks.some((tick) => tick.room === room && tick.ms > ms && (by === undefined || tick.by === by)),
  );
/**
 * A process paused during a write keeps SQLite's only write lock until it continues, which blocks any takeover
 * (server/store/sqlite/sqliteFile.ts). That is not tested here.
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
    throw new Error("the process was paused during a write at each attempt");
  } finally {
    database.close();
  }
}
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

describe("takeover", () => {
  test("killed: its rooms continue at other processes, from the store's state, none twice", async () => {
    const [a] = [await nodes.start(), await nodes.start(), await nodes.start()];
    const rooms = names(20);
    for (const room of rooms) await create(a, room);
    await nodes.until("some ticks of each room are written", () =>
      rooms.every((room) => (nodes.last(room)?.tick ?? 0) > 3),
    );
    const killedMs = nowMs();
    a.child.kill("SIGKILL");
    await nodes.until("all rooms tick elsewhere", () => rooms.every((room) => owner(room) !== a.process));
    // Each resumes from a tick that the dead process had written: at most its last write is missing, and no tick is
    // counted twice.
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

  test("paused and continued: other processes take over after the term, and the continued process steps none of their rooms", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    const rooms = names(6);
    for (const room of rooms) await create(a, room);
    await nodes.until("all rooms tick", () => steppedSince(rooms, 0));
    await stopBetweenWrites(a);
    await nodes.until("all rooms tick at the other", () => rooms.every((room) => owner(room) === b.process));
    const wokenMs = nowMs();
    a.child.kill("SIGCONT");
    // Longer than a renewal, after which it knows which leases it has lost.
    await new Promise((resolve) => setTimeout(resolve, 1000 * TERM));
    expect(nodes.ticks.filter((tick) => tick.by === a.process && tick.ms > wokenMs)).toEqual([]);
    expect(nodes.twins()).toEqual([]);
    expect((await json(`${a.url}/api/rooms/${rooms[0]}`)).process).toBe(b.process);
  });

  test("paused and continued without other processes: the room continues as before", async () => {
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

  test("killed and started again: its rooms do not wait for its own old lease", async () => {
    // A term longer than any wait in this test.
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
  test("on SIGTERM every room continues elsewhere with its very next tick, and the process exits", async () => {
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

  test("one room moves on request; if no process can take it, it comes back", async () => {
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
    await json(`${b.url}/api/admin/rooms/wanderer/hand-over`, { method: "POST" }); // Forwarded to the owner.
    await nodes.until("it goes", () => owner("wanderer") === b.process);
  });
});

describe("forwarding", () => {
  test("any process forwards a request to the owner, which knows the original caller", async () => {
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

  test("a socket through another process has the same bytes both ways, also large and many, the owner's refusal, and its close", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    await create(a, "far");
    const socket = new WebSocket(`${b.url.replace("http", "ws")}/api/rooms/far/socket`);
    const received: Buffer[] = [];
    socket.on("message", (data: Buffer) => received.push(data));
    await nodes.until("a message of the owner", () => received.length === 1);
    expect(JSON.parse(received[0].toString())).toEqual({
      process: a.process,
      address: "127.0.0.1",
      host: new URL(b.url).host,
    });
    const sent = Array.from({ length: 60 }, (_, i) => Buffer.alloc(1 + i * i * 50, i));
    for (const data of sent) socket.send(data);
    await nodes.until("the whole echo", () => received.length === 1 + sent.length);
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

  test("a process that only forwards sockets also ends in order, and closes them", async () => {
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

  test("a forged identity of the caller is ignored and not forwarded", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    await create(a, "far");
    const forged = { "x-pliant-hop": `${Date.now()}.${Buffer.from("192.0.2.1").toString("base64url")}.AAAA` };
    expect(await json(`${a.url}/api/rooms/far`, { headers: forged })).toMatchObject({ address: "127.0.0.1" });
    const passed = await fetch(`${b.url}/api/rooms/far`, { headers: forged });
    expect([passed.status, (await passed.json()).code]).toEqual([503, "ROOM_MOVING"]);
  });

  test("an owner that does not answer: 503 until another process has the room, never 404", async () => {
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
