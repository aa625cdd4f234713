/**
 * Graph coloring: constraints of one color share no free particle, so they can be solved four at a time and on several threads.
 * First fit in the order given, which on a spatially ordered mesh leaves few, large colors first and small ones last.
 */

/**
 * @param particles uint32[k*n] particle numbers of n constraints
 * @param k particles in a constraint
 * @returns constraint numbers color by color, each color in ascending order (= execution and memory order)
 */
export function colorConstraints(particles: Uint32Array, k: number, particleCount: number): number[][] {
  const n = particles.length / k;
  // one bit a color in 32-bit words; words are added as colors are needed (a vertex in 60 tetrahedra needs 60 colors)
  const used: Uint32Array[] = [new Uint32Array(particleCount)];
  const colors: number[][] = [];
  for (let e = 0; e < n; e++) {
    let color = -1;
    for (let word = 0; color < 0; word++) {
      if (word === used.length) used.push(new Uint32Array(particleCount));
      let taken = 0;
      for (let i = 0; i < k; i++) taken |= used[word]![particles[k * e + i]!]!;
      const free = ~taken >>> 0;
      if (free === 0) continue;
      const bit = 31 - Math.clz32(free & -free);
      color = 32 * word + bit;
      for (let i = 0; i < k; i++) used[word]![particles[k * e + i]!]! |= 1 << bit;
    }
    (colors[color] ??= []).push(e);
  }
  return colors;
}
