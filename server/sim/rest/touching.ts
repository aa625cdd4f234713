/**
 * Finds the bodies that touch each other after a tick: pairs with a contact lane that the last substep solved and whose
 * gap is within the contact distance, and bodies as near to a ball. Contacts with colliders are not included: colliders
 * push particles, without lanes.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Views } from "../world/views.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import { vertexTriangleDistance } from "../reference/closestPoints.ts";
import { norm, subtract, type Vector } from "../reference/vector.ts";

/** Factor on the contact distance: the gap that an unconverged solver leaves. */
const TOUCHING = 1.2;

/** Gap that a ball's pushes may leave (RESIDUE of balls.ts), twice, in ball radii. */
const BALL_SLACK = 0.01;

const LANES = 4;
const BLOCK_WORDS = L.CONTACT_BLOCK_BYTES / 4;

export class Touching {
  readonly #memory: WebAssembly.Memory;
  readonly #views: Views;
  readonly #layout: SimLayout;
  /** uint16[particles of the room], body by particle; made at first use. */
  #bodyOf: Uint16Array | null = null;

  /** @param memory its lists may lie beyond the end of the views, because it has grown since */
  constructor(memory: WebAssembly.Memory, views: Views, layout: SimLayout) {
    this.#memory = memory;
    this.#views = views;
    this.#layout = layout;
  }

  /** @returns pairs a, b of touching bodies, a < b, each once */
  pairs(): number[] {
    const found = new Set<number>();
    if (this.#header(L.H_SAFE) !== 0) this.#lanes(found);
    this.#balls(found);
    this.#asleep(found);
    const bodies = this.#layout.bodyCount;
    return [...found].sort((a, b) => a - b).flatMap((key) => [Math.floor(key / bodies), key % bodies]);
  }

  /** Adds pairs that touched when they fell asleep. */
  #asleep(found: Set<number>): void {
    const { i32 } = this.#views;
    const { bodies, bodyCount } = this.#layout;
    const bytes = new Uint8Array(i32.buffer);
    bodies.forEach(({ surface }, a) => {
      const table = i32[(surface + L.SURFACE_MEETS) / 4]!;
      for (let b = a + 1; b < bodyCount; b++) if (bytes[table + b]! & L.MEETS_TOUCHING) found.add(a * bodyCount + b);
    });
  }

