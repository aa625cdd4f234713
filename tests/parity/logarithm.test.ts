/**
 * kernel/assembly/math/logarithm.ts against the host's logarithm in float64. Guarantee: 2.5 units in the last place of
 * the result over all normal float32 numbers; ln 1 is exactly 0.
 */
import { expect, test } from "vitest";
import { instantiateKernel } from "../../server/sim/world/kernelModule.ts";

const ADDRESS = 4096;
const COUNT = 4096;

function logarithms(x: Float32Array): Float32Array {
  const memory = new WebAssembly.Memory({ initial: 2, maximum: 2, shared: true });
  const kernel = instantiateKernel(memory);
  const view = new Float32Array(memory.buffer, ADDRESS, x.length);
  view.set(x);
  kernel.logarithms(ADDRESS, x.length / 4);
  return Float32Array.from(view);
}

/** Largest error in units in the last place of the exact result. */
function worst(x: Float32Array): number {
  return logarithms(x).reduce((most, got, i) => {
    const exact = Math.log(x[i]!);
    const unit = 2 ** (Math.floor(Math.log2(Math.max(Math.abs(exact), 2 ** -126))) - 23);
    return Math.max(most, Math.abs(got - exact) / unit);
  }, 0);
}

test("within 2.5 units over all exponents", () => {
  // every exponent with 16 mantissas each, by their bits
  const bits = new Uint32Array(COUNT);
  for (let i = 0; i < COUNT; i++) bits[i] = ((1 + (i % 254)) << 23) + ((i * 2654435761) >>> 9);
  expect(worst(new Float32Array(bits.buffer))).toBeLessThan(2.5);
});

test.each([
  [1, 1e-7],
  [1, 1e-4],
  [1, 0.3],
  [0.7, 1e-3],
  [1.4, 1e-3],
  [0.01, 0.009],
  [30, 29],
])("within 2.5 units around %d by %d", (center, width) => {
  expect(
    worst(Float32Array.from({ length: COUNT }, (_, i) => center + width * ((2 * i) / (COUNT - 1) - 1))),
  ).toBeLessThan(2.5);
});

test("ln 1 = 0, and the numbers next to 1 have distinct logarithms", () => {
  const down = 1 - 2 ** -24;
  const up = 1 + 2 ** -23;
  expect(logarithms(Float32Array.of(1, down, up, 1))).toEqual(
    Float32Array.of(0, Math.fround(Math.log(down)), Math.fround(Math.log(up)), 0),
  );
});
