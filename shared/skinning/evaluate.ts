/**
 * Positions and normals of an attached detail mesh on a deformed surface: the reference for the vertex shader
 * (client/view/bodies/skinShader.ts mirrors these formulas line by line; tests compare both).
 *
 * For a detail vertex with corners a, b, c (positions), na, nb, nc (vertexNormalsInto of the current positions) and
 * coords u, v, d:
 *   n = (1 - u - v) na + u nb + v nc     s = max(|n|, 1e-12)     N = n / s
 *   position x = (1 - u - v) a + u b + v c + d N                                        Bender et al. 2014, section 5
 *   ju = b - a + (d / s) (I - N N^T) (nb - na)     jv = c - a + (d / s) (I - N N^T) (nc - na)     the columns, with N,
 *   of x's Jacobian J
 *   normal = normalize(m.x (jv x N) + m.y (N x ju) + m.z (ju x jv)), or N if that is shorter than 1e-12
 * with the covector m = sign(det J0) J0^T n0 of the rest shape, where n0 is the detail mesh's own vertex normal at
 * rest. The sum is cof(J) m = det(J) J^-T m: the exact normal of the deformed detail surface, also for stretch and
 * shear. It needs no further data in the topology: u, v, d and the rest shape are sufficient.
 * Rejected: rotating vertex normals with a frame of the triangle. It ignores stretch and jumps between triangles.
 */
import { vertexNormalsInto } from "./normals.ts";

export interface SkinSource {
  /** float[3*count] m: simulation surface at rest. */
  rest: ArrayLike<number>;
  /** uint32[3*T]: simulation surface. */
  triangles: ArrayLike<number>;
  /** uint32[3*D]: detail mesh. */
  detailTriangles: ArrayLike<number>;
  /** uint32[V] */
  attachTriangle: ArrayLike<number>;
  /** float32[3*V]: u, v, distance in m. */
  attachCoords: ArrayLike<number>;
  /** float[3*V]: the detail mesh's own vertex normals at rest; absent: computed from its triangles. */
  detailNormals?: ArrayLike<number>;
}

export interface Skin {
  /** uint32[3*V]: the particles of each vertex's triangle. */
  readonly corners: Uint32Array;
  readonly coords: Float64Array;
  /** float64[3*V]: m. */
  readonly covectors: Float64Array;
  readonly triangles: Uint32Array;
  /** float64[3*count], scratch. */
  readonly normals: Float64Array;
}

/** Per vertex: x, then ju, jv, N. */
const FRAME = 12;

/**
 * Prepares the skin from the rest shape.
 *
 * @throws RangeError for an attachment to a triangle that does not exist
 */
export function createSkin({
  rest,
  triangles,
  detailTriangles,
  attachTriangle,
  attachCoords,
  detailNormals,
}: SkinSource): Skin {
  const count = attachTriangle.length;
  const corners = new Uint32Array(3 * count);
  for (let i = 0; i < count; i++) {
    if (3 * attachTriangle[i] >= triangles.length) {
      throw new RangeError(
        `attachTriangle[${i}] is ${attachTriangle[i]}, must be below the ${triangles.length / 3} triangles`,
      );
    }
    for (let k = 0; k < 3; k++) corners[3 * i + k] = triangles[3 * attachTriangle[i] + k];
  }
  const skin: Skin = {
    corners,
    coords: Float64Array.from(attachCoords),
    covectors: new Float64Array(3 * count),
    triangles: Uint32Array.from(triangles),
    normals: new Float64Array(rest.length),
  };
  vertexNormalsInto(rest, skin.triangles, skin.normals);
  const frames = new Float64Array(FRAME * count);
  const points = new Float64Array(3 * count);
  const f = new Float64Array(FRAME);
  for (let i = 0; i < count; i++) {
    frameOf(skin, i, rest, f);
    frames.set(f, FRAME * i);
    for (let r = 0; r < 3; r++) points[3 * i + r] = f[r];
  }
  const restNormals = new Float64Array(3 * count);
  if (detailNormals) restNormals.set(detailNormals);
  else vertexNormalsInto(points, detailTriangles, restNormals);
  for (let i = 0; i < count; i++) {
    const [, , , ux, uy, uz, vx, vy, vz, nx, ny, nz] = frames.subarray(FRAME * i, FRAME * (i + 1));
    const sign = ux * (vy * nz - vz * ny) + uy * (vz * nx - vx * nz) + uz * (vx * ny - vy * nx) < 0 ? -1 : 1;
    const [x, y, z] = restNormals.subarray(3 * i, 3 * i + 3);
    skin.covectors[3 * i] = sign * (ux * x + uy * y + uz * z);
    skin.covectors[3 * i + 1] = sign * (vx * x + vy * y + vz * z);
    skin.covectors[3 * i + 2] = sign * (nx * x + ny * y + nz * z);
  }
  return skin;
}

