/**
 * Returns black or white, whichever has more contrast on a color (WCAG 2, relative luminance and contrast ratio).
 * @param color "#rrggbb"
 */
export function inkOn(color: string): "#1c1917" | "#ffffff" {
  const { dark, light } = { dark: contrast(color, "#1c1917"), light: contrast(color, "#ffffff") };
  return dark > light ? "#1c1917" : "#ffffff";
}

/** Contrast ratio of two "#rrggbb" colors, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [lighter, darker] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (lighter! + 0.05) / (darker! + 0.05);
}

function luminance(color: string): number {
  const channel = (at: number): number => {
    const value = parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}
