/**
 * `npm run replay -- file`: steps a room's recording again and compares the state hash wherever the recording has one.
 * Reports the first tick that differs. Exit code: 0 all hashes match, 1 a hash differs, 2 the file or the options are
 * invalid.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { zstdDecompressSync } from "node:zlib";
import { encode } from "@msgpack/msgpack";
import { validateScene } from "../../shared/scene/sceneValidator.ts";
import { decodeRecording, type RoomRecording } from "../persistence/recording.ts";
import { forgetList, loadState } from "../sim/world/checkpoint.ts";
import { ObjectMeshes } from "../sim/body/objectMeshes.ts";
import { createWorld, type CreatedWorld } from "../sim/world/createWorld.ts";
import { Recorder } from "../sim/world/record.ts";
import { checkSceneFiles } from "../sim/scene/sceneFiles.ts";
import { openWorld } from "../sim/world.ts";
import { identityOf, topologyHashOf } from "../workers/stateIdentity.ts";
import { copyMemory } from "../workers/stepping/memoryCopy.ts";

const USAGE = `npm run replay -- file [--scenes DIR] [--scene FILE] [--until TICK] [--record DIR]
  file           a recording from GET /api/rooms/<room>/recording
  --scenes DIR   folder that the scene's mesh files are relative to (default: the bundled scenes)
  --scene FILE   the scene, if the recording lacks it
  --until TICK   last tick to step (default: the end)
  --record DIR   also write positions, as npm run simulate -- --record does; npm run check:collisions reads them`;
/** Interval of progress output, ms. */
const PROGRESS_MS = 1000;

function fail(message: string): never {
  process.stderr.write(`replay: ${message}\n`);
  process.exit(2);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scenes: { type: "string" },
    scene: { type: "string" },
    until: { type: "string" },
    record: { type: "string" },
    help: { type: "boolean" },
  },
});
if (values.help || positionals.length !== 1) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}
const [file] = positionals as [string];
const recording = withScene(read(file));
const until = values.until === undefined ? recording.until : Number(values.until);
if (!Number.isInteger(until) || until < recording.from || until > recording.until)
  fail(`--until is ${values.until}, but must be a tick from ${recording.from} to ${recording.until}`);
const created = await build(recording);
console.log(
  `room ${recording.room}, scene ${recording.scene}, recorded at ${recording.recordedAt}: ticks ${recording.from} to ${recording.until}, ${((recording.until - recording.from) / recording.tickHz).toFixed(1)} s, ${recording.records.length} ticks with inputs, ${recording.hashes.length + recording.states.length} hashes`,
);
const identity = identityOf(created.layout, topologyHashOf(encode(created.topology)));
if (identity !== recording.identity)
  console.log("recorded by another version of the program or the scene: the bits may differ");
process.exitCode = replay(recording, created);

function read(path: string): RoomRecording {
  try {
    return decodeRecording(readFileSync(path));
  } catch (error) {
    return fail(`${path}: ${(error as Error).message}`);
  }
}

function withScene(recorded: RoomRecording): RoomRecording {
  const { scene } = values;
  if (scene !== undefined) {
    try {
      return { ...recorded, sceneText: readFileSync(scene, "utf8") };
    } catch (error) {
      return fail(`${scene}: ${(error as Error).message}`);
    }
  }
  if (recorded.sceneText === "")
    fail(
      `the recording has no scene (${(recorded.missing ?? []).join("; ")}): give the file of scene ${recorded.scene} with --scene`,
    );
  return recorded;
}

async function build({ scene, sceneText, objects = [], memoryMb }: RoomRecording): Promise<CreatedWorld> {
  try {
    const baseDir = values.scenes ?? fileURLToPath(new URL("../../scenes", import.meta.url));
    const whole = validateScene(JSON.parse(sceneText));
    // The recording may come from a stranger, and so may the paths in its scene.
    await checkSceneFiles(whole, baseDir);
    const shapes = new Map(objects.map(({ id, shape }) => [id, shape]));
    return await createWorld(whole, {
      baseDir,
      bounded: true,
      objects: new ObjectMeshes(shapes),
      ...(memoryMb !== undefined && { memoryMb }),
    });
  } catch (error) {
    return fail(`scene ${scene}: ${(error as Error).message}`);
  }
}

/** @returns exit code */
function replay(
  { states, records, hashes, from, sceneText }: RoomRecording,
  { memory: template, layout, ...rest }: CreatedWorld,
): number {
  const memory = copyMemory(template);
  const [start] = states;
  try {
    if (start!.packed)
      loadState(memory, layout, zstdDecompressSync(start!.packed, { maxOutputLength: template.buffer.byteLength }));
  } catch (error) {
    return fail(`state of tick ${from}: ${(error as Error).message}`);
  }
  const world = openWorld(memory, layout, template);
  const inputs = new Map(records.map((record) => [record.tick, record]));
  const expected = new Map(
    [...hashes, ...states.filter(({ stateHash }) => stateHash !== "")].map(({ tick, stateHash }) => [tick, stateHash]),
  );
  const recorder =
    values.record === undefined
      ? undefined
      : new Recorder(values.record, validateScene(JSON.parse(sceneText)), { memory, layout, ...rest }, world, "tick");
  let compared = 0;
  let saidMs = performance.now();
  const differs = (): boolean => {
    const wanted = expected.get(world.tickNumber);
    if (wanted === undefined) return false;
    compared += 1;
    if (world.stateHash() === wanted) return false;
    console.log(
      `tick ${world.tickNumber}: state hash ${world.stateHash()}, but ${wanted} was recorded; all ${compared - 1} earlier hashes match`,
    );
    return true;
  };
  if (differs()) return 1;
  while (world.tickNumber < until) {
    const record = inputs.get(world.tickNumber + 1);
    if (record?.fresh) forgetList(memory);
    world.step(record?.inputs ?? []);
    recorder?.write();
    if (differs()) return 1;
    if (process.stderr.isTTY && performance.now() - saidMs > PROGRESS_MS) {
      saidMs = performance.now();
      process.stderr.write(`\r\x1b[Ktick ${world.tickNumber} of ${until}`);
    }
  }
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  recorder?.close({ stateHash: world.stateHash(), ticks: until - from });
  console.log(
    `${until - from} ticks stepped again, ${compared} hashes compared, all match; state hash ${world.stateHash()} at tick ${until}`,
  );
  return 0;
}
