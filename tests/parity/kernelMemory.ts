/** The memory of a room that a parity test lays out, and the kernel on it. */
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import type { Allocator } from "../../server/sim/memory/memoryMap.ts";
import { instantiateKernel } from "../../server/sim/world/kernelModule.ts";

/** Arrays of particles, and the header words of their addresses. @param count particles, with those that fill lanes */
export function particleArrays(allocator: Allocator, count: number) {
  const take = (): number => allocator.take(16 * count);
  const [X, P, V, A] = [take(), take(), take(), take()];
  const header = {
    [L.H_X]: X,
    [L.H_XPREV]: P,
    [L.H_V]: V,
    [L.H_ACC]: A,
    [L.H_LOW]: take(),
    [L.H_LOW_PREV]: take(),
    [L.H_LOW_SPEED]: take(),
  };
  return { X, P, V, A, header };
}

/** @param header words of the header by offset (H_X ...) */
export function openMemory(allocator: Allocator, header: Record<number, number>) {
  const memory = new WebAssembly.Memory({ initial: allocator.pages, maximum: allocator.pages, shared: true });
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  for (const [offset, value] of Object.entries(header)) i32[(L.HEADER + Number(offset)) / 4] = value;
  return { kernel: instantiateKernel(memory), memory, f32, i32 };
}
