/** Grabs and cursors of all members: a rubber band for each grab, and screen positions for the named cursors. */
import { type Camera, Group, Vector3, type PerspectiveCamera } from "three";
import type { MemberGrabs, Point } from "../../../shared/protocol/fromServer.ts";
import { counterparts, placesOf, type RestSurface, surfacePoint } from "../../../shared/geometry/surfacePoints.ts";
import type { PickSurface } from "./picking.ts";
import { RubberBand } from "./rubberBand.ts";

/** One grab to draw. `id` is constant during its life. */
export interface DrawnGrab {
  id: string;
  color: string;
  body: number;
  triangle: number;
  u: number;
  v: number;
  target: Point;
  /** It also grabs the same place of all bodies in `together`. */
  together?: true;
}

/** Color of members whose color is not known. */
export const GREY = "#8a8f98";

/** Grabs of these members, to draw. */
export function drawnGrabs(
  members: readonly Pick<MemberGrabs, "member" | "grabs">[],
  colorOf: (member: number) => string,
): DrawnGrab[] {
  return members.flatMap(({ member, grabs }) =>
    grabs.map((grab) => ({ ...grab, id: `${member}:${grab.grab}`, color: colorOf(member) })),
  );
}

export interface DrawnCursor {
  member: number;
  name: string;
  color: string;
  at: Point;
}

/** A cursor in the picture, CSS pixels from the upper left corner; outside of the picture if it is not in sight. */
export interface ShownCursor {
  member: number;
  name: string;
  color: string;
  x: number;
  y: number;
}

/** Time constant with which positions of other members follow their messages, ms: about two messages. */
const GLIDE_MS = 60;
/** Depth for points behind the eye: so small that they are far outside of the picture. */
const BEHIND = 1e-4;
/** Within this distance a moving position jumps to its target, m. */
const ARRIVED = 1e-4;

export class CursorsView {
  readonly group = new Group();
  private readonly bands = new Map<string, { band: RubberBand; shown: Vector3 }>();
  private readonly pointers = new Map<number, Vector3>();
  private readonly from = new Vector3();
  private readonly to = new Vector3();
  /** Bodies that one grab may hold at once. */
  together: readonly number[] = [];
  /**
   * Cache for grabs of several bodies: the grabbed point, and its counterparts on the other bodies in the rest shape.
   */
  private readonly elsewhere = new Map<string, { of: string; held: ReturnType<typeof counterparts> }>();
  /** Ids drawn in this update. */
  private readonly kept = new Set<string | number>();
  private changed = false;
  private readonly point: [number, number, number] = [0, 0, 0];

  /**
   * Ids that begin with "own:" are this member's grabs, which are shown exactly; those of other members glide.
   * @returns true if anything looks different from the last call
   */
  update(
    grabs: readonly DrawnGrab[],
    cursors: readonly DrawnCursor[],
    surfaces: readonly (PickSurface & RestSurface)[],
    view: { camera: Camera },
    elapsedMs: number,
  ): boolean {
    const blend = 1 - Math.exp(-elapsedMs / GLIDE_MS);
    this.changed = false;
    const keep = this.kept;
    keep.clear();
    for (const grab of grabs) {
      const surface = surfaces[grab.body];
      // A room of another version may name a body or triangle that does not exist here; skip it.
      if (!surface || grab.triangle >= placesOf(surface)) continue;
      this.draw(grab, surface, view, blend);
      for (const other of grab.together ? this.others(grab, surfaces) : [])
        this.draw(other, surfaces[other.body]!, view, blend);
    }
    for (const id of this.elsewhere.keys()) if (!keep.has(id)) this.elsewhere.delete(id);
    for (const [id, { band }] of this.bands) {
      if (keep.has(id)) continue;
      this.group.remove(band.group);
      band.dispose();
      this.bands.delete(id);
      this.changed = true;
    }
    this.movePointers(cursors, blend);
    return this.changed;
  }

  private draw(grab: DrawnGrab, surface: PickSurface, view: { camera: Camera }, blend: number): void {
    this.kept.add(grab.id);
    this.to.fromArray(grab.target);
    let entry = this.bands.get(grab.id);
    if (!entry) {
      entry = { band: new RubberBand(grab.color), shown: this.to.clone() };
      this.bands.set(grab.id, entry);
      this.group.add(entry.band.group);
      this.changed = true;
    }
    if (entry.band.wear(grab.color)) this.changed = true;
    this.glide(entry.shown, grab.id.startsWith("own:") ? 1 : blend);
    surfacePoint(this.point, surface, grab.triangle, grab.u, grab.v);
    entry.band.update(this.from.fromArray(this.point), entry.shown, view.camera);
  }

  /** Returns the bands of one grab on the other bodies that it holds. */
  private others(grab: DrawnGrab, surfaces: readonly RestSurface[]): DrawnGrab[] {
    const { id, body, triangle, u, v, target } = grab;
    const of = [body, triangle, u, v].join();
    let known = this.elsewhere.get(id);
    // Cached, because the search takes about 0.1 ms.
    if (known?.of !== of) known = { of, held: counterparts(grab, surfaces, this.together) };
    this.elsewhere.set(id, known);
    return known.held.map(({ shift, ...at }) => ({
      ...grab,
      ...at,
      id: `${id} on ${at.body}`,
      target: target.map((x, r) => x + shift[r]!) as Point,
    }));
  }

  /** Moves a shown point towards `to`. It stops there, so that a grab at rest needs no new pictures. */
  private glide(shown: Vector3, blend: number): void {
    if (shown.equals(this.to)) return;
    this.changed = true;
    if (shown.distanceToSquared(this.to) < ARRIVED * ARRIVED) shown.copy(this.to);
    else shown.lerp(this.to, blend);
  }

  private movePointers(cursors: readonly DrawnCursor[], blend: number): void {
    const keep = this.kept;
    keep.clear();
    for (const { member, at } of cursors) {
      keep.add(member);
      this.to.fromArray(at);
      const shown = this.pointers.get(member);
      if (shown) this.glide(shown, blend);
      else this.pointers.set(member, this.to.clone());
      this.changed ||= shown === undefined;
    }
    for (const member of this.pointers.keys()) if (!keep.has(member)) this.changed = this.pointers.delete(member);
  }

  /** Screen positions of the cursors of the last update, for the current camera. */
  onScreen(cursors: readonly DrawnCursor[], { camera, width, height }: ViewSize): ShownCursor[] {
    const tanY = Math.tan((camera.fov * Math.PI) / 360);
    return cursors.flatMap(({ member, name, color }) => {
      const shown = this.pointers.get(member);
      if (!shown) return [];
      const { x, y, z } = this.from.copy(shown).applyMatrix4(camera.matrixWorldInverse);
      // Points behind the eye are placed beyond the edge on their side.
      const depth = z < 0 ? -z * tanY : BEHIND;
      const [right, up] = [x / (depth * camera.aspect), y / depth];
      return [{ member, name, color, x: ((1 + right) / 2) * width, y: ((1 - up) / 2) * height }];
    });
  }
}

export interface ViewSize {
  camera: PerspectiveCamera;
  /** CSS pixels. */
  width: number;
  height: number;
}