  #lanes(found: Set<number>): void {
    const first = this.#header(L.H_CONTACT_BLOCKS) / 4;
    const capacity = this.#header(L.H_CONTACT_BLOCK_CAPACITY);
    this.#scan(first, this.#header(L.H_VERTEX_CONTACT_BLOCKS), found);
    const edges = this.#header(L.H_EDGE_CONTACT_BLOCKS);
    this.#scan(first + (capacity - edges) * BLOCK_WORDS, edges, found);
  }

  #header(offset: number): number {
    return this.#views.i32[(L.HEADER + offset) / 4]!;
  }

  /** float32[3] of the particle at this address, m. */
  #at(address: number): Vector {
    const { f32 } = this.#views;
    return [f32[address / 4]!, f32[address / 4 + 1]!, f32[address / 4 + 2]!];
  }

  #balls(found: Set<number>): void {
    const { i32 } = this.#views;
    const { bodies, x } = this.#layout;
    const doubles = new Float64Array(i32.buffer);
    const balls = Array.from({ length: this.#header(L.H_BALL_COUNT) }, (_, n) => {
      const row = (this.#header(L.H_BALLS) + n * L.BALL_BYTES) / 4;
      const body = i32[row + L.BALL_BODY / 4]!;
      const { first, streamedCount } = bodies[body]!;
      const own = Array.from({ length: streamedCount }, (_, i) => this.#at(x + 16 * (first + i)));
      const center = [0, 1, 2].map((r) => own.reduce((sum, p) => sum + p[r]! / own.length, 0)) as unknown as Vector;
      const radius = doubles[(i32[row + L.BALL_SHAPE / 4]! + L.SHAPE_RADIUS) / 8]!;
      return { row, body, own: x + 16 * first, center, radius };
    });
    for (const [n, ball] of balls.entries()) {
      const reach = (1 + BALL_SLACK) * ball.radius;
      this.#listed(ball.row, ball.own, ball.center, reach, found);
      for (const other of balls.slice(n + 1))
        if (norm(subtract(ball.center, other.center)) <= reach + other.radius && this.#mayMeet(ball.body, other.body))
          found.add(this.#key(ball.own, other.own));
    }
  }

  /**
   * Adds bodies in a ball's list, which contains particles (the lowest bit of their address is set) and rows of
   * triangles.
   */
  #listed(row: number, own: number, center: Vector, reach: number, found: Set<number>): void {
    const { i32 } = this.#views;
    const list = i32[row + L.BALL_LIST / 4]! / 4;
    for (let at = list; at < list + i32[row + L.BALL_COUNT / 4]!; at++) {
      const entry = i32[at]!;
      const corners = entry & 1 ? [entry - 1] : [0, 1, 2].map((k) => i32[entry / 4 + k]!);
      const key = this.#key(corners[0]!, own);
      if (key < 0 || found.has(key)) continue;
      const near = reach + TOUCHING * this.#marginOf(corners[0]!);
      const places = corners.map((corner) => this.#at(corner)) as [Vector, Vector?, Vector?];
      if (!boxMeets(places as Vector[], center, near)) continue;
      const [a, b, c] = places;
      const distance = b && c ? vertexTriangleDistance(center, a, b, c).distance : norm(subtract(center, a));
      if (distance <= near) found.add(key);
    }
  }

  /** Contact distance of the surface of a particle whose body `#key` has found, m. */
  #marginOf(address: number): number {
    const body = this.#bodyOf![(address - this.#layout.x) / 16]!;
    return this.#views.f32[(this.#layout.bodies[body]!.surface + L.SURFACE_RADIUS) / 4]!;
  }

  #mayMeet(a: number, b: number): boolean {
    const { i32 } = this.#views;
    const may = new Uint8Array(i32.buffer)[i32[(this.#layout.bodies[a]!.surface + L.SURFACE_MEETS) / 4]! + b];
    return may === L.MEETS || may === L.MEETS_MARKED;
  }

  #scan(first: number, count: number, found: Set<number>): void {
    const { buffer } = this.#memory;
    const [i32, f32] = [new Int32Array(buffer), new Float32Array(buffer)];
    const [near, thickness] = [L.CONTACT_BLOCK_NEAR / 4, L.CONTACT_BLOCK_THICKNESS / 4];
    for (let at = first; at < first + count * BLOCK_WORDS; at += BLOCK_WORDS) {
      for (let lane = at; lane < at + LANES; lane++) {
        if (i32[lane + near] === 0 || !(f32[lane + thickness]! > 0)) continue;
        const key = this.#key(i32[lane]!, i32[lane + 3 * LANES]!);
        if (key < 0 || found.has(key)) continue;
        if (this.#gap(i32, f32, lane) <= TOUCHING * f32[lane + thickness]!) found.add(key);
      }
    }
  }

  /** Distance of the closest points along the lane's separation direction, m. */
  #gap(i32: Int32Array, f32: Float32Array, lane: number): number {
    let gap = 0;
    for (let r = 0; r < 3; r++) {
      let between = 0;
      for (let k = 0; k < 4; k++)
        between += f32[lane + L.CONTACT_BLOCK_WEIGHT / 4 + LANES * k]! * f32[i32[lane + LANES * k]! / 4 + r]!;
      gap += between * f32[lane + L.CONTACT_BLOCK_NORMAL / 4 + LANES * r]!;
    }
    return gap;
  }

  /** Key of the bodies of two particles, given by address; -1: the same body, or a particle without a body. */
  #key(one: number, other: number): number {
    const { x, particleCount, bodyCount, bodies } = this.#layout;
    if (this.#bodyOf === null) {
      this.#bodyOf = new Uint16Array(particleCount);
      bodies.forEach(({ first, count }, b) => this.#bodyOf!.fill(b, first, first + count));
    }
    const [p, q] = [(one - x) / 16, (other - x) / 16];
    if (p < 0 || p >= particleCount || q < 0 || q >= particleCount) return -1;
    const [a, b] = [this.#bodyOf[p]!, this.#bodyOf[q]!];
    return a === b ? -1 : Math.min(a, b) * bodyCount + Math.max(a, b);
  }
}

/** Whether the box around the points comes within `near` of the center along each axis. */
function boxMeets(points: readonly Vector[], center: Vector, near: number): boolean {
  return center.every((c, r) => points.some((p) => p[r]! <= c + near) && points.some((p) => p[r]! >= c - near));
}
