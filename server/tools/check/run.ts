/**
 * Checks one run of frames. Pairs of primitives whose boxes over the run overlap are either separated by a direction
 * (separate.ts) or decided exactly: frame by frame (static) and interval by interval (swept). If motion makes the boxes
 * too long, the run is halved.
 *
 *   boxes over the run -> overlapping pairs -> direction for the whole run, then for halves ... -> exact arithmetic
 *   for the remaining pairs
 */
import { boxed, meanSide, vertexBoxes, type Boxed } from "./boxes.ts";
import { gap, overlap } from "./depth.ts";
import { edgeEdge, vertexTriangle } from "./exact/swept.ts";
import { noFindings, note, type Finding, type FrameFindings, type Kind } from "./findings.ts";
import { belowPlanes } from "./planes.ts";
import type { Recording, Surface } from "./recording.ts";
import { openFrames, openIntervals, pieces, type Frames } from "./separate.ts";
import { CROSSING, neighborsCross, TOUCHING, trianglesMeet } from "./triangles.ts";

/**
 * A run is halved if its vertex boxes are longer than this fraction of the mean edge. Longer boxes give more pairs;
 * more runs repeat the work per pair. 0.25 took 10 % longer on the drape; 1 and 2 took the same time.
 */
const LONG = 0.5;

export class Run {
  private readonly recording: Recording;
  private readonly frames: Frames;
  /** Index of the run's first frame in the recording. */
  private readonly start: number;
  private readonly most: number;
  readonly findings: FrameFindings[];
  private names: [string, string] = ["", ""];
  /** Frames that one of the two surfaces reached without motion. */
  private jumps = new Set<number>();
  /** Frames in which one of the two surfaces is absent. */
  private absent = new Set<number>();
  private readonly vertex = pieces(1, 3);
  private readonly edge = pieces(2, 2);
  private readonly triangle = pieces(3, 3);
  /** For neighboring triangles: a side of one, and the other one. */
  private readonly side = pieces(2, 3);
  private found: number[] = [];

  /**
   * @param x float32[frames][particles][3] from frame `start` on
   * @param most maximum number of stored findings per frame
   */
  constructor(recording: Recording, x: Float32Array, start: number, most: number) {
    this.recording = recording;
    this.frames = { x, stride: 3 * recording.particles };
    this.start = start;
    this.most = most;
    this.findings = Array.from({ length: x.length / (3 * recording.particles) }, (_, f) => noFindings(start + f));
  }

  /**
   * Static tests start with the second frame, because the first belongs to the previous run. The recording's first
   * frame is tested, too.
   */
  judge(): FrameFindings[] {
    const last = this.findings.length - 1;
    this.part(0, last, this.start === 0 ? 0 : 1);
    const { frames, recording, most } = this;
    for (let f = this.start === 0 ? 0 : 1; f <= last; f++)
      belowPlanes(recording, frames.x, f * frames.stride, this.findings[f]!, most);
    return this.findings.filter(({ counts }) => Object.values(counts).some((n) => n > 0));
  }

  /** @param stand first frame for static tests */
  private part(from: number, to: number, stand: number): void {
    const { surfaces, pairs } = this.recording;
    const { frames } = this;
    const world = surfaces.map((surface) => vertexBoxes(frames, surface, from, to, false));
    const moving = surfaces.map((surface) => vertexBoxes(frames, surface, from, to, true));
    const long = (boxes: Float64Array, s: number): boolean =>
      meanSide(boxes) > LONG * this.meanEdge(surfaces[s]!, from);
    if (to - from > 1 && (moving.some(long) || (pairs.some(([a, b]) => a !== b) && world.some(long)))) {
      const middle = (from + to) >> 1;
      this.part(from, middle, stand);
      this.part(middle, to, middle + 1);
      return;
    }
    const trees = new Map<number, Boxed>();
    const inWorld = (s: number): Boxed => trees.get(s) ?? trees.set(s, boxed(surfaces[s]!, world[s]!, false)).get(s)!;
    const bounds = world.map(boundsOf);
    for (const [a, b] of pairs) {
      const first = surfaces[a]!;
      const second = surfaces[b]!;
      this.names = [first.name, second.name];
      this.jumps = new Set([...first.jumps, ...second.jumps]);
      this.absent = new Set([...first.absent, ...second.absent]);
      if (a === b) this.pair(first, boxed(first, moving[a]!, true), first, undefined, from, to, stand);
      else if (overlaps(bounds[a]!, bounds[b]!)) {
        this.pair(first, inWorld(a), second, inWorld(b), from, to, stand);
      }
    }
  }

