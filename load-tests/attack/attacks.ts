/**
 * Attacks that a client without a token can run against a server; each runs until the process ends. An attacker sends
 * its next request as soon as it has an answer, regardless of the answer.
 */
import { randomBytes } from "node:crypto";
import { Agent, get, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { encode } from "@msgpack/msgpack";
import WebSocket from "ws";
import { Bot, createRoom } from "../bot.ts";

type Attack = (url: string) => Promise<void>;

/** Concurrent requests of each HTTP attack. */
const AT_ONCE = 8;
/** Pause between requests, ms, so that on one machine some CPU time is left for the other clients. */
const PAUSE_MS = 2;

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** @returns when the answer has been read; never rejects */
function ask(url: string, method = "GET", headers: Record<string, string> = {}, body?: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    const asked = request(url, { method, agent, headers }, (answer) => {
      answer.resume();
      answer.on("close", resolve);
    });
    asked.on("error", () => resolve());
    asked.end(body);
  });
}

async function loop(work: (turn: number) => Promise<void>, atOnce = AT_ONCE): Promise<void> {
  const one = async (): Promise<void> => {
    for (let turn = 0; ; turn++) {
      await work(turn).catch(() => {});
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** The attacker's own room of a scene, created once; retried until the server allows it. */
const rooms = new Map<string, Promise<{ room: string; token?: string }>>();
function ownRoom(url: string, scene: string): Promise<{ room: string; token?: string }> {
  const known = rooms.get(scene);
  if (known) return known;
  const made = (async () => {
    for (;;) {
      try {
        return await createRoom(url, scene);
      } catch {
        await sleep(500);
      }
    }
  })();
  rooms.set(scene, made);
  return made;
}

const json = { "content-type": "application/json" };
const host = (url: string): { host: string; port: number } => ({ host: "127.0.0.1", port: Number(new URL(url).port) });

/** Keeps `count` TCP connections open, and opens new ones when they end. */
async function lines(url: string, count: number, use: (line: ReturnType<typeof connect>) => void): Promise<void> {
  const open = (): void => {
    const line = connect(host(url));
    line.on("error", () => {});
    line.on("close", () => setTimeout(open, 20));
    line.on("connect", () => use(line));
  };
  for (let i = 0; i < count; i++) open();
}

const gltf = (more: object): string => JSON.stringify({ asset: { version: "2.0" }, ...more });
const meshOf = (accessor: object): object => ({
  accessors: [accessor],
  meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
  nodes: [{ mesh: 0 }],
  scenes: [{ nodes: [0] }],
});

/** A GLB whose compressed mesh claims to have two billion faces. */
function dracoBomb(): Buffer {
  const faces = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07]);
  // Version 2.2, a mesh, sequential, no flags; then the numbers of faces and points.
  const draco = Buffer.concat([Buffer.from("DRACO"), Buffer.from([2, 2, 1, 0, 0, 0]), faces, faces, randomBytes(997)]);
  const compressed = { KHR_draco_mesh_compression: { bufferView: 0, attributes: { POSITION: 0 } } };
  const primitive = { attributes: { POSITION: 0 }, indices: 1, extensions: compressed };
  const text = gltf({
    ...meshOf({}),
    extensionsUsed: Object.keys(compressed),
    extensionsRequired: Object.keys(compressed),
    buffers: [{ byteLength: draco.length }],
    bufferViews: [{ buffer: 0, byteLength: draco.length }],
    accessors: [
      { count: 2_000_000_000, componentType: 5126, type: "VEC3" },
      { count: 6_000_000_000, componentType: 5125, type: "SCALAR" },
    ],
    meshes: [{ primitives: [primitive] }],
  });
  const chunk = (kind: string, bytes: Buffer, pad: string): Buffer => {
    const whole = Buffer.concat([bytes, Buffer.from(pad.repeat(-bytes.length & 3))]);
    const head = Buffer.alloc(8, kind);
    head.writeUInt32LE(whole.length);
    head.write(kind, 4, "latin1");
    return Buffer.concat([head, whole]);
  };
  const body = Buffer.concat([chunk("JSON", Buffer.from(text), " "), chunk("BIN\0", draco, "\0")]);
  const head = Buffer.from("glTF\x02\0\0\0\0\0\0\0", "latin1");
  head.writeUInt32LE(12 + body.length, 8);
  return Buffer.concat([head, body]);
}

export const ATTACKS: Readonly<Record<string, Attack>> = {
  /** Requests that are expensive to answer. */
  routes: async (url) => {
    const { room } = await ownRoom(url, "bunny");
    const paths = [
      "/api/scenes",
      "/metrics",
      "/api/rooms",
      `/api/rooms/${room}/positions`,
      `/api/rooms/${room}/recording`,
      `/api/rooms/${room}/replay?seconds=10`,
      "/docs/json",
      "/",
    ];
    await loop((turn) =>
      ask(
        turn % 9 === 8
          ? `${url}/api/topologies/${randomBytes(16).toString("hex")}`
          : `${url}${paths[turn % paths.length]!}`,
      ),
    );
  },
  /** Rooms that do not exist. */
  nowhere: (url) => loop((turn) => ask(`${url}/api/rooms/nowhere-${turn}-${randomBytes(3).toString("hex")}`)),
  /** Many request bodies that arrive slowly, byte by byte. */
  slowBodies: (url) =>
    lines(url, 200, (line) => {
      line.write(
        "POST /api/rooms HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n",
      );
      const timer = setInterval(() => line.write(" "), 500);
      line.on("close", () => clearInterval(timer));
    }),
  /** Connections that send nothing, or half a request head. */
  halfOpen: (url) => lines(url, 600, (line) => void (Math.random() < 0.5 && line.write("GET / HTTP/1.1\r\nX-Y: "))),
  /** Invalid tokens, over HTTP and sockets. */
  wrongTokens: async (url) => {
    const { room } = await ownRoom(url, "bunny");
    await loop(async (turn) => {
      const token = randomBytes(24).toString("base64url");
      if (turn % 2) return ask(`${url}/api/admin/rooms`, "GET", { authorization: `Bearer ${token}` });
      const bot = Bot.connect(url, room, { joinToken: token });
      await bot.untilClosed(2000).catch(() => bot.drop());
    }, 4);
  },
  /** Creates rooms of all scenes, as many as possible. */
  creations: (url) =>
    loop(async (turn) => {
      const scene = ["drape", "dragon", "bunny", "flag-on-pole", "jelly-stack"][turn % 5]!;
      await ask(`${url}/api/rooms`, "POST", json, JSON.stringify({ scene }));
      await sleep(20);
    }, 4),
  /** One grab in a heavy room. */
  heavyRoom: async (url) => {
    const { room } = await ownRoom(url, "drape");
    for (;;) {
      try {
        const bot = await Bot.join(url, room, { timeoutMs: 20_000 });
        const point = { body: 0, triangle: 0, u: 0.3, v: 0.3 };
        const from = bot.surfacePosition(point);
        bot.grab(1, point, from);
        for (let move = 0; bot.closed === null; move++) {
          bot.move(1, [from[0] + 0.4 * Math.sin(move / 5), from[1] + 0.3, from[2] + 0.4 * Math.cos(move / 5)]);
          await sleep(40);
        }
      } catch {
        await sleep(200);
      }
    }
  },
  /** Continuous undos of the attacker's own room. */
  undos: async (url) => {
    const { room, token } = await ownRoom(url, "bunny");
    const headers = { ...json, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    await loop(() => ask(`${url}/api/rooms/${room}/undo`, "POST", headers, '{"seconds":100}'), 4);
  },
  /** Requests recordings and replay streams without reading them. */
  deafReaders: async (url) => {
    const { room } = await ownRoom(url, "bunny");
    await loop(async (turn) => {
      const asked = get(
        `${url}/api/rooms/${room}/${turn % 2 ? "recording" : "replay?seconds=60"}`,
        { agent: false },
        (answer) => answer.pause(),
      );
      asked.on("error", () => {});
      await sleep(500);
    }, 4);
  },
  /** Files that are expensive to read or arrive slowly, and one valid file. */
  uploads: async (url) => {
    const bring = (name: string, body: string | Buffer): Promise<void> =>
      ask(`${url}/api/objects?name=${name}`, "POST", {}, body);
    const files: (() => Promise<void>)[] = [
      () =>
        bring("deep.gltf", gltf({ extras: 0 }).replace('"extras":0', `"extras":${"[".repeat(4e6)}${"]".repeat(4e6)}`)),
      () => bring("huge.gltf", gltf(meshOf({ count: 3_000_000_000, componentType: 5126, type: "VEC3" }))),
      () => bring("bomb.glb", dracoBomb()),
      () => bring("long.obj", "v 0 0 0\n".repeat(2_000_000)),
      () =>
        bring(
          "small.obj",
          `v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 ${1 + Math.random()}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n`,
        ),
    ];
    void lines(url, 20, (line) => {
      line.write("POST /api/objects?name=slow.obj HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n");
      const timer = setInterval(() => line.write("v"), 500);
      line.on("close", () => clearInterval(timer));
    });
    await loop((turn) => files[turn % files.length]!(), 4);
  },
  /** Invalid frames, invalid messages, and a flood of valid messages. */
  badFrames: async (url) => {
    const { room } = await ownRoom(url, "jelly-stack");
    await loop(async (turn) => {
      const socket = new WebSocket(`${url.replace("http", "ws")}/api/rooms/${room}/socket`);
      await new Promise<void>((resolve) => {
        socket.on("error", () => {});
        socket.on("close", () => resolve());
        socket.on("open", () => {
          if (turn % 3 === 0) return socket.send(randomBytes(4096));
          if (turn % 3 === 1) return socket.send(randomBytes(100_000));
          socket.send(encode([1, 1, { name: "mallory" }]));
          const flood = setInterval(() => {
            for (let i = 0; i < 200; i++) socket.send(encode([2, i, 0, 0, 0.3, 0.3, 0, 1, 0]));
          }, 10);
          socket.on("close", () => clearInterval(flood));
          setTimeout(() => socket.terminate(), 3000);
        });
      });
    }, 6);
  },
};
