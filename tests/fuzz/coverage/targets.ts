/** Code that untrusted bytes reach: messages of the socket, mesh files, scene files, recordings. */
import { readdirSync, readFileSync } from "node:fs";
import { decode, encode } from "@msgpack/msgpack";
import { MeshError } from "../../../server/meshing/mesh.ts";
import { decodeRecording, RecordingError } from "../../../server/persistence/recording.ts";
import { checkRanges } from "../../../server/rooms/inputs/requestRanges.ts";
import { MalformedMessage, parseClientMessage } from "../../../shared/protocol/fromClient.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { anyFrame, shape } from "../frames.ts";
import { FORMATS } from "../meshFormats.ts";
import { bent, damaged } from "../mutate.ts";
import { OBJECT_FORMATS } from "../objectFormats.ts";
import { Random } from "../random.ts";
import { sealed, whole } from "../wholeRecording.ts";
import type { Target } from "./search.ts";

/** Damages an input, or joins the head of one and the tail of another. */
function bytes(input: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  if (random.chance(0.1)) {
    const head = input.subarray(0, random.below(input.length + 1));
    return Buffer.concat([head, other.subarray(random.below(other.length + 1))]);
  }
  if (random.chance(0.4) && input.length > 0) {
    const copy = Uint8Array.from(input);
    copy[random.below(copy.length)] = random.below(256);
    return copy;
  }
  return damaged(input, random);
}

/** Changes values of a text or message if it can be parsed; damages the bytes otherwise. */
const values =
  (read: (input: Uint8Array) => unknown, write: (value: unknown) => Uint8Array): Target["mutate"] =>
  (input, other, random) => {
    if (random.chance(0.3)) return bytes(input, other, random);
    try {
      return write(bent(read(input), random));
    } catch {
      return bytes(input, other, random);
    }
  };

/** Runs it, and accepts refusals of this kind as answers. */
const refusing =
  (refusal: new (...args: never[]) => Error, run: (input: Uint8Array) => void) =>
  (input: Uint8Array): void => {
    try {
      run(input);
    } catch (error) {
      if (!(error instanceof refusal)) throw error;
    }
  };

const frames = new Random(1);
const messages: Target = {
  name: "messages",
  seeds: Array.from({ length: 20 }, () => anyFrame(frames, { bodies: 2, triangles: 40, members: 8 }).bytes),
  mutate: values(decode, encode),
  run: refusing(MalformedMessage, (input) => {
    const request = parseClientMessage(input);
    if (request) checkRanges(request, shape);
  }),
};

const meshes = FORMATS.map(
  ({ name, file, read }): Target => ({
    name: `mesh-${name.replace(/\W+/g, "-")}`,
    seeds: [file],
    mutate: bytes,
    run: refusing(MeshError, (input) => {
      const { positions, corners } = read(input);
      if (!positions.every(Number.isFinite)) throw new Error("a position is not a number");
      if (!corners.every((corner) => corner < positions.length / 3)) throw new Error("a corner is not a vertex");
    }),
  }),
);

const folder = new URL("../../integration/scenes/", import.meta.url);
const text = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value) ?? "");
const scenes: Target = {
  name: "scenes",
  seeds: readdirSync(folder)
    .filter((file) => !["broken.json", "invalid.json"].includes(file))
    .map((file) => text(JSON.parse(readFileSync(new URL(file, folder), "utf8")))),
  mutate: values((input) => JSON.parse(Buffer.from(input).toString()), text),
  run: refusing(SceneError, (input) => {
    let scene: unknown;
    try {
      scene = JSON.parse(Buffer.from(input).toString());
    } catch {
      return; // The JSON parser reports invalid JSON (rooms/scenes/sceneLibrary.ts).
    }
    validateScene(scene);
  }),
};

const recordings: Target = {
  name: "recordings",
  seeds: [encode(whole)],
  mutate: values(decode, encode),
  run: refusing(RecordingError, (input) => void decodeRecording(sealed(input))),
};

const objects = OBJECT_FORMATS.map(
  ({ name, seeds, mutate, read }): Target => ({
    name: `object-${name}`,
    seeds,
    mutate: (input, other, random) => mutate(input, random) ?? bytes(input, other, random),
    run: async (input) => void (await read(input)),
  }),
);

export const TARGETS: readonly Target[] = [messages, ...meshes, ...objects, scenes, recordings];
