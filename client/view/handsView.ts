/** Everybody's hands: a band for each held point, and the others' named pointers. */
import { Group, Vector3, type PerspectiveCamera } from "three";
import type { Point } from "../sdk/messages.ts";
import { LabelSprite } from "./labelSprite.ts";
import { surfacePoint } from "../sdk/surface.ts";
import type { PickSurface } from "./picking.ts";
import { RubberBand } from "./rubberBand.ts";

/** One held point to draw. `id` is stable over its life. */
export interface DrawnGrab {
  id: string;
  color: string;
  body: number;
  triangle: number;
  u: number;
  v: number;
  target: Point;
}

export interface DrawnCursor {
  member: number;
  name: string;
  color: string;
  at: Point;
}

/** Remote hands glide to where they were last heard of; this is the time constant, ms: about two hand messages. */
const GLIDE_MS = 60;
/** Nearer than this a gliding hand is there, m. */
const ARRIVED = 1e-4;

export class HandsView {
  readonly group = new Group();
  private readonly bands = new Map<string, { band: RubberBand; shown: Vector3 }>();
  private readonly labels = new Map<number, { label: LabelSprite; shown: Vector3 }>();
  private readonly from = new Vector3();
  private readonly to = new Vector3();
  /** What is there in this picture; emptied at every update. */
  private readonly kept = new Set<string | number>();
  private changed = false;
  private readonly point: [number, number, number] = [0, 0, 0];

  /**
   * Ids that begin with "own:" are this member's hands, shown exactly; others' glide.
   * @returns whether anything looks different from the last call
   */
  update(
    grabs: readonly DrawnGrab[],
    cursors: readonly DrawnCursor[],
    surfaces: readonly PickSurface[],
    view: ViewSize,
    elapsedMs: number,
  ): boolean {
    const blend = 1 - Math.exp(-elapsedMs / GLIDE_MS);
    this.changed = false;
    const keep = this.kept;
    keep.clear();
    for (const grab of grabs) {
      const surface = surfaces[grab.body];
      // Another version's room may name a body or triangle that this picture has not; skip it.
      if (!surface || 3 * grab.triangle + 2 >= surface.triangles.length) continue;
      keep.add(grab.id);
      this.to.fromArray(grab.target);
      let entry = this.bands.get(grab.id);
      if (!entry) {
        entry = { band: new RubberBand(grab.color), shown: this.to.clone() };
        this.bands.set(grab.id, entry);
        this.group.add(entry.band.group);
        this.changed = true;
      }
      entry.band.color.set(grab.color);
      this.glide(entry.shown, grab.id.startsWith("own:") ? 1 : blend);
      surfacePoint(this.point, surface, grab.triangle, grab.u, grab.v);
      entry.band.update(this.from.fromArray(this.point), entry.shown, view.camera);
    }
    for (const [id, { band }] of this.bands) {
      if (keep.has(id)) continue;
      this.group.remove(band.group);
      band.dispose();
      this.bands.delete(id);
      this.changed = true;
    }
    this.updateLabels(cursors, view, blend);
    return this.changed;
  }

  /** Moves a shown point towards `to`, and arrives, so that a hand at rest costs no pictures. */
  private glide(shown: Vector3, blend: number): void {
    if (shown.equals(this.to)) return;
    this.changed = true;
    if (shown.distanceToSquared(this.to) < ARRIVED * ARRIVED) shown.copy(this.to);
    else shown.lerp(this.to, blend);
  }

  private updateLabels(cursors: readonly DrawnCursor[], view: ViewSize, blend: number): void {
    const keep = this.kept;
    keep.clear();
    for (const cursor of cursors) {
      keep.add(cursor.member);
      this.to.fromArray(cursor.at);
      let entry = this.labels.get(cursor.member);
      if (entry && entry.label.key !== cursor.name + cursor.color) {
        this.drop(cursor.member);
        entry = undefined;
      }
      if (!entry) {
        entry = { label: new LabelSprite(cursor.name, cursor.color), shown: this.to.clone() };
        this.labels.set(cursor.member, entry);
        this.group.add(entry.label.sprite);
        this.changed = true;
      }
      this.glide(entry.shown, blend);
      entry.label.sprite.position.copy(entry.shown);
      entry.label.fit(view.height, Math.tan((view.camera.fov * Math.PI) / 360));
    }
    for (const member of this.labels.keys()) if (!keep.has(member)) this.drop(member);
  }

  private drop(member: number): void {
    const entry = this.labels.get(member);
    if (!entry) return;
    this.group.remove(entry.label.sprite);
    entry.label.dispose();
    this.labels.delete(member);
    this.changed = true;
  }
}

export interface ViewSize {
  camera: PerspectiveCamera;
  /** CSS pixels. */
  height: number;
}
