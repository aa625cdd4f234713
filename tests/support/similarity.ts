/**
 * Structural similarity of two pictures (Wang, Bovik, Sheikh and Simoncelli 2004): the mean over all windows of 8 x 8
 * pixels, with K1 = 0.01, K2 = 0.03 and L = 255, on the luma of BT.601.
 */
export interface Pixels {
  width: number;
  height: number;
  /** 3 or 4 channels a pixel, 0 to 255. */
  data: ArrayLike<number>;
}

const WINDOW = 8;
const C1 = (0.01 * 255) ** 2;
const C2 = (0.03 * 255) ** 2;

function lumaOf({ width, height, data }: Pixels): Float64Array {
  const channels = data.length / (width * height);
  return Float64Array.from(
    { length: width * height },
    (_, i) => 0.299 * data[channels * i]! + 0.587 * data[channels * i + 1]! + 0.114 * data[channels * i + 2]!,
  );
}

/**
 * @param counts which windows count, by their upper left corner; absent: all
 * @returns -1 to 1; 1: equal
 */
export function similarity(a: Pixels, b: Pixels, counts: (x: number, y: number) => boolean = () => true): number {
  if (a.width !== b.width || a.height !== b.height) throw new Error("the pictures do not have the same size");
  const [p, q] = [lumaOf(a), lumaOf(b)];
  const n = WINDOW * WINDOW;
  let sum = 0;
  let windows = 0;
  for (let y = 0; y + WINDOW <= a.height; y++) {
    for (let x = 0; x + WINDOW <= a.width; x++) {
      if (!counts(x, y)) continue;
      let [sp, sq, spp, sqq, spq] = [0, 0, 0, 0, 0];
      for (let j = y; j < y + WINDOW; j++) {
        for (let i = x; i < x + WINDOW; i++) {
          const [u, v] = [p[j * a.width + i]!, q[j * a.width + i]!];
          sp += u;
          sq += v;
          spp += u * u;
          sqq += v * v;
          spq += u * v;
        }
      }
      const [mp, mq] = [sp / n, sq / n];
      const [vp, vq, cov] = [spp / n - mp * mp, sqq / n - mq * mq, spq / n - mp * mq];
      sum += ((2 * mp * mq + C1) * (2 * cov + C2)) / ((mp * mp + mq * mq + C1) * (vp + vq + C2));
      windows += 1;
    }
  }
  return sum / windows;
}
