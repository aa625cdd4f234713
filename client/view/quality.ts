/**
 * Adaptive quality: when frames come too slowly it gives up what shows least for its cost. First pixels that are
 * smaller than the screen's, then the image-based light, then shadows; last the pixels of the screen itself, without
 * which every silhouette is jagged. It never climbs back by itself within a visit, because a picture that keeps
 * changing is worse than a plain one; only a renderer that starts low climbs, once, before anybody has seen much.
 *
 * Drawn by a CPU of two cores at 1280 x 760, ms for each picture of `drape`, from the second level on: about 300, 200,
 * 115, 62, 45, 32. Shadows cost what is sampled, not the map's size; 0.75 of the pixels with shadows is 85.
 */

export interface QualityLevel {
  /** Upper bound of device pixels per CSS pixel. */
  pixelRatio: number;
  /** Texels along one side; 0 is no shadows. */
  shadowMap: number;
  /** Image-based fill light; without it a plain sky-and-ground light stands in. */
  environment: boolean;
}

export const LEVELS: readonly QualityLevel[] = [
  { pixelRatio: 2, shadowMap: 2048, environment: true },
  { pixelRatio: 1.5, shadowMap: 1024, environment: true },
  { pixelRatio: 1.5, shadowMap: 1024, environment: false },
  { pixelRatio: 1, shadowMap: 1024, environment: false },
  { pixelRatio: 1, shadowMap: 0, environment: false },
  { pixelRatio: 0.75, shadowMap: 0, environment: false },
  { pixelRatio: 0.5, shadowMap: 0, environment: false },
];

/** Where a software renderer starts, and climbs from if it can: it would go there anyway, one slow second at a time. */
export const SOFTWARE_LEVEL = 4;

/** Slower than this for a whole window lowers the level. */
const SLOW_FPS = 25;
/** The same where the next level has fewer pixels than the screen: jagged shows more than slow. */
const SLOW_FPS_PIXELS = 8;
/** A level whose picture takes longer than half of the time that is there is not climbed to, ms. */
export const AFFORDABLE_MS = 500 / SLOW_FPS;
const WINDOW_MS = 1500;
/** Frames after a change that are not counted: shaders compile and textures grow. */
const SETTLE_FRAMES = 10;

export class QualityGovernor {
  level: number;
  private frames = 0;
  private windowStartMs = Number.NaN;
  private skip = SETTLE_FRAMES;

  readonly pinned: boolean;

  /** @param pinned the level never changes */
  constructor(level: number, pinned = false) {
    this.level = Math.min(LEVELS.length - 1, Math.max(0, Math.floor(level)));
    this.pinned = pinned;
  }

  /**
   * To the best level that is affordable, with all below it; measures one level more than that at most.
   * @param costMs draws at a level and says how long that took
   * @returns true when the level is another
   */
  climb(costMs: (level: number) => number): boolean {
    if (this.pinned || costMs(this.level) > AFFORDABLE_MS) return false;
    const before = this.level;
    while (this.level > 0 && costMs(this.level - 1) <= AFFORDABLE_MS) this.level--;
    this.skip = SETTLE_FRAMES;
    return this.level !== before;
  }

  /**
   * Called for every animation frame, whether it draws or not: a page that draws little because little comes is not
   * slow.
   * @returns true when the level has just been lowered
   */
  frame(nowMs: number, sincePreviousMs: number): boolean {
    if (this.pinned) return false;
    // A pause (hidden tab) is not slowness.
    if (sincePreviousMs > 1000) this.windowStartMs = Number.NaN;
    if (this.skip > 0) {
      this.skip--;
      this.windowStartMs = Number.NaN;
      return false;
    }
    if (Number.isNaN(this.windowStartMs)) {
      this.windowStartMs = nowMs;
      this.frames = 0;
      return false;
    }
    this.frames++;
    const span = nowMs - this.windowStartMs;
    if (span < WINDOW_MS) return false;
    const fps = (this.frames * 1000) / span;
    this.windowStartMs = nowMs;
    this.frames = 0;
    const next = LEVELS[this.level + 1];
    if (!next || fps >= (next.pixelRatio < 1 ? SLOW_FPS_PIXELS : SLOW_FPS)) return false;
    this.level++;
    this.skip = SETTLE_FRAMES;
    return true;
  }
}
