/**
 * Reads recordings of `npm run simulate -- --record` (docs/RECORDINGS.md documents the format) and validates
 * everything: each mismatch is an error with file, field, value and limit. Positions are read one run of frames at a
 * time, because a recording may be larger than memory.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";

export const FORMAT = "pliant-recording-1";

export class RecordingError extends Error {}

/** Triangles of a body or a collider. Plain data: it is sent to the threads. */
export interface Surface {
  name: string;
  /**
   * Particle indices: the used ones, the ends of all edges (two each, each edge once), the corners of all triangles
   * (three each).
   */
  vertices: Uint32Array;
  edges: Uint32Array;
  triangles: Uint32Array;
  /**
   * Frames that the surface reached without motion from the frame before: a collider whose path restarted elsewhere.
   */
  jumps: Set<number>;
  /** Frames in which a spawnable body is not in the scene. */
  absent: Set<number>;
  /** Ends of the edges, and corners of the triangles, as indices into `vertices`. */
  edgeEnds: Uint32Array;
  corners: Uint32Array;
}

interface Plane {
  name: string;
  /** normal . x = offset in the coordinates of the positions, normal of length 1: one row of four, or one per frame. */
  rows: Float64Array;
  /** Indices of the bodies that collide with it. */
  bodies: number[];
}

export interface Recording {
  dir: string;
  title: string;
  every: string;
  frames: number;
  particles: number;
  /** Position file: local.f32 if it exists, because it keeps all bits of the positions. */
  file: string;
  /** Bodies, then the colliders that have triangles. */
  surfaces: Surface[];
  bodies: { name: string; first: number; count: number }[];
  /** Pairs of indices into `surfaces`, first <= second, that must not intersect. */
  pairs: [number, number][];
  planes: Plane[];
  /** Pinned particles, which planes do not push. */
  pinned: Uint8Array;
}

type Json = Record<string, unknown>;

const shown = (value: unknown): string =>
  value === undefined ? "missing" : (JSON.stringify(value) ?? String(value)).slice(0, 60);

/** Reads fields of one JSON object and reports invalid ones. */
class Fields {
  private readonly data: Json;
  private readonly path: string;

  constructor(data: unknown, path: string) {
    if (typeof data !== "object" || data === null || Array.isArray(data))
      throw new RecordingError(`${path}: ${shown(data)}, limit: an object`);
    this.data = data as Json;
    this.path = path;
  }

  private wrong(name: string, value: unknown, limit: string): never {
    throw new RecordingError(`${this.path}${name}: ${shown(value)}, limit: ${limit}`);
  }

  has(name: string): boolean {
    return this.data[name] !== undefined;
  }

  integer(name: string, low: number, high: number): number {
    const value = this.data[name];
    return Number.isInteger(value) && (value as number) >= low && (value as number) <= high
      ? (value as number)
      : this.wrong(name, value, `a whole number from ${low} to ${high}`);
  }

  text(name: string, limit = "text"): string {
    const value = this.data[name];
    return typeof value === "string" && value !== "" ? value : this.wrong(name, value, limit);
  }

  list(name: string): unknown[] {
    const value = this.data[name];
    return Array.isArray(value) ? value : this.wrong(name, value, "a list");
  }

  /** Reads integers from low to below `end`; their number must be a multiple of `size`. */
  indices(name: string, low: number, end: number, size: number): Uint32Array {
    const list = this.list(name);
    if (list.length % size !== 0) this.wrong(name, `${list.length} numbers`, `a multiple of ${size}`);
    list.forEach((value, i) => {
      if (!(Number.isInteger(value) && (value as number) >= low && (value as number) < end))
        this.wrong(`${name}[${i}]`, value, `a whole number from ${low} to ${end - 1}`);
    });
    return Uint32Array.from(list as number[]);
  }

  number(name: string): number {
    const value = this.data[name];
    return typeof value === "number" && Number.isFinite(value) ? value : this.wrong(name, value, "a finite number");
  }

  numbers(name: string, count: number): number[] {
    const list = this.list(name);
    if (list.length !== count || !list.every((value) => typeof value === "number" && Number.isFinite(value)))
      this.wrong(name, list, `${count} finite numbers`);
    return list as number[];
  }

  objects(name: string): Fields[] {
    return this.list(name).map((value, i) => new Fields(value, `${this.path}${name}[${i}].`));
  }
}

