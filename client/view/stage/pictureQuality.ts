/**
 * Adaptive quality. When frames are too slow, it gives up what shows least for its cost: first pixels smaller than the
 * screen's, then the image-based light, then shadows, and last the screen's own resolution, which keeps outlines
 * smooth.
 * It never climbs back within a visit, because a picture that keeps changing is worse than a plain one. Only a renderer
 * that starts low climbs, once, at the beginning.
 *
 * Software rendering on two cores at 1280 x 760, ms per picture of `drape`, from the second level on: about 300, 200,
 * 115, 62, 45, 32. Shadows cost samples, not map size; 0.75 of the pixels with shadows takes 85.
 */

export interface QualityLevel {
  /** Upper bound of device pixels per CSS pixel. */
  pixelRatio: number;
  /** Texels along one side; 0 is no shadows. */
  shadowMap: number;
  /** Soft edges of shadows cost three times the samples. */
  softShadows: boolean;
  /** Image-based fill light; without it there is a plain sky-and-ground light. */
  environment: boolean;
  /** Resolution of fluids relative to the picture's. */
  fluids: number;
}

export const LEVELS: readonly QualityLevel[] = [
  { pixelRatio: 2, shadowMap: 2048, softShadows: true, environment: true, fluids: 0.5 },
  { pixelRatio: 1.5, shadowMap: 1024, softShadows: true, environment: true, fluids: 0.5 },
  { pixelRatio: 1.5, shadowMap: 1024, softShadows: true, environment: false, fluids: 0.5 },
  { pixelRatio: 1, shadowMap: 1024, softShadows: false, environment: false, fluids: 0.5 },
  { pixelRatio: 1, shadowMap: 0, softShadows: false, environment: false, fluids: 0.33 },
  { pixelRatio: 0.75, shadowMap: 0, softShadows: false, environment: false, fluids: 0.33 },
  { pixelRatio: 0.5, shadowMap: 0, softShadows: false, environment: false, fluids: 0.4 },
];

/** First level of a software renderer, from which it climbs if it can: otherwise it would drop there slowly. */
export const SOFTWARE_LEVEL = 4;

/** A slower rate during a whole window lowers the level. */
const SLOW_FPS = 25;
/** The same if the next level has fewer pixels than the screen: jagged edges are worse than a low rate. */
const SLOW_FPS_PIXELS = 8;
/** Upper limit of the time per picture for climbing to a level, ms: half of the time available. */
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
   * Climbs to the best affordable level, if all below it are affordable; measures at most one level more.
   * @param costMs draws at a level and returns the time that this took
   * @returns true if the level has changed
   */
  climb(costMs: (level: number) => number): boolean {
    if (this.pinned || costMs(this.level) > AFFORDABLE_MS) return false;
    const before = this.level;
    while (this.level > 0 && costMs(this.level - 1) <= AFFORDABLE_MS) this.level--;
    this.skip = SETTLE_FRAMES;
    return this.level !== before;
  }

  /**
   * Called for every animation frame, whether it draws or not: a page that draws seldom because little arrives is not
   * slow.
   * @returns true if the level has just been lowered
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
