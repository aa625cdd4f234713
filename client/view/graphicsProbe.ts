/**
 * What this browser can draw with, found on a throw-away canvas before the real one is made. Without three, so that it
 * runs while the drawing code and the topology are still on their way.
 */

export interface GraphicsProbe {
  webgl2: boolean;
  /** A CPU pretends to be a GPU (SwiftShader, llvmpipe): multisampling is off and quality starts low. */
  software: boolean;
}

export function probeGraphics(): GraphicsProbe {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return { webgl2: false, software: false };
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "");
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return { webgl2: true, software: /swiftshader|llvmpipe|software/i.test(name) };
}