const MOST_PARTICLES = 2 ** 28;

/** A manifest while it is read. */
interface Manifest {
  /** Path of the file, for errors. */
  path: string;
  fields: Fields;
  frames: number;
  particles: number;
  bodies: Fields[];
  colliders: Fields[];
}

function readManifest(path: string): Manifest {
  const fields = new Fields(parse(path), `${path}: `);
  const format = fields.text("format");
  if (format !== FORMAT) throw new RecordingError(`${path}: format: ${shown(format)}, limit: ${FORMAT}`);
  return {
    path,
    fields,
    frames: fields.integer("frames", 1, Number.MAX_SAFE_INTEGER),
    particles: fields.integer("particles", 1, MOST_PARTICLES),
    bodies: fields.objects("bodies"),
    colliders: fields.has("colliders") ? fields.objects("colliders") : [],
  };
}

/** First particle and count. */
function particlesOf(entry: Fields, particles: number): [first: number, count: number] {
  const first = entry.integer("firstParticle", 0, particles);
  return [first, entry.integer("particleCount", 0, particles - first)];
}

function readSurface({ path, frames, particles }: Manifest, entry: Fields, name: string): Surface {
  const [first, count] = particlesOf(entry, particles);
  const jumps = new Set(entry.has("jumps") ? entry.indices("jumps", 1, frames, 1) : []);
  const absent = new Set<number>();
  // first and last frame of each absence; the body did not move to the place where it returns
  const away = entry.has("absent") ? entry.indices("absent", 0, frames, 2) : [];
  for (let i = 0; i < away.length; i += 2) {
    for (let f = away[i]!; f <= away[i + 1]!; f++) {
      absent.add(f);
      jumps.add(f).add(f + 1);
    }
  }
  const triangles = entry.indices("surface", first, first + count, 3);
  return { ...surfaceOf(name, triangles, `${path}: surface of ${name}`), jumps, absent };
}

/** uint8[particles], 1 for pinned ones */
function readPinned({ particles, bodies, colliders }: Manifest): Uint8Array {
  const pinned = new Uint8Array(particles);
  for (const entry of [...bodies, ...colliders]) {
    if (!entry.has("pinned")) continue;
    const [first, count] = particlesOf(entry, particles);
    for (const p of entry.indices("pinned", first, first + count, 1)) pinned[p] = 1;
  }
  return pinned;
}

/**
 * Returns a test whether two objects are exempt from collisions. Indices: bodies first, then all colliders of the
 * scene.
 */
function readApart({ path, fields, bodies, colliders }: Manifest): (a: number, b: number) => boolean {
  const total = bodies.length + colliders.length;
  const apart = new Set<number>();
  if (fields.has("apart")) {
    fields.list("apart").forEach((pair, i) => {
      const [a, b] = new Fields({ pair }, `${path}: apart[${i}].`).indices("pair", 0, total, 2);
      apart.add(a! * total + b!).add(b! * total + a!);
    });
  }
  return (a, b) => apart.has(a * total + b);
}

/** The position file and its origin. Its size must match the manifest. */
function positionsOf(dir: string, { fields, frames, particles }: Manifest): { file: string; zero: number[] } {
  const origin = fields.has("origin") ? fields.numbers("origin", 3) : [0, 0, 0];
  const local = origin.some((o) => o !== 0) && existsSync(join(dir, "local.f32"));
  const file = join(dir, local ? "local.f32" : "positions.f32");
  const wanted = 12 * particles * frames;
  const size = statSync(file).size;
  if (size !== wanted)
    throw new RecordingError(
      `${file}: ${size} bytes, limit: ${wanted}, ${frames} frames of ${particles} particles of 12 bytes`,
    );
  return { file, zero: local ? origin : [0, 0, 0] };
}