  private meanEdge({ edges }: Surface, frame: number): number {
    const { x, stride } = this.frames;
    const base = frame * stride;
    let sum = 0;
    for (let e = 0; e < edges.length; e += 2) {
      const a = base + 3 * edges[e]!;
      const b = base + 3 * edges[e + 1]!;
      sum += Math.sqrt((x[a]! - x[b]!) ** 2 + (x[a + 1]! - x[b + 1]!) ** 2 + (x[a + 2]! - x[b + 2]!) ** 2);
    }
    return edges.length === 0 ? Infinity : sum / (edges.length / 2);
  }

  /** @param other undefined: the surface against itself */
  private pair(
    a: Surface,
    boxesA: Boxed,
    b: Surface,
    other: Boxed | undefined,
    from: number,
    to: number,
    stand: number,
  ): void {
    const boxesB = other ?? boxesA;
    if (to > from) {
      this.vertices(a, boxesA, b, boxesB, from, to);
      if (other) {
        // keep the order of names and primitives the same
        this.names.reverse();
        this.vertices(b, boxesB, a, boxesA, from, to);
        this.names.reverse();
      }
      this.edges(a, boxesA, b, boxesB, other === undefined, from, to);
    }
    this.triangles(a, boxesA, b, boxesB, other === undefined, stand, to);
  }

