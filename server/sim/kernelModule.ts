/** The compiled kernel, and instances of it on a room's memory. */
import { readFileSync } from "node:fs";

const KERNEL_PATH = new URL("../../build/kernel.wasm", import.meta.url);

/**
 * Exports of server/kernel/assembly/index.ts; addresses and counts are int32; `pass` is PASS_FIRST and PASS_LAST of
 * layout.ts, added.
 */
export interface Kernel {
  step(helpers: number, scratch: number): void;
  /** Claims chunks of the tick `generation` until it ends or the helper is told to leave; @returns chunks done */
  help(generation: number, slot: number, scratch: number): number;
  bodyIsSound(first: number, count: number, radius: number, ox: number, oy: number, oz: number): number;
  /** (m/s)^2 */
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
  /** Of a range at `data`, `count` blocks from number `first` on; @returns 1 if `kind` is one of constraints */
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
  solvePoints(at: number, count: number, pass: number, h: number): void;
  worstStretch(elements: number, count: number, corners: number, every: number, rest: number, x: number): number;
  predict(begin: number, end: number, h: number): void;
  updateVelocity(begin: number, end: number, h: number): void;
  collide(begin: number, end: number, h: number, table: number): void;
  warmStart(): void;
  findFreeBodies(): void;
  balance(begin: number, end: number, h: number): void;
  restore(begin: number, end: number, h: number): void;
  beginPairList(): void;
  keepSafe(): void;
  /** Boxes of the front at x; then: does one surface come within `reach` of another (front.ts)? 1 or 0 */
  refitHere(): void;
  reachesSurface(a: number, b: number, reach: number): number;
  /** Before contacts are solved first in a substep: rows and near pairs for where it is going. */
  foresee(): void;
  verifyContacts(h: number): void;
  solveContacts(block: number, count: number, again: number): number;
  /**
   * Pairs of rigid bodies that solveContacts has met since the first of these are solved by the second
   * (rigidContact.ts).
   */
  beginRigidContacts(): void;
  solveRigidContacts(first: number, scratch: number): void;
  checkContacts(block: number, count: number, vertex: number): number;
  /** Rigid impact zones (rigidImpactZones.ts): particles by address; endChanges forgets what was moved. */
  beginZones(): void;
  joinZone(a: number, b: number, c: number, d: number): void;
  moveZones(): void;
  endZones(): void;
  endChanges(): void;
  solveShapes(begin: number, end: number, pass: number, h: number, scratch: number): void;
  /** Signed distance of a point to the collider at address `row`, in its frame, m. */
  distanceTo(row: number, x: number, y: number, z: number): number;
  moveRigid(begin: number, end: number, h: number, scratch: number): void;
  placeCoreMeshes(): void;
  beginBalls(): void;
  solveBalls(pass: number, h: number, scratch: number): void;
  /**
   * Fills H_INTERSECTIONS with edges and triangles that meet.
   * @returns how many there are; the list holds the first ones if that is more than its capacity
   */
  findIntersections(positions: number): number;
  /**
   * Measure the primitives of a PAIR row in the positions that lie `shift` bytes behind X: writes normal and gap,
   * returns the squared distance, m^2.
   */
  measureVertexTriangle(row: number, shift: number): number;
  measureEdges(row: number, shift: number): number;
  /** Of the last pair measured: weights of the triangle's corners; places on the edges. */
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

/** The kernel as built. */
export function kernelBytes(): Buffer {
  return readFileSync(KERNEL_PATH);
}

/**
 * One instance per thread and room: its globals are that thread's own.
 * @param substepDone called after every substep while H_WATCH asks for it; returns seconds that are not the kernel's
 * @param phaseDone likewise after every phase
 * @param preempt called between phases while H_WATCH asks for it; returns seconds that the thread did something else
 */
export function instantiateKernel(
  memory: WebAssembly.Memory,
  substepDone: () => number = () => 0,
  phaseDone: (phase: number) => void = () => {},
  preempt: () => number = () => 0,
): Kernel {
  compiled ??= new WebAssembly.Module(new Uint8Array(kernelBytes()));
  const now = (): number => performance.now() / 1000;
  return new WebAssembly.Instance(compiled, { env: { memory }, host: { now, substepDone, phaseDone, preempt } })
    .exports as unknown as Kernel;
}