/** @throws RecordingError, and the file system's own errors */
export function openRecording(dir: string): Recording {
  const manifest = readManifest(join(dir, "manifest.json"));
  const { fields, frames, particles, bodies, colliders } = manifest;
  const surfaces = bodies.map((body) => readSurface(manifest, body, body.text("name")));
  const pinned = readPinned(manifest);
  const apart = readApart(manifest);
  const { file, zero } = positionsOf(dir, manifest);
  const places = bodies.map((_, b) => b);
  const planes: Plane[] = [];
  colliders.forEach((collider, c) => {
    const type = collider.text("type");
    const name = collider.has("name") ? collider.text("name") : `${type} ${c + 1}`;
    const place = bodies.length + c;
    if (type === "plane") {
      const held = bodies.map((_, b) => b).filter((b) => !apart(b, place));
      return void planes.push({ name, rows: planeRows(collider, frames, zero), bodies: held });
    }
    const surface = readSurface(manifest, collider, name);
    if (surface.triangles.length === 0) return;
    places.push(place);
    surfaces.push(surface);
  });
  const pairs: [number, number][] = [];
  for (let a = 0; a < bodies.length; a++)
    for (let b = a; b < surfaces.length; b++) if (!apart(places[a]!, places[b]!)) pairs.push([a, b]);
  return {
    dir,
    title: fields.has("title") ? fields.text("title") : dir,
    every: fields.has("every") ? fields.text("every") : "tick",
    frames,
    particles,
    file,
    surfaces,
    bodies: bodies.map((body, b) => {
      const [first, count] = particlesOf(body, particles);
      return { name: surfaces[b]!.name, first, count };
    }),
    pairs,
    planes,
    pinned,
  };
}

function parse(path: string): unknown {
  const text = readFileSync(path, "utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new RecordingError(`${path}: ${(error as Error).message}, limit: JSON`);
  }
}

function surfaceOf(name: string, triangles: Uint32Array, path: string): Omit<Surface, "jumps" | "absent"> {
  const keys = new Set<number>();
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const a = triangles[t + k]!;
      const b = triangles[t + ((k + 1) % 3)]!;
      if (a === b)
        throw new RecordingError(`${path}: triangle ${t / 3} names particle ${a} twice, limit: three different ones`);
      keys.add(Math.min(a, b) * MOST_PARTICLES + Math.max(a, b));
    }
  }
  const vertices = Uint32Array.from(new Set(triangles)).sort();
  const edges = Uint32Array.from([...keys].flatMap((key) => [Math.floor(key / MOST_PARTICLES), key % MOST_PARTICLES]));
  const place = new Map(Array.from(vertices, (p, i) => [p, i]));
  const places = (list: Uint32Array): Uint32Array => list.map((p) => place.get(p)!);
  return { name, vertices, edges, triangles, edgeEnds: places(edges), corners: places(triangles) };
}

/** Unit normals and offsets from `origin`, once or per frame. */
function planeRows(collider: Fields, frames: number, origin: readonly number[]): Float64Array {
  const rows = collider.has("planes")
    ? collider
        .list("planes")
        .map((_, f, list) => new Fields({ row: list[f] }, `collider plane, frame ${f}: `).numbers("row", 4))
    : [[...collider.numbers("normal", 3), collider.number("offset")]];
  if (rows.length !== 1 && rows.length !== frames)
    throw new RecordingError(`planes: ${rows.length} rows, limit: ${frames}, one per frame`);
  return Float64Array.from(
    rows.flatMap(([x, y, z, offset]) => {
      const length = Math.hypot(x!, y!, z!);
      return [
        x! / length,
        y! / length,
        z! / length,
        offset! / length - (x! * origin[0]! + y! * origin[1]! + z! * origin[2]!) / length,
      ];
    }),
  );
}

/** Reads the positions of runs of frames. */
export class FrameReader {
  private readonly recording: Recording;
  private readonly file: number;

  constructor(recording: Recording) {
    this.recording = recording;
    this.file = openSync(recording.file, "r");
  }

  /** float32[to - from + 1][particles][3] @throws RecordingError */
  read(from: number, to: number): Float32Array {
    const { particles, file: name } = this.recording;
    const x = new Float32Array(3 * particles * (to - from + 1));
    const bytes = new Uint8Array(x.buffer);
    for (let done = 0; done < bytes.length; ) {
      const got = readSync(this.file, bytes, done, bytes.length - done, 12 * particles * from + done);
      if (got === 0)
        throw new RecordingError(`${name}: ends after byte ${12 * particles * from + done}, limit: frame ${to}`);
      done += got;
    }
    for (let i = 0; i < x.length; i++) {
      if (Number.isFinite(x[i]!)) continue;
      const particle = Math.floor(i / 3);
      throw new RecordingError(
        `${name}: frame ${from + Math.floor(particle / particles)}, particle ${particle % particles}, ${"xyz"[i % 3]!}: ${x[i]}, limit: finite`,
      );
    }
    return x;
  }

  close(): void {
    closeSync(this.file);
  }
}
