/**
 * Continuous collision tests of the kernel (kernel/assembly/ccd/ccd.ts), for one pair at a time: a vertex against a
 * triangle, or two edges. Their points move in straight lines from t = 0 to t = 1.
 *
 * Guarantee: -1 only if the closed primitives, with exactly the given float64 numbers, never touch; a returned time is
 * never later than the first touch. Pairs that miss each other by about 10^-16 of their extent may return a time (a
 * false alarm). The result does not depend on the machine, and scaling all numbers by a power of two does not change
 * it. Numbers that are not finite give 0. The kernel's file contains the proof.
 *
 * Synchronous. One kernel with its own page of memory serves all calls of a thread.
 */
import { instantiateKernel, type Kernel } from "../world/kernelModule.ts";

const ADDRESS = 4096;
const NUMBERS = 24;

let kernel: Kernel | undefined;
let query: Float64Array;

/** Writes q into the kernel's memory. The first call makes the kernel. */
function load(q: Float64Array): Kernel {
  if (q.length !== NUMBERS)
    throw new RangeError(`q has ${q.length} numbers; expected ${NUMBERS}: x y z of four points at t0, then at t1`);
  if (kernel === undefined) {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    query = new Float64Array(memory.buffer, ADDRESS, NUMBERS);
    kernel = instantiateKernel(memory);
  }
  for (let i = 0; i < NUMBERS; i++) query[i] = q[i];
  return kernel;
}

/**
 * Vertex against triangle.
 * @param q f64[24] x y z of v f0 f1 f2 at t0, then of the same at t1, in
 * @returns time of impact in [0,1], or -1 if they never touch
 * @throws RangeError if q has another length
 */
export function vertexTriangle(q: Float64Array): number {
  return load(q).vertexTriangle(ADDRESS);
}

/**
 * Edge against edge.
 * @param q f64[24] x y z of a0 a1 b0 b1 at t0, then of the same at t1, in; the edges are a0 a1 and b0 b1
 * @returns time of impact in [0,1], or -1 if they never touch
 * @throws RangeError if q has another length
 */
export function edgeEdge(q: Float64Array): number {
  return load(q).edgeEdge(ADDRESS);
}
