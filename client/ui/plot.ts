/** A small live plot on a canvas: the last values, newest on the right, scaled to their maximum. */
import { h } from "./dom.ts";

const SAMPLES = 90;
const HEIGHT = 24;

export class Plot {
  readonly canvas = h("canvas", { height: String(HEIGHT) });
  private readonly values = new Float32Array(SAMPLES).fill(Number.NaN);
  private readonly color: string;
  private readonly floor: number;

  /** @param floor least top of the scale, so that noise near zero stays flat */
  constructor(color: string, floor: number) {
    this.color = color;
    this.floor = floor;
  }

  add(value: number): void {
    this.values.copyWithin(0, 1);
    this.values[SAMPLES - 1] = value;
  }

  draw(): void {
    const { canvas } = this;
    const width = canvas.clientWidth;
    const ratio = Math.min(2, devicePixelRatio);
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = HEIGHT * ratio;
    }
    const context = canvas.getContext("2d");
    if (!context || width === 0) return;
    let top = this.floor;
    for (const value of this.values) if (value > top) top = value;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, HEIGHT);
    context.beginPath();
    let started = false;
    this.values.forEach((value, i) => {
      if (Number.isNaN(value)) return;
      const x = (i / (SAMPLES - 1)) * width;
      const y = HEIGHT - 2 - (value / top) * (HEIGHT - 4);
      if (started) context.lineTo(x, y);
      else context.moveTo(x, y);
      started = true;
    });
    context.strokeStyle = this.color;
    context.lineWidth = 1.5;
    context.lineJoin = "round";
    context.stroke();
  }
}
