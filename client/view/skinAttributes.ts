/**
 * What the skinning vertex shader needs once per body: for every vertex to draw its three particles, its coordinates in their
 * triangle, and its rest normal as a covector of that triangle's parameters (see skinShader.ts).
 */
import { surfaceNormalsInto } from "./surfaceNormals.ts";

export interface SkinSource {
  /** float32[3*count] m: undeformed particles. */
  rest: Float32Array;
  /** uint32[3*T]: simulation surface. */
  triangles: Uint32Array;
  /** uint32[3*D]: detail triangles. */
  detailTriangles: Uint32Array;
  /** uint32[V] */
  attachTriangle: Uint32Array;
  /** float32[3*V]: u, v, distance in m. */
  attachCoords: Float32Array;
}

export interface SkinAttributes {
  /** uint32[3*V]: particles of the triangle that carries each vertex. */
  corners: Uint32Array;
  /** float32[3*V]: J0^T n0, up to a positive factor. */
  covectors: Float32Array;
}

export function skinAttributes(source: SkinSource): SkinAttributes {
  const { rest, triangles, detailTriangles, attachTriangle, attachCoords } = source;
  const vertexCount = attachTriangle.length;
  const corners = new Uint32Array(3 * vertexCount);
  const restNormals = new Float32Array(rest.length);
  surfaceNormalsInto(restNormals, rest, triangles, triangles);
  const points = new Float32Array(3 * vertexCount);
  const frames = new Float64Array(9 * vertexCount);
  for (let i = 0; i < vertexCount; i++) {
    const t = 3 * attachTriangle[i]!;
    for (let k = 0; k < 3; k++) corners[3 * i + k] = triangles[t + k]!;
    restFrame(frames, points, i, rest, restNormals, corners, attachCoords);
  }
  const detailNormals = new Float32Array(3 * vertexCount);
  surfaceNormalsInto(detailNormals, points, detailTriangles, detailTriangles);
  const covectors = new Float32Array(3 * vertexCount);
  for (let i = 0; i < vertexCount; i++) toCovector(covectors, i, frames, detailNormals);
  return { corners, covectors };
}

/** Rest position of vertex i and its Jacobian's columns ju, jv, N, by the shader's formulas. */
function restFrame(
  frames: Float64Array,
  points: Float32Array,
  i: number,
  rest: Float32Array,
  normals: Float32Array,
  corners: Uint32Array,
  coords: Float32Array,
): void {
  const a = 3 * corners[3 * i]!, b = 3 * corners[3 * i + 1]!, c = 3 * corners[3 * i + 2]!;
  const u = coords[3 * i]!, v = coords[3 * i + 1]!, d = coords[3 * i + 2]!;
  const w = 1 - u - v;
  const n = [0, 0, 0];
  for (let k = 0; k < 3; k++) n[k] = w * normals[a + k]! + u * normals[b + k]! + v * normals[c + k]!;
  const size = Math.max(Math.sqrt(n[0]! * n[0]! + n[1]! * n[1]! + n[2]! * n[2]!), 1e-12);
  for (let k = 0; k < 3; k++) n[k]! /= size;
  let alongU = 0;
  let alongV = 0;
  for (let k = 0; k < 3; k++) {
    alongU += n[k]! * (normals[b + k]! - normals[a + k]!);
    alongV += n[k]! * (normals[c + k]! - normals[a + k]!);
  }
  for (let k = 0; k < 3; k++) {
    points[3 * i + k] = w * rest[a + k]! + u * rest[b + k]! + v * rest[c + k]! + d * n[k]!;
    frames[9 * i + k] = rest[b + k]! - rest[a + k]! + (d / size) * (normals[b + k]! - normals[a + k]! - n[k]! * alongU);
    frames[9 * i + 3 + k] = rest[c + k]! - rest[a + k]! + (d / size) * (normals[c + k]! - normals[a + k]! - n[k]! * alongV);
    frames[9 * i + 6 + k] = n[k]!;
  }
}

/** m = sign(det J0) J0^T n0: the sign, because the shader multiplies by the cofactor matrix, which is det(J) J^-T. */
function toCovector(out: Float32Array, i: number, frames: Float64Array, normals: Float32Array): void {
  const f = (k: number) => frames[9 * i + k]!;
  const determinant =
    f(0) * (f(4) * f(8) - f(5) * f(7)) - f(1) * (f(3) * f(8) - f(5) * f(6)) + f(2) * (f(3) * f(7) - f(4) * f(6));
  const sign = determinant < 0 ? -1 : 1;
  for (let column = 0; column < 3; column++) {
    let dot = 0;
    for (let k = 0; k < 3; k++) dot += f(3 * column + k) * normals[3 * i + k]!;
    out[3 * i + column] = sign * dot;
  }
}
