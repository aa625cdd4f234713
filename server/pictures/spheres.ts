/** Triangle mesh of a point cloud: one small ball per point, with smooth normals. */

/** An octahedron with halved edges: balls are a few pixels wide, so 32 triangles are enough. */
const CORNERS: readonly (readonly [number, number, number])[] = [
  [1, 0, 0],
  [-1, 0, 0],
  [0, 1, 0],
  [0, -1, 0],
  [0, 0, 1],
  [0, 0, -1],
];
const BALL = ball();

function ball(): { positions: number[]; triangles: number[] } {
  const positions = CORNERS.flat();
  const numbers = new Map<string, number>();
  const middle = (a: number, b: number): number => {
    const key = `${Math.min(a, b)} ${Math.max(a, b)}`;
    if (!numbers.has(key)) {
      numbers.set(key, positions.length / 3);
      for (let r = 0; r < 3; r++) positions.push((CORNERS[a]![r]! + CORNERS[b]![r]!) * Math.SQRT1_2);
    }
    return numbers.get(key)!;
  };
  const triangles: number[] = [];
  for (const x of [0, 1])
    for (const y of [2, 3])
      for (const z of [4, 5]) {
        // counterclockwise from outside
        const [a, b, c] = (x + y + z) % 2 === 0 ? [x, y, z] : [x, z, y];
        const [ab, bc, ca] = [middle(a!, b!), middle(b!, c!), middle(c!, a!)];
        triangles.push(a!, ab, ca, ab, b!, bc, ca, bc, c!, ab, bc, ca);
      }
  return { positions, triangles };
}

/** @param points float32[3n] m. @param radius m */
export function spheresAt(
  points: Float32Array,
  radius: number,
): { positions: Float32Array; normals: Float32Array; triangles: Uint32Array } {
  const count = points.length / 3;
  const { length } = BALL.positions;
  const positions = new Float32Array(count * length);
  const normals = new Float32Array(count * length);
  for (let i = 0; i < count; i++) {
    normals.set(BALL.positions, i * length);
    for (let k = 0; k < length; k++) positions[i * length + k] = points[3 * i + (k % 3)]! + radius * BALL.positions[k]!;
  }
  const triangles = Uint32Array.from(
    { length: count * BALL.triangles.length },
    (_, k) => (Math.floor(k / BALL.triangles.length) * length) / 3 + BALL.triangles[k % BALL.triangles.length]!,
  );
  return { positions, normals, triangles };
}
