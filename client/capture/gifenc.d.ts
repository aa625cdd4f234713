/** The used part of gifenc, which has no types. */
declare module "gifenc" {
  type Palette = number[][];
  export function quantize(rgba: Uint8ClampedArray, colors: number): Palette;
  export function applyPalette(rgba: Uint8ClampedArray, palette: Palette): Uint8Array;
  export function GIFEncoder(): {
    writeFrame(pixels: Uint8Array, width: number, height: number, options: { palette: Palette; delay: number }): void;
    finish(): void;
    bytes(): Uint8Array;
  };
}
