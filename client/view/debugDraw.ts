/**
 * Draws the simulation surface as a wireframe over the picture: the mesh that the server simulates and that rays pick.
 */
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Group, LineBasicMaterial, LineSegments } from "three";
import type { PickSurface } from "./grabs/picking.ts";

export class DebugDraw {
  readonly group = new Group();
  private readonly parts: { surface: PickSurface; attribute: BufferAttribute; lines: LineSegments }[] = [];

  constructor(surfaces: readonly PickSurface[]) {
    const material = new LineBasicMaterial({
      color: "#1d4ed8",
      transparent: true,
      opacity: 0.55,
      depthTest: false,
      toneMapped: false,
    });
    for (const surface of surfaces) {
      const geometry = new BufferGeometry();
      const attribute = new BufferAttribute(new Float32Array(surface.positions.length), 3);
      attribute.setUsage(DynamicDrawUsage);
      geometry.setAttribute("position", attribute);
      geometry.setIndex(new BufferAttribute(edgesOf(surface.triangles), 1));
      const lines = new LineSegments(geometry, material);
      lines.frustumCulled = false;
      lines.renderOrder = 5;
      this.group.add(lines);
      this.parts.push({ surface, attribute, lines });
    }
    this.group.visible = false;
  }

  update(): void {
    if (!this.group.visible) return;
    for (const { surface, attribute, lines } of this.parts) {
      lines.visible = !surface.hidden;
      attribute.array.set(surface.positions);
      attribute.needsUpdate = true;
    }
  }
}

/** Returns every edge once, as index pairs. */
function edgesOf(triangles: Uint32Array): Uint32Array {
  const seen = new Set<number>();
  const edges: number[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const a = triangles[t + k]!;
      const b = triangles[t + ((k + 1) % 3)]!;
      // Surfaces have far fewer than 2^26 particles, so the pair fits a double exactly.
      const key = Math.min(a, b) * 0x4000000 + Math.max(a, b);
      if (seen.has(key)) continue;
      seen.add(key);
      edges.push(a, b);
    }
  }
  return Uint32Array.from(edges);
}
