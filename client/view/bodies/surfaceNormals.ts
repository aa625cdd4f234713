/**
 * Vertex normals of a deforming surface, every frame, on the CPU (7,000 triangles take about 0.1 ms). Faces are
 * weighted by area: the sum of unnormalized face normals.
 */

/**
 * n_i = normalize(sum over faces of i of (b - a) x (c - a)).
 * @param out float32[3*slots], out
 * @param positions float32[3*count] m, in
 * @param triangles uint32[3*T] into positions, in
 * @param slots uint32[3*T] into out: the normal that each corner adds to; the triangles themselves for smooth shading
 */
export function surfaceNormalsInto(
  out: Float32Array,
  positions: Float32Array,
  triangles: Uint32Array,
  slots: Uint32Array,
): void {
  out.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!;
    const b = 3 * triangles[t + 1]!;
    const c = 3 * triangles[t + 2]!;
    const ax = positions[a]!;
    const ay = positions[a + 1]!;
    const az = positions[a + 2]!;
    const ux = positions[b]! - ax;
    const uy = positions[b + 1]! - ay;
    const uz = positions[b + 2]! - az;
    const vx = positions[c]! - ax;
    const vy = positions[c + 1]! - ay;
    const vz = positions[c + 2]! - az;
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    for (let k = 0; k < 3; k++) {
      const s = 3 * slots[t + k]!;
      out[s]! += nx;
      out[s + 1]! += ny;
      out[s + 2]! += nz;
    }
  }
  normalizeAll(out);
}

/** In place; a vector of length 0 becomes (0, 1, 0). */
export function normalizeAll(out: Float32Array): void {
  for (let i = 0; i < out.length; i += 3) {
    const x = out[i]!;
    const y = out[i + 1]!;
    const z = out[i + 2]!;
    const length = Math.sqrt(x * x + y * y + z * z);
    // If all faces of a particle have collapsed, use any normal, so that no NaN reaches the shader.
    if (length > 1e-20) {
      out[i] = x / length;
      out[i + 1] = y / length;
      out[i + 2] = z / length;
    } else {
      out[i] = 0;
      out[i + 1] = 1;
      out[i + 2] = 0;
    }
  }
}

/**
 * Softens vertex normals over the ring around each vertex: n_i = normalize(sum over faces of i of n_a + n_b + n_c). For
 * cloth, whose triangles are large compared to its folds: otherwise the mesh's alternating diagonals would be visible.
 * @param out float32[3*count], out
 * @param normals float32[3*count], in
 */
export function softenNormalsInto(out: Float32Array, normals: Float32Array, triangles: Uint32Array): void {
  out.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!;
    const b = 3 * triangles[t + 1]!;
    const c = 3 * triangles[t + 2]!;
    for (let k = 0; k < 3; k++) {
      const sum = normals[a + k]! + normals[b + k]! + normals[c + k]!;
      out[a + k]! += sum;
      out[b + k]! += sum;
      out[c + k]! += sum;
    }
  }
  normalizeAll(out);
}

export interface SmoothingGroups {
  /** uint32[3*T]: normal slot of every triangle corner. */
  slots: Uint32Array;
  /** Number of slots. */
  count: number;
}

/**
 * Splits a surface's corners into smoothing groups: faces around a particle share a normal if they are connected over
 * edges flatter than the crease angle, in the rest shape. A cube keeps its edges, a ball stays round.
 * @param rest float32[3*count] m
 * @param triangles uint32[3*T]
 * @param creaseCosine faces whose normals' cosine is below this do not share a normal
 */
export function smoothingGroups(rest: Float32Array, triangles: Uint32Array, creaseCosine: number): SmoothingGroups {
  const faceCount = triangles.length / 3;
  const normals = new Float32Array(3 * faceCount);
  const own = Uint32Array.from({ length: triangles.length }, (_, i) => Math.floor(i / 3));
  surfaceNormalsInto(normals, rest, triangles, own);
  const corners = new Map<number, number[]>();
  triangles.forEach((particle, corner) => {
    const list = corners.get(particle);
    if (list) list.push(corner);
    else corners.set(particle, [corner]);
  });
  const slots = new Uint32Array(triangles.length);
  let count = 0;
  for (const around of corners.values()) {
    const remaining = new Set(around);
    while (remaining.size > 0) {
      const group = [remaining.values().next().value!];
      remaining.delete(group[0]!);
      for (const corner of group) {
        slots[corner] = count;
        for (const other of [...remaining]) {
          if (!sharesEdge(triangles, corner, other) || cosine(normals, corner, other) < creaseCosine) continue;
          remaining.delete(other);
          group.push(other);
        }
      }
      count++;
    }
  }
  return { slots, count };
}

/** True if two corners of the same particle are in faces that share one of its edges. */
function sharesEdge(triangles: Uint32Array, corner: number, other: number): boolean {
  const rim = (c: number): [number, number] => {
    const face = 3 * Math.floor(c / 3);
    const k = c % 3;
    return [triangles[face + ((k + 1) % 3)]!, triangles[face + ((k + 2) % 3)]!];
  };
  const [a, b] = rim(corner);
  const [c, d] = rim(other);
  return a === c || a === d || b === c || b === d;
}

function cosine(normals: Float32Array, corner: number, other: number): number {
  const i = 3 * Math.floor(corner / 3);
  const j = 3 * Math.floor(other / 3);
  return normals[i]! * normals[j]! + normals[i + 1]! * normals[j + 1]! + normals[i + 2]! * normals[j + 2]!;
}
