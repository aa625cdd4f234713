/** Detects a VR headset. */

/** Chromium's interface for the permissions of a frame. */
interface WithPolicy {
  featurePolicy?: { allowsFeature: (name: string) => boolean };
}

export async function headsetIsThere(): Promise<boolean> {
  // Without the permission the request fails anyway, and the browser would log an error.
  if ((document as WithPolicy).featurePolicy?.allowsFeature("xr-spatial-tracking") === false) return false;
  try {
    return (await navigator.xr?.isSessionSupported("immersive-vr")) ?? false;
  } catch {
    return false;
  }
}
