/**
 * Back-solve with a sparse factor L D L^T of numbers (sim/implicit/factor.ts), for three right sides at once: one lane
 * for each coordinate.
 */

/**
 * Solves L D L^T y = y in place.
 * @param start i32[columns + 1] first entry of each column; rows i32 byte offset in y of each entry's row; entries f32;
 * diagonal f32[columns] D^-1; y f32x4[columns]
 */
export function backSolve(columns: i32, start: usize, rows: usize, entries: usize, diagonal: usize, y: usize): void {
  for (let k = 0; k < columns; k++) {
    const solved = v128.load(y + ((<usize>k) << 4));
    const end = load<i32>(start + ((<usize>k) << 2), 4);
    for (let p = load<i32>(start + ((<usize>k) << 2)); p < end; p++) {
      const at = y + <usize>load<u32>(rows + ((<usize>p) << 2));
      v128.store(at, f32x4.sub(v128.load(at), f32x4.mul(v128.load32_splat(entries + ((<usize>p) << 2)), solved)));
    }
  }
  for (let k = columns - 1; k >= 0; k--) {
    const here = y + ((<usize>k) << 4);
    const end = load<i32>(start + ((<usize>k) << 2), 4);
    let p = load<i32>(start + ((<usize>k) << 2));
    let a = f32x4.mul(v128.load32_splat(diagonal + ((<usize>k) << 2)), v128.load(here));
    // four independent sums: a single one would wait for its own latency
    let b = f32x4.splat(0);
    let c = b;
    let d = b;
    for (; p + 4 <= end; p += 4) {
      const entry = entries + ((<usize>p) << 2);
      const at = rows + ((<usize>p) << 2);
      a = f32x4.sub(a, f32x4.mul(v128.load32_splat(entry), v128.load(y + <usize>load<u32>(at))));
      b = f32x4.sub(b, f32x4.mul(v128.load32_splat(entry, 4), v128.load(y + <usize>load<u32>(at, 4))));
      c = f32x4.sub(c, f32x4.mul(v128.load32_splat(entry, 8), v128.load(y + <usize>load<u32>(at, 8))));
      d = f32x4.sub(d, f32x4.mul(v128.load32_splat(entry, 12), v128.load(y + <usize>load<u32>(at, 12))));
    }
    for (; p < end; p++) {
      const entry = v128.load32_splat(entries + ((<usize>p) << 2));
      a = f32x4.sub(a, f32x4.mul(entry, v128.load(y + <usize>load<u32>(rows + ((<usize>p) << 2)))));
    }
    v128.store(here, f32x4.add(f32x4.add(a, b), f32x4.add(c, d)));
  }
}
