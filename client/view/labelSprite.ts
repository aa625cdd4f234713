/** Another member's pointer: an arrow in their colour with their name beside it, always the same size on the screen. */
import { CanvasTexture, LinearFilter, Sprite, SpriteMaterial, SRGBColorSpace } from "three";

/** Drawn at this many texels per CSS pixel, so that it is crisp on dense screens. */
const TEXELS = 3;
const FONT = `600 ${13 * TEXELS}px system-ui, sans-serif`;
const HEIGHT = 40;

/**
 * Black or white, whichever reads better on a "#rrggbb" colour (WCAG relative luminance, simplified to its linear
 * weights).
 */
export function inkOn(color: string): string {
  const channel = (at: number) => (parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2;
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5) > 0.4 ? "#1c1917" : "#ffffff";
}

export class LabelSprite {
  readonly sprite: Sprite;
  readonly key: string;
  private readonly widthPx: number;

  constructor(name: string, color: string) {
    this.key = name + color;
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d")!;
    context.font = FONT;
    const textWidth = Math.min(160 * TEXELS, context.measureText(name).width);
    const pill = textWidth + 18 * TEXELS;
    canvas.width = Math.ceil(pill + 18 * TEXELS);
    canvas.height = HEIGHT * TEXELS;
    this.widthPx = canvas.width / TEXELS;
    context.shadowColor = "rgba(40, 25, 15, 0.35)";
    context.shadowBlur = 3 * TEXELS;
    context.shadowOffsetY = TEXELS;
    context.fillStyle = color;
    context.strokeStyle = "#ffffff";
    context.lineJoin = "round";
    context.lineWidth = 1.6 * TEXELS;
    const arrow = new Path2D();
    arrow.moveTo(2 * TEXELS, 2 * TEXELS);
    arrow.lineTo(6.5 * TEXELS, 17 * TEXELS);
    arrow.lineTo(9.8 * TEXELS, 10.4 * TEXELS);
    arrow.lineTo(16.5 * TEXELS, 7.2 * TEXELS);
    arrow.closePath();
    context.fill(arrow);
    context.shadowColor = "transparent";
    context.stroke(arrow);
    if (name) {
      context.beginPath();
      context.roundRect(14 * TEXELS, 15 * TEXELS, pill, 22 * TEXELS, 11 * TEXELS);
      context.fill();
      context.font = FONT;
      context.fillStyle = inkOn(color);
      context.textBaseline = "middle";
      context.fillText(name, 23 * TEXELS, 26.5 * TEXELS, 160 * TEXELS);
    }
    const map = new CanvasTexture(canvas);
    map.colorSpace = SRGBColorSpace;
    map.minFilter = LinearFilter;
    map.generateMipmaps = false;
    this.sprite = new Sprite(
      new SpriteMaterial({
        map,
        transparent: true,
        depthTest: false,
        depthWrite: false,
        sizeAttenuation: false,
        toneMapped: false,
      }),
    );
    // The arrow's tip is the point that it shows.
    this.sprite.center.set((2 * TEXELS) / canvas.width, 1 - 2 / HEIGHT);
    this.sprite.renderOrder = 20;
  }

  /**
   * @param viewHeight of the canvas, CSS pixels
   * @param tanHalfFov of the camera
   */
  fit(viewHeight: number, tanHalfFov: number): void {
    const perPixel = (2 * tanHalfFov) / Math.max(1, viewHeight);
    this.sprite.scale.set(this.widthPx * perPixel, HEIGHT * perPixel, 1);
  }

  dispose(): void {
    this.sprite.material.map?.dispose();
    this.sprite.material.dispose();
  }
}
