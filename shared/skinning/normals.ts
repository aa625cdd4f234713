/** Vertex normals of a triangle surface, shared by server, client and tests. */

/** Below this area, the faces around a particle are degenerate (m^2; a face with edges of 0.1 nanometers). */
const NO_AREA = 1e-20;

/**
 * n_i = normalize(sum over the faces of i of (b - a) x (c - a)): faces are weighted by area. A particle without area
 * gets (0, 1, 0), which avoids NaN.
 *
 * @param positions float[3*count] m, in
 * @param triangles uint32[3*T], in
 * @param out float[3*count], out
 */
export function vertexNormalsInto(
  positions: ArrayLike<number>,
  triangles: ArrayLike<number>,
  out: Float32Array | Float64Array,
): void {
  out.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ux = positions[b] - positions[a];
    const uy = positions[b + 1] - positions[a + 1];
    const uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a];
    const vy = positions[c + 1] - positions[a + 1];
    const vz = positions[c + 2] - positions[a + 2];
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    for (let k = 0; k < 3; k++) {
      const i = 3 * triangles[t + k];
      out[i] += nx;
      out[i + 1] += ny;
      out[i + 2] += nz;
    }
  }
  for (let i = 0; i < out.length; i += 3) {
    const length = Math.sqrt(out[i] * out[i] + out[i + 1] * out[i + 1] + out[i + 2] * out[i + 2]);
    const has = length > NO_AREA;
    out[i] = has ? out[i] / length : 0;
    out[i + 1] = has ? out[i + 1] / length : 1;
    out[i + 2] = has ? out[i + 2] / length : 0;
  }
}
