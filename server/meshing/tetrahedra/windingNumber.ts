/**
 * Generalized winding number of a triangle soup: the number of times that it encloses a point. It is 1 inside and 0
 * outside of a closed surface, and smooth near holes, so that w = 1/2 closes them. The mesh may be open or
 * non-manifold; its triangles only need to agree mostly on the outside.
 * Sources: Jacobson, Kavan, Sorkine-Hornung 2013 (definition); Barill, Dickson, Schmidt, Levin, Jacobson 2018, section
 * 3 (tree with Taylor expansion, here to the second order); Van Oosterom and Strackee 1983 (solid angle).
 */
import { yieldPoint } from "../../../shared/yieldPoint.ts";
import type { TriangleTree } from "./triangleTree.ts";

/**
 * A node further away than this many of its radii is approximated as a whole. The largest error on the dragon is then
 * below 0.02 (tests/server/meshing).
 */
const FAR = 2.5;

export interface WindingField {
  tree: TriangleTree;
  /** Per node: expansion center (3), radius, sum of area normals (3), first moments (9). */
  moments: Float64Array;
  /** -1 if the surface is inside out as a whole, else 1. */
  sign: 1 | -1;
}

const STRIDE = 16;

/**
 * Prepares the expansion of every node.
 * Second order: w(q) = sum N . g(c - q) + M : H(c - q), g(d) = d / (4 pi |d|^3), H = grad g, N = sum of area normals, M
 * = sum of (triangle centroid - c) (area normal)^T.
 */
export function buildWindingField(tree: TriangleTree): WindingField {
  const moments = new Float64Array(STRIDE * tree.nodes);
  const { positions: x, triangles } = tree;
  const total = triangles.length / 3;
  const centroid = new Float64Array(3 * total);
  const normal = new Float64Array(3 * total);
  const area = new Float64Array(total);
  let sixVolume = 0;
  for (let t = 0; t < total; t++) {
    yieldPoint();
    const a = 3 * triangles[3 * t]!;
    const b = 3 * triangles[3 * t + 1]!;
    const c = 3 * triangles[3 * t + 2]!;
    for (let k = 0; k < 3; k++) {
      const l = (k + 1) % 3;
      const m = (k + 2) % 3;
      centroid[3 * t + k] = (x[a + k]! + x[b + k]! + x[c + k]!) / 3;
      normal[3 * t + k] =
        0.5 * ((x[b + l]! - x[a + l]!) * (x[c + m]! - x[a + m]!) - (x[b + m]! - x[a + m]!) * (x[c + l]! - x[a + l]!));
      // Volume relative to the first vertex, so that a surface far from the origin keeps its precision.
      sixVolume += 2 * (centroid[3 * t + k]! - x[k]!) * normal[3 * t + k]!;
    }
    area[t] = Math.sqrt(normal[3 * t]! ** 2 + normal[3 * t + 1]! ** 2 + normal[3 * t + 2]! ** 2);
  }
  for (let node = 0; node < tree.nodes; node++) {
    yieldPoint();
    const low = tree.first[node]!;
    const high = low + tree.count[node]!;
    const at = STRIDE * node;
    let weight = 0;
    for (let t = low; t < high; t++) {
      weight += area[t]!;
      for (let k = 0; k < 3; k++) moments[at + k]! += area[t]! * centroid[3 * t + k]!;
    }
    for (let k = 0; k < 3; k++) moments[at + k] = weight > 0 ? moments[at + k]! / weight : centroid[3 * low + k]!;
    let radius2 = 0;
    for (let i = 3 * low; i < 3 * high; i++) {
      const v = 3 * triangles[i]!;
      radius2 = Math.max(
        radius2,
        (x[v]! - moments[at]!) ** 2 + (x[v + 1]! - moments[at + 1]!) ** 2 + (x[v + 2]! - moments[at + 2]!) ** 2,
      );
    }
    moments[at + 3] = Math.sqrt(radius2);
    for (let t = low; t < high; t++) {
      for (let k = 0; k < 3; k++) {
        moments[at + 4 + k]! += normal[3 * t + k]!;
        for (let l = 0; l < 3; l++)
          moments[at + 7 + 3 * k + l]! += (centroid[3 * t + k]! - moments[at + k]!) * normal[3 * t + l]!;
      }
    }
  }
  return { tree, moments, sign: sixVolume < 0 ? -1 : 1 };
}

