/**
 * Adaptive quality: when frames come too slowly it gives up pixels first, then the image-based light, then the shadow
 * map's size, then shadows; it never climbs back by itself within a visit, because a picture that keeps changing is
 * worse than a plain one.
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
  { pixelRatio: 1.5, shadowMap: 2048, environment: true },
  { pixelRatio: 1, shadowMap: 1024, environment: true },
  { pixelRatio: 1, shadowMap: 1024, environment: false },
  { pixelRatio: 0.75, shadowMap: 512, environment: false },
  { pixelRatio: 0.6, shadowMap: 512, environment: false },
  { pixelRatio: 0.5, shadowMap: 0, environment: false },
];

/** Where a software renderer starts: it would go there anyway, one slow second at a time. */
export const SOFTWARE_LEVEL = 4;

/** Slower than this for a whole window lowers the level. */
const SLOW_FPS = 25;
const WINDOW_MS = 1500;
/** Frames after a change that are not counted: shaders compile and textures grow. */
const SETTLE_FRAMES = 10;

export class QualityGovernor {
  level: number;
  private frames = 0;
  private windowStartMs = Number.NaN;
  private skip = SETTLE_FRAMES;

  private readonly pinned: boolean;

  /** @param pinned the level never changes */
  constructor(level: number, pinned = false) {
    this.level = Math.min(LEVELS.length - 1, Math.max(0, Math.floor(level)));
    this.pinned = pinned;
  }

  /**
   * Called for every drawn frame.
   * @returns true when the level has just been lowered
   */
  frame(nowMs: number, sincePreviousMs: number): boolean {
    if (this.pinned) return false;
    // A pause (hidden tab, nothing to draw) is not slowness.
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
    if (fps >= SLOW_FPS || this.level >= LEVELS.length - 1) return false;
    this.level++;
    this.skip = SETTLE_FRAMES;
    return true;
  }
}
