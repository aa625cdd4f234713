/** Part of the picture that a box covers. */
import { type Box3, type PerspectiveCamera, Vector3, type Vector4 } from "three";

const corner = new Vector3();

/**
 * Writes low x, low y, high x, high y, in normalized device coordinates and at most the whole picture. A box that
 * reaches behind the eye covers everything.
 */
export function areaOf(out: Vector4, { min, max }: Box3, camera: PerspectiveCamera): void {
  out.set(1, 1, -1, -1);
  for (let k = 0; k < 8; k++) {
    corner.set(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z);
    if (corner.applyMatrix4(camera.matrixWorldInverse).z > -camera.near) {
      out.set(-1, -1, 1, 1);
      return;
    }
    corner.applyMatrix4(camera.projectionMatrix);
    out.set(
      Math.min(out.x, Math.max(-1, corner.x)),
      Math.min(out.y, Math.max(-1, corner.y)),
      Math.max(out.z, Math.min(1, corner.x)),
      Math.max(out.w, Math.min(1, corner.y)),
    );
  }
}
