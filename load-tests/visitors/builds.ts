/**
 * `node builds.ts <url> <seconds> <first>`: a client that has models of 110,336 triangles built, one after another,
 * each with another phase from <first> on. Generates the files, sends `ready`, begins when told to, ends after
 * <seconds>, and sends the time of each build, s.
 */
import { once } from "node:events";
import { createRoom, deleteRoom } from "../bot.ts";
import { RING, ringGlb } from "./ringFile.ts";

/** Reading and building a model of this size takes at least this long, s. */
const LEAST_BUILD_SECONDS = 0.5;

async function build(url: string, body: Uint8Array<ArrayBuffer>): Promise<number> {
  const startMs = performance.now();
  const read = await fetch(`${url}/api/objects?name=ring.glb`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body,
  });
  const { object } = (await read.json()) as { object: string };
  const made = await fetch(`${url}/api/scenes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ object, role: "soft", material: "rubber", size: 0.5 }),
  });
  const { scene } = (await made.json()) as { scene: string };
  // Builds the scene, and resolves when it is built.
  const { room, token } = await createRoom(url, scene);
  const seconds = (performance.now() - startMs) / 1000;
  await deleteRoom(url, room, token);
  return seconds;
}

const [url, seconds, first] = process.argv.slice(2) as [string, string, string];
const files: Uint8Array<ArrayBuffer>[] = [];
for (let k = 0; k < Number(seconds) / LEAST_BUILD_SECONDS; k++)
  files.push(Uint8Array.from(await ringGlb({ ...RING, phase: Number(first) + k })));
process.send!("ready");
await once(process, "message");
const untilMs = performance.now() + 1000 * Number(seconds);
const took: number[] = [];
while (performance.now() < untilMs) took.push(await build(url, files.pop()!));
process.send!(took, () => process.exit(0));