/**
 * Evaluates the skin: the dragon's 22,982 vertices take about 14 ms.
 *
 * @param skin
 * @param positions float[3*count] m: simulation surface now, in
 * @param outPositions float[3*V] m, out
 * @param outNormals float[3*V], out
 */
export function evaluateSkinInto(
  skin: Skin,
  positions: ArrayLike<number>,
  outPositions: Float32Array | Float64Array,
  outNormals: Float32Array | Float64Array,
): void {
  vertexNormalsInto(positions, skin.triangles, skin.normals);
  const { covectors } = skin;
  for (let i = 0; i < covectors.length; i += 3) {
    frameOf(skin, i / 3, positions, frame);
    const [x, y, z, ux, uy, uz, vx, vy, vz, nx, ny, nz] = frame;
    outPositions[i] = x;
    outPositions[i + 1] = y;
    outPositions[i + 2] = z;
    const [a, b, c] = [covectors[i], covectors[i + 1], covectors[i + 2]];
    const mx = a * (vy * nz - vz * ny) + b * (ny * uz - nz * uy) + c * (uy * vz - uz * vy);
    const my = a * (vz * nx - vx * nz) + b * (nz * ux - nx * uz) + c * (uz * vx - ux * vz);
    const mz = a * (vx * ny - vy * nx) + b * (nx * uy - ny * ux) + c * (ux * vy - uy * vx);
    const length = Math.sqrt(mx * mx + my * my + mz * mz);
    const own = length > 1e-12;
    outNormals[i] = own ? mx / length : nx;
    outNormals[i + 1] = own ? my / length : ny;
    outNormals[i + 2] = own ? mz / length : nz;
  }
}

const frame = new Float64Array(FRAME);

/** Computes x, ju, jv and N of vertex i from `positions` and skin.normals. */
function frameOf({ corners, coords, normals }: Skin, i: number, positions: ArrayLike<number>, out: Float64Array): void {
  const a = 3 * corners[3 * i];
  const b = 3 * corners[3 * i + 1];
  const c = 3 * corners[3 * i + 2];
  const u = coords[3 * i];
  const v = coords[3 * i + 1];
  const d = coords[3 * i + 2];
  const w = 1 - u - v;
  for (let r = 0; r < 3; r++) out[9 + r] = w * normals[a + r] + u * normals[b + r] + v * normals[c + r];
  const s = Math.max(Math.sqrt(out[9] * out[9] + out[10] * out[10] + out[11] * out[11]), 1e-12);
  let alongU = 0;
  let alongV = 0;
  for (let r = 0; r < 3; r++) {
    out[9 + r] /= s;
    alongU += out[9 + r] * (normals[b + r] - normals[a + r]);
    alongV += out[9 + r] * (normals[c + r] - normals[a + r]);
  }
  for (let r = 0; r < 3; r++) {
    const n = out[9 + r];
    out[r] = w * positions[a + r] + u * positions[b + r] + v * positions[c + r] + d * n;
    out[3 + r] = positions[b + r] - positions[a + r] + (d / s) * (normals[b + r] - normals[a + r] - n * alongU);
    out[6 + r] = positions[c + r] - positions[a + r] + (d / s) * (normals[c + r] - normals[a + r] - n * alongV);
  }
}
