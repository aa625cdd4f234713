/** Is there a headset that shows a room? */

/** Of Chromium: what a frame may use. */
interface WithPolicy {
  featurePolicy?: { allowsFeature: (name: string) => boolean };
}

export async function headsetIsThere(): Promise<boolean> {
  // A frame without leave to use one has none; where it asked all the same the browser would write an error.
  if ((document as WithPolicy).featurePolicy?.allowsFeature("xr-spatial-tracking") === false) return false;
  try {
    return (await navigator.xr?.isSessionSupported("immersive-vr")) ?? false;
  } catch {
    return false;
  }
}
