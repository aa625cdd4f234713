/**
 * Cloth is drawn as the closed shell of a thin sheet: front, back, and a rim between them along its hems; only faces
 * that face the eye are drawn. A single two-sided layer showed dashes of the back along every fold: of two triangles at
 * an outline, the hidden one wins some samples, and on a coarse mesh parts of it stick out. In the shell the back is a
 * whole thickness behind.
 *
 *      p+ ------- q+     front: side 1     side: selects color and normal; the rim uses those of the visible side
 *      |           |     rim: side 0
 *      p- ------- q-     back: side -1     height (+ or -): offset along the front's normal, in half thicknesses
 */

export interface Sheet {
  /** uint32[3*S]: triangles of the shell, counterclockwise seen from outside. */
  triangles: Uint32Array;
  /** uint32[V]: surface vertex from which each shell vertex is offset. */
  vertices: Uint32Array;
  /** int8[2*V]: side (1, 0 or -1) and height (1 or -1). */
  sides: Int8Array;
}

/**
 * @param surface uint32[3*T], front counterclockwise; open or closed
 * @param count number of its vertices
 */
export function sheetOf(surface: Uint32Array, count: number): Sheet {
  const vertices = [...Array(count).keys(), ...Array(count).keys()];
  const sides = vertices.flatMap((_, i) => (i < count ? [1, 1] : [-1, -1]));
  const triangles = [...surface];
  for (let t = 0; t < surface.length; t += 3)
    triangles.push(count + surface[t]!, count + surface[t + 2]!, count + surface[t + 1]!);
  for (const [p, q] of hemsOf(surface)) {
    const rim = vertices.length;
    vertices.push(p, q, p, q);
    sides.push(0, 1, 0, 1, 0, -1, 0, -1);
    triangles.push(rim, rim + 2, rim + 1, rim + 1, rim + 2, rim + 3);
  }
  return { triangles: Uint32Array.from(triangles), vertices: Uint32Array.from(vertices), sides: Int8Array.from(sides) };
}

/** Edges that belong to only one triangle, in its direction. */
function hemsOf(surface: Uint32Array): [number, number][] {
  const hems = new Map<string, [number, number]>();
  const inner = new Set<string>();
  for (let corner = 0; corner < surface.length; corner++) {
    const p = surface[corner]!;
    const q = surface[corner % 3 === 2 ? corner - 2 : corner + 1]!;
    const edge = p < q ? `${p} ${q}` : `${q} ${p}`;
    if (hems.delete(edge) || inner.has(edge)) inner.add(edge);
    else hems.set(edge, [p, q]);
  }
  return [...hems.values()];
}