  private vertices(a: Surface, boxesA: Boxed, b: Surface, boxesB: Boxed, from: number, to: number): void {
    const { ids } = this.vertex;
    const { triangles } = b;
    const open = (f: number): void => this.sweep(this.vertex.ids, f, "vertex");
    for (let v = 0; v < a.vertices.length; v++) {
      const p = a.vertices[v]!;
      const n = boxesB.triangleTree.query(boxesA.vertices, 6 * v, this.found);
      for (let i = 0; i < n; i++) {
        const t = 3 * this.found[i]!;
        if (triangles[t] === p || triangles[t + 1] === p || triangles[t + 2] === p) continue;
        [ids[0], ids[1], ids[2], ids[3]] = [p, triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
        openIntervals(this.frames, this.vertex, from, to, open);
      }
    }
  }

  private edges(a: Surface, boxesA: Boxed, b: Surface, boxesB: Boxed, self: boolean, from: number, to: number): void {
    const { ids } = this.edge;
    const open = (f: number): void => this.sweep(this.edge.ids, f, "edge");
    for (let e = 0; e < a.edges.length / 2; e++) {
      const p = a.edges[2 * e]!;
      const q = a.edges[2 * e + 1]!;
      const n = boxesB.edgeTree.query(boxesA.edges, 6 * e, this.found);
      for (let i = 0; i < n; i++) {
        const f = this.found[i]!;
        if (self && f <= e) continue;
        const r = b.edges[2 * f]!;
        const s = b.edges[2 * f + 1]!;
        if (p === r || p === s || q === r || q === s) continue;
        [ids[0], ids[1], ids[2], ids[3]] = [p, q, r, s];
        openIntervals(this.frames, this.edge, from, to, open);
      }
    }
  }

  private triangles(
    a: Surface,
    boxesA: Boxed,
    b: Surface,
    boxesB: Boxed,
    self: boolean,
    stand: number,
    to: number,
  ): void {
    if (stand > to) return;
    const { ids } = this.triangle;
    const open = (f: number): void => this.stand(f);
    for (let t = 0; t < a.triangles.length / 3; t++) {
      const n = boxesB.triangleTree.query(boxesA.triangles, 6 * t, this.found);
      for (let i = 0; i < n; i++) {
        const u = this.found[i]!;
        if (self && u <= t) continue;
        const shared = self ? align(a.triangles, 3 * t, 3 * u, ids) : 0;
        if (shared === 0) {
          ids.set(a.triangles.subarray(3 * t, 3 * t + 3));
          ids.set(b.triangles.subarray(3 * u, 3 * u + 3), 3);
          openFrames(this.frames, this.triangle, stand, to, open);
        } else if (shared === 1) this.neighbors(stand, to);
      }
    }
  }

  /** Two triangles with ids[0] = ids[3]: they intersect only if the far side of one meets the other. */
  private neighbors(stand: number, to: number): void {
    const { ids } = this.triangle;
    const side = this.side.ids;
    let open: Set<number> | undefined;
    for (let first = 0; first < 6; first += 3) {
      const second = 3 - first;
      for (let k = 0; k < 5; k++) side[k] = ids[k < 2 ? first + 1 + k : second + k - 2]!;
      openFrames(this.frames, this.side, stand, to, (f) => void (open ??= new Set()).add(f));
    }
    for (const f of open ?? [])
      if (!this.absent.has(this.start + f) && neighborsCross(this.frames, ids, f))
        this.note("neighbors", f, ids, overlap(this.frames.x, this.frames.stride, f, ids));
  }

  /** Decides exactly the interval f -> f + 1, for which no separation direction was found. */
  private sweep(ids: Uint32Array, f: number, kind: "vertex" | "edge"): void {
    if (this.jumps.has(this.start + f + 1)) return;
    const { x, stride } = this.frames;
    const q = new Float64Array(24);
    for (let i = 0; i < 24; i++) q[i] = x[(f + (i < 12 ? 0 : 1)) * stride + 3 * ids[Math.floor(i / 3) % 4]! + (i % 3)]!;
    const time = kind === "vertex" ? vertexTriangle(q) : edgeEdge(q);
    if (time >= 0) this.note(kind, f + 1, ids, gap(x, stride, f + 1, ids, kind === "edge"), time);
  }

  private stand(f: number): void {
    if (this.absent.has(this.start + f)) return;
    const { ids } = this.triangle;
    const result = trianglesMeet(this.frames, ids, f);
    if (result === CROSSING) this.note("crossing", f, ids, overlap(this.frames.x, this.frames.stride, f, ids));
    if (result === TOUCHING) this.note("touching", f, ids, 0);
  }

  private note(kind: Kind, f: number, ids: Uint32Array, depth: number, time?: number): void {
    const finding: Finding = {
      kind,
      between: [...this.names],
      particles: [...ids],
      depth,
      ...(time !== undefined && { time }),
    };
    note(this.findings[f]!, finding, this.most);
  }
}

function boundsOf(boxes: Float64Array): number[] {
  const bounds = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
  for (let i = 0; i < boxes.length; i++)
    bounds[i % 6] = i % 6 < 3 ? Math.min(bounds[i % 6]!, boxes[i]!) : Math.max(bounds[i % 6]!, boxes[i]!);
  return bounds;
}

const overlaps = (a: readonly number[], b: readonly number[]): boolean =>
  [0, 1, 2].every((r) => a[r]! <= b[3 + r]! && b[r]! <= a[3 + r]!);

/**
 * Returns the number of shared corners of two triangles. If it is one, writes both triangles to ids, rotated so that
 * the shared corner comes first.
 */
function align(triangles: Uint32Array, t: number, u: number, ids: Uint32Array): number {
  let shared = 0;
  let i = 0;
  let j = 0;
  for (let k = 0; k < 3; k++)
    for (let l = 0; l < 3; l++) if (triangles[t + k] === triangles[u + l]) [shared, i, j] = [shared + 1, k, l];
  if (shared === 1)
    for (let k = 0; k < 3; k++) [ids[k], ids[3 + k]] = [triangles[t + ((i + k) % 3)]!, triangles[u + ((j + k) % 3)]!];
  return shared;
}
