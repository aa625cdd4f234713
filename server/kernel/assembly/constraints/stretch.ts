/** Stretch of a body's edges, which limits the force of grabs. */

/** Returns the squared distance of two points of three float32 each. */
function squareBetween(a: usize, b: usize): f32 {
  const x = load<f32>(a) - load<f32>(b);
  const y = load<f32>(a, 4) - load<f32>(b, 4);
  const z = load<f32>(a, 8) - load<f32>(b, 8);
  return x * x + y * y + z * z;
}

/**
 * Returns the largest length of an edge over its rest length.
 * @param elements uint32[corners * count], triangles or tetrahedra by their corners' numbers in the body
 * @param every only every `every`-th element is measured, in meshes so fine that neighbors are stretched alike
 * @param rest float32[3*N] m, the undeformed body
 * @param x address of its first particle
 */
export function worstStretch(elements: usize, count: i32, corners: i32, every: i32, rest: usize, x: usize): f32 {
  let worst: f32 = 0;
  for (
    const end = elements + ((<usize>count * <usize>corners) << 2);
    elements < end;
    elements += (<usize>(corners * every)) << 2
  ) {
    for (let i = 1; i < corners; i++) {
      const a = <usize>load<u32>(elements + ((<usize>i) << 2));
      for (let j = 0; j < i; j++) {
        const b = <usize>load<u32>(elements + ((<usize>j) << 2));
        const now = squareBetween(x + (a << 4), x + (b << 4));
        worst = max(worst, now / squareBetween(rest + 12 * a, rest + 12 * b));
      }
    }
  }
  return Mathf.sqrt(worst);
}
