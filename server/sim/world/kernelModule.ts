/** The compiled kernel, and its instances on rooms' memories. */
import { readFileSync } from "node:fs";

const KERNEL_PATH = new URL("../../../build/kernel.wasm", import.meta.url);

/**
 * Exports of server/kernel/assembly/index.ts. Addresses and counts are int32; `pass` is the sum of PASS_FIRST and
 * PASS_LAST of worldLayout.ts.
 */
export interface Kernel {
  step(helpers: number, scratch: number): void;
  /**
   * Claims chunks of the tick `generation` until it ends or the helper is told to leave.
   * @returns number of chunks done
   */
  help(generation: number, slot: number, scratch: number): number;
  /** Copies a body's positions and velocities if they are sound (guard.ts). @returns 1 if they are */
  keepIfSound(
    first: number,
    count: number,
    radius: number,
    ox: number,
    oy: number,
    oz: number,
    places: number,
    velocities: number,
  ): number;
  /** rest.ts: sum of squared distances between particles and their anchors, m^2, or a part of it above `most`. */
  distancesFromAnchor(first: number, count: number, anchor: number, most: number): number;
  setAnchor(first: number, count: number, anchor: number): void;
  /** 1 if more than `few` of `count` particles have a squared speed above `most`, else 0. */
  moreMove(first: number, count: number, most: number, few: number): number;
  /** Largest squared speed, (m/s)^2. */
  greatestSpeed2(first: number, count: number): number;
  stateHash(count: number): bigint;
  copyState(
    blocks: number,
    stride: number,
    offset: number,
    rows: number,
    firstLane: number,
    lastLane: number,
    saved: number,
    back: number,
  ): void;
  hashState(
    hash: bigint,
    blocks: number,
    stride: number,
    offset: number,
    rows: number,
    firstLane: number,
    lastLane: number,
  ): bigint;
  logarithms(address: number, count: number): void;
  /**
   * Solves `count` blocks of the range at `data`, from block `first` on.
   * @returns 1 if `kind` is a kind of constraint
   */
  solveBlocks(
    kind: number,
    data: number,
    own: number,
    first: number,
    count: number,
    pass: number,
    h: number,
    scratch: number,
    memory: number,
  ): number;
  solvePoints(at: number, count: number, pass: number, h: number, scratch: number): void;
  worstStretch(elements: number, count: number, corners: number, every: number, rest: number, x: number): number;
  predict(begin: number, end: number, h: number, unforced: number, later: number): void;
  drift(begin: number, end: number, h: number, later: number): void;
  updateVelocity(begin: number, end: number, h: number): void;
  collide(begin: number, end: number, h: number, table: number): void;
  warmStart(): void;
  findFreeBodies(): void;
  beginPairList(): void;
  saveSafePositions(): void;
  /**
   * refitHere: fits the boxes of the BVTT front to x. reachesSurface then returns 1 if one surface comes within `reach`
   * of another, else 0 (bvttFront.ts).
   */
  refitHere(): void;
  reachesSurface(a: number, b: number, reach: number): number;
  /**
   * Called before the first contact solve of a substep: predicts contacts at the substep's end and lists rows and near
   * pairs for it.
   */
  updatePredictedContacts(): void;
  verifyContacts(h: number): void;
  solveContacts(block: number, count: number, again: number): number;
  /** Begins a list of rigid pairs, which solveContacts fills; solveRigidContacts solves them (rigidContact.ts). */
  beginRigidContacts(): void;
  solveRigidContacts(first: number, scratch: number): void;
  checkContacts(block: number, count: number, vertex: number): number;
  /**
   * Rigid impact zones (rigidImpactZones.ts): particles by address; endChanges clears the record of moved particles.
   */
  beginZones(): void;
  joinZone(a: number, b: number, c: number, d: number): void;
  moveZones(): void;
  endZones(): void;
  endChanges(): void;
  /** Signed distance of a point to the collider at address `row`, in its frame, m. */
  distanceTo(row: number, x: number, y: number, z: number): number;
  placeCoreMeshes(): void;
  /**
   * Fills H_INTERSECTIONS with edges and triangles that intersect.
   * @returns their number; if it exceeds the capacity, the list holds the first ones
   */
  findIntersections(positions: number): number;
  /**
   * Measure the primitives of a PAIR row at the positions `shift` bytes after X: they write normal and gap, and return
   * the squared distance, m^2.
   */
  measureVertexTriangle(row: number, shift: number): number;
  measureEdges(row: number, shift: number): number;
  /** Results for the last measured pair: weights of the triangle's corners; parameters on the edges. */
  readonly weightA: WebAssembly.Global;
  readonly weightB: WebAssembly.Global;
  readonly weightC: WebAssembly.Global;
  readonly edgeS: WebAssembly.Global;
  readonly edgeT: WebAssembly.Global;
  /** Time of impact of 24 float64 numbers at address q, or -1 (ccd.ts). */
  vertexTriangle(q: number): number;
  edgeEdge(q: number): number;
}

let compiled: WebAssembly.Module | undefined;

/** Bytes of the built kernel. */
export function kernelBytes(): Buffer {
  return readFileSync(KERNEL_PATH);
}

/**
 * Instantiates the kernel, once per thread and room: its globals belong to that thread.
 * @param substepDone called after every substep while H_WATCH requests it; returns seconds that do not count as kernel
 * time
 * @param substepBegins called before every substep in the same way
 * @param phaseDone called after every phase while H_WATCH requests it
 * @param preempt called between phases while H_WATCH requests it; returns seconds that the thread spent on other work
 */
export function instantiateKernel(
  memory: WebAssembly.Memory,
  substepDone: () => number = () => 0,
  substepBegins: () => number = () => 0,
  phaseDone: (phase: number) => void = () => {},
  preempt: () => number = () => 0,
): Kernel {
  compiled ??= new WebAssembly.Module(new Uint8Array(kernelBytes()));
  const now = (): number => performance.now() / 1000;
  return new WebAssembly.Instance(compiled, {
    env: { memory },
    host: { now, substepDone, substepBegins, phaseDone, preempt },
  }).exports as unknown as Kernel;
}