/**
 * Arc tangent of y over x with the quadrant, from plain IEEE operations, so that every machine gets the same bits. The
 * angle is halved three times (atan t = 2 atan(t / (1 + sqrt(1 + t^2)))), then a Taylor series is used for |t| < 0.1;
 * error below 1e-14.
 * @returns radian, -pi to pi; 0 for (0, 0)
 */
export function arcTangent(y: number, x: number): number {
  const ay = Math.abs(y);
  const ax = Math.abs(x);
  const big = Math.max(ax, ay);
  if (!(big > 0)) return 0;
  let t = Math.min(ax, ay) / big;
  for (let i = 0; i < 3; i++) t /= 1 + Math.sqrt(1 + t * t);
  const s = t * t;
  let angle = 8 * t * (1 - s * (1 / 3 - s * (1 / 5 - s * (1 / 7 - s * (1 / 9 - s * (1 / 11 - s / 13))))));
  if (ay > ax) angle = Math.PI / 2 - angle;
  if (x < 0) angle = Math.PI - angle;
  return y < 0 ? -angle : angle;
}

/**
 * Solid angle of sorted triangle t, seen from q, over 4 pi: tan(omega / 2) = a . (b x c) / (|a||b||c| + (a.b)|c| +
 * (b.c)|a| + (c.a)|b|).
 */
function triangleWinding(tree: TriangleTree, t: number, qx: number, qy: number, qz: number): number {
  const { positions: x, triangles } = tree;
  const a = 3 * triangles[3 * t]!;
  const b = 3 * triangles[3 * t + 1]!;
  const c = 3 * triangles[3 * t + 2]!;
  const ax = x[a]! - qx;
  const ay = x[a + 1]! - qy;
  const az = x[a + 2]! - qz;
  const bx = x[b]! - qx;
  const by = x[b + 1]! - qy;
  const bz = x[b + 2]! - qz;
  const cx = x[c]! - qx;
  const cy = x[c + 1]! - qy;
  const cz = x[c + 2]! - qz;
  const la = Math.sqrt(ax * ax + ay * ay + az * az);
  const lb = Math.sqrt(bx * bx + by * by + bz * bz);
  const lc = Math.sqrt(cx * cx + cy * cy + cz * cz);
  const numerator = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
  const denominator =
    la * lb * lc +
    (ax * bx + ay * by + az * bz) * lc +
    (bx * cx + by * cy + bz * cz) * la +
    (cx * ax + cy * ay + cz * az) * lb;
  return arcTangent(numerator, denominator) / (2 * Math.PI);
}

const stack = new Uint32Array(128);

/**
 * Winding number at a point, up to the error set by FAR.
 * @param x,y,z point, m
 * @returns about 1 inside, 0 outside, 1/2 in the middle of a hole
 */
export function windingNumber(field: WindingField, x: number, y: number, z: number): number {
  const { tree, moments: m } = field;
  yieldPoint();
  let w = 0;
  let depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const node = stack[--depth]!;
    const at = STRIDE * node;
    const dx = m[at]! - x;
    const dy = m[at + 1]! - y;
    const dz = m[at + 2]! - z;
    const r2 = dx * dx + dy * dy + dz * dz;
    const reach = FAR * m[at + 3]!;
    if (r2 > reach * reach) {
      const r = Math.sqrt(r2);
      const inverse3 = 1 / (4 * Math.PI * r2 * r);
      const first = m[at + 4]! * dx + m[at + 5]! * dy + m[at + 6]! * dz;
      const trace = m[at + 7]! + m[at + 11]! + m[at + 15]!;
      const bilinear =
        dx * (m[at + 7]! * dx + m[at + 8]! * dy + m[at + 9]! * dz) +
        dy * (m[at + 10]! * dx + m[at + 11]! * dy + m[at + 12]! * dz) +
        dz * (m[at + 13]! * dx + m[at + 14]! * dy + m[at + 15]! * dz);
      w += inverse3 * (first + trace - (3 * bilinear) / r2);
      continue;
    }
    const right = tree.right[node]!;
    if (right !== 0) {
      stack[depth++] = node + 1;
      stack[depth++] = right;
      continue;
    }
    const end = tree.first[node]! + tree.count[node]!;
    for (let t = tree.first[node]!; t < end; t++) w += triangleWinding(tree, t, x, y, z);
  }
  return field.sign * w;
}

/** Reference without the tree, for tests of the fast version. */
export function windingNumberExact(field: WindingField, x: number, y: number, z: number): number {
  let w = 0;
  for (let t = 0; t < field.tree.triangles.length / 3; t++) w += triangleWinding(field.tree, t, x, y, z);
  return field.sign * w;
}
