/**
 * Detects the graphics capabilities on a temporary canvas. It does not use three, so that it can run while the drawing
 * code and the topology are loading.
 */

export interface GraphicsProbe {
  webgl2: boolean;
  /** Software rendering (SwiftShader, llvmpipe): multisampling is off and quality starts low. */
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
