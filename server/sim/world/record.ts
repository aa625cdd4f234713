/**
 * Recordings: `manifest.json` (description of the particles) and `positions.f32` (little-endian float32 x y z per
 * particle, frames back to back), in world coordinates. Particles, elements and triangles are numbered as in the mesh
 * file, not in the simulation's order. Far from the world's origin float32 is coarse (0.06 mm at 1 km). So a scene with
 * its own origin (origin.ts) also gets `local.f32`: the same positions from the manifest's `origin`, with every bit of
 * the simulation. The particles of the colliders' core meshes follow the bodies' particles, under their numbers in the
 * room.
 */
import { mkdirSync, openSync, writeFileSync, writeSync, closeSync } from "node:fs";
import { join } from "node:path";
import type { Scene } from "../../../shared/scene/scene.ts";
import type { CreatedWorld } from "./createWorld.ts";
import { apartPairs, ColliderRecords } from "./recordedColliders.ts";
import type { SimWorld } from "../world.ts";

export class Recorder {
  private readonly dir: string;
  private readonly file: number;
  private readonly world: SimWorld;
  /** Simulation particle of each recorded one. */
  private readonly source: Uint32Array;
  /** Positions from the room's origin, and in the world. */
  private readonly frame: Float32Array;
  private readonly worldFrame: Float32Array;
  private readonly origin: readonly number[];
  /** Open if the room's origin is not the world's. */
  private readonly localFile: number | undefined;
  private readonly manifest: Record<string, unknown>;
  /** For each spawnable body: first and last frame of each period in which it was inactive. */
  private readonly absent = new Map<number, number[]>();
  private readonly records: ColliderRecords;
  private readonly every: "tick" | "substep";
  /** Tick, and its substep, of the last frame. */
  private tick = 0;
  private substep = 0;
  frames = 0;

  constructor(dir: string, scene: Scene, created: CreatedWorld, world: SimWorld, every: "tick" | "substep") {
    mkdirSync(dir, { recursive: true });
    this.dir = dir;
    this.world = world;
    this.every = every;
    this.file = openSync(join(dir, "positions.f32"), "w");
    const { layout } = created;
    this.origin = layout.origin;
    if (this.origin.some((o) => o !== 0)) this.localFile = openSync(join(dir, "local.f32"), "w");
    const particles = layout.particleCount + layout.cores.reduce((n, core) => n + core.count, 0);
    this.source = Uint32Array.from({ length: particles }, (_, p) => p);
    this.frame = new Float32Array(3 * particles);
    this.worldFrame = this.localFile === undefined ? this.frame : new Float32Array(3 * particles);
    this.records = new ColliderRecords(scene, layout.cores, particles);
    const bodies = created.bodies.map((body, b) => {
      const first = layout.bodies[b]!.first;
      // file order; equal to the rank of `origin`, which skips vertices that no element uses
      const order = Array.from(body.origin, (_, i) => i).sort((i, j) => body.origin[i]! - body.origin[j]!);
      const rank = new Uint32Array(order.length);
      order.forEach((particle, i) => {
        this.source[first + i] = first + particle;
        rank[particle] = first + i;
      });
      const numbers = (list: ArrayLike<number>): number[] => Array.from(list, (p) => rank[p]!);
      return {
        name: body.name,
        kind: body.kind,
        firstParticle: first,
        particleCount: body.particleCount,
        elementSize: body.kind === "soft" ? 4 : 3,
        elements: numbers(body.kind === "soft" ? body.tets : body.triangles),
        surface: numbers(body.triangles),
        pinned: order.flatMap((particle, i) => (body.pinned[particle] ? [first + i] : [])),
        mass: order.map((particle) => body.mass[particle]!),
        sourceVertex: order.map((particle) => body.origin[particle]!),
        ...(body.spawnable && { absent: this.absent.set(b, []).get(b)! }),
      };
    });
    this.manifest = {
      format: "pliant-recording-1",
      title: scene.title,
      tickHz: layout.tickHz,
      substeps: layout.substeps,
      iterations: layout.iterations,
      every,
      particles,
      bodyParticles: layout.particleCount,
      origin: layout.origin,
      bodies,
      colliders: this.records.colliders,
      apart: apartPairs(scene, created.bodies),
      note: "Frame 0 is the initial state. Indices are particle numbers in a frame; body b owns firstParticle .. firstParticle + particleCount - 1.",
    };
  }

  /** Appends the current state. */
  write(): void {
    this.world.readParticles(this.source, this.frame);
    if (this.localFile !== undefined) {
      for (let i = 0; i < this.frame.length; i++) this.worldFrame[i] = this.frame[i]! + this.origin[i % 3]!;
      append(this.localFile, this.frame);
    }
    append(this.file, this.worldFrame);
    this.noteAbsent();
    this.records.write(this.frames, this.time());
    this.frames++;
  }

  private noteAbsent(): void {
    const absent = this.world.absent();
    for (const [body, runs] of this.absent) {
      if (!absent[body]) continue;
      if (runs.at(-1) === this.frames - 1) runs[runs.length - 1] = this.frames;
      else runs.push(this.frames, this.frames);
    }
  }

  /** Seconds since the room's first tick. The tick number rises when all of the tick's substeps are done. */
  private time(): number {
    const {
      tickNumber,
      stepped,
      layout: { tickHz, substeps },
    } = this.world;
    this.substep = this.frames === 0 || this.every === "tick" ? 0 : this.tick === tickNumber ? this.substep + 1 : 1;
    this.tick = tickNumber;
    return (stepped + this.substep / substeps) / tickHz;
  }

  /** Writes the manifest, with the number of frames and the run's result. */
  close(result: Record<string, unknown>): void {
    closeSync(this.file);
    if (this.localFile !== undefined) closeSync(this.localFile);
    writeFileSync(
      join(this.dir, "manifest.json"),
      JSON.stringify({ ...this.manifest, frames: this.frames, ...result }),
    );
  }
}

function append(file: number, frame: Float32Array): void {
  const bytes = new Uint8Array(frame.buffer);
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}
