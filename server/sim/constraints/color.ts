/**
 * Graph coloring: constraints of one color share no particle, so they can be solved four at a time and on several
 * threads.
 *
 * First fit in the given order; on a spatially ordered mesh it leaves few, large colors first and small ones last. A
 * particle of valence n needs n colors. Most of them would have only the few constraints around it, with three empty
 * lanes in four. So, from the smallest color on, each color is filled up to whole blocks of four with constraints from
 * the largest color. If all constraints of a mesh share one particle, none can be moved, and they are solved one by
 * one.
 */

/** Colors of every particle, one bit each in 32-bit words; words are added as colors are needed. */
class Palette {
  private readonly words: Uint32Array[] = [];
  private readonly particles: Uint32Array;
  private readonly k: number;
  private readonly particleCount: number;

  constructor(particles: Uint32Array, k: number, particleCount: number) {
    this.particles = particles;
    this.k = k;
    this.particleCount = particleCount;
  }

  /** The first color that no particle of constraint e has. */
  firstFit(e: number): number {
    for (let word = 0; ; word++) {
      if (word === this.words.length) this.words.push(new Uint32Array(this.particleCount));
      let taken = 0;
      for (let i = 0; i < this.k; i++) taken |= this.words[word]![this.particles[this.k * e + i]!]!;
      const free = ~taken >>> 0;
      if (free !== 0) return 32 * word + 31 - Math.clz32(free & -free);
    }
  }

  fits(e: number, color: number): boolean {
    for (let i = 0; i < this.k; i++)
      if (this.words[color >>> 5]![this.particles[this.k * e + i]!]! & (1 << (color & 31))) return false;
    return true;
  }

  /** Sets or clears the color for all particles of constraint e. */
  flip(e: number, color: number): void {
    for (let i = 0; i < this.k; i++) this.words[color >>> 5]![this.particles[this.k * e + i]!]! ^= 1 << (color & 31);
  }
}

/**
 * @param particles uint32[k*n] particle numbers of n constraints, distinct within a constraint
 * @param k particles in a constraint
 * @returns constraint numbers color by color, each color in ascending order (= execution and memory order)
 */
export function colorConstraints(particles: Uint32Array, k: number, particleCount: number): number[][] {
  const n = particles.length / k;
  const palette = new Palette(particles, k, particleCount);
  const colors: number[][] = [];
  for (let e = 0; e < n; e++) {
    const color = palette.firstFit(e);
    palette.flip(e, color);
    (colors[color] ??= []).push(e);
  }
  fillLanes(colors, palette);
  return colors;
}

/** Moves constraints from the largest colors into smaller ones with an incomplete last block, smallest first. */
function fillLanes(colors: number[][], palette: Palette): void {
  const ascending = (): number[] =>
    colors.map((_, color) => color).sort((a, b) => colors[a]!.length - colors[b]!.length || b - a);
  for (const color of ascending()) {
    const members = colors[color]!;
    if (members.length % 4 === 0) continue;
    const givers = ascending();
    for (let giver = givers.length - 1; giver >= 0 && members.length % 4 !== 0; giver--)
      take(colors[givers[giver]!]!, givers[giver]!, members, color, palette);
    members.sort((a, b) => a - b);
  }
}

/** Moves constraints from a larger color to fill up a block. The last ones go first, so that fewer have to move up. */
function take(from: number[], donor: number, members: number[], color: number, palette: Palette): void {
  for (let at = from.length - 1; at >= 0 && members.length % 4 !== 0 && from.length > members.length + 1; at--) {
    const e = from[at]!;
    if (!palette.fits(e, color)) continue;
    palette.flip(e, donor);
    palette.flip(e, color);
    from.splice(at, 1);
    members.push(e);
  }
}
