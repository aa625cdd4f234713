/**
 * Reads back the result of the GPU's skinning, for tests: draws every vertex of a body as one point of a float target
 * with its world position or normal. Uses the same GLSL, textures and attributes as the picture.
 */
import {
  BufferAttribute,
  BufferGeometry,
  FloatType,
  GLSL3,
  NearestFilter,
  OrthographicCamera,
  Points,
  RGBAFormat,
  RawShaderMaterial,
  Scene,
  WebGLRenderTarget,
  type WebGLRenderer,
} from "three";
import type { BodyMesh } from "./bodyMesh.ts";
import { SKIN_GLSL } from "./skinShader.ts";

const WIDTH = 256;

export interface ProbeResult {
  /** float32[3*V] m */
  positions: Float32Array;
  /** float32[3*V] */
  normals: Float32Array;
}

/** @throws Error if the browser cannot render into float targets */
export function readSkinned(renderer: WebGLRenderer, body: BodyMesh): ProbeResult {
  if (!renderer.extensions.has("EXT_color_buffer_float"))
    throw new Error("EXT_color_buffer_float is missing: skinning cannot be read back");
  const source = body.mesh.geometry;
  const name = body.mode === "detail" ? "pliantCorners" : "pliantSlots";
  const count = source.getAttribute(name).count;
  const height = Math.ceil(count / WIDTH);
  const geometry = new BufferGeometry();
  for (const key of Object.keys(source.attributes)) geometry.setAttribute(key, source.getAttribute(key));
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * count), 3));
  const read = (what: "position" | "normal"): Float32Array => {
    const target = new WebGLRenderTarget(WIDTH, height, {
      type: FloatType,
      format: RGBAFormat,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
      depthBuffer: false,
    });
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      uniforms: { ...body.uniforms },
      vertexShader: `precision highp float;\nprecision highp int;\n#define attribute in\n${SKIN_GLSL[body.mode]}
out vec3 vValue;
void main() {
  vec3 position, normal;
  pliantSkin(position, normal);
  vValue = ${what};
  float x = float(gl_VertexID % ${WIDTH}), y = float(gl_VertexID / ${WIDTH});
  gl_Position = vec4(2.0 * (vec2(x, y) + 0.5) / vec2(${WIDTH}.0, ${height}.0) - 1.0, 0.0, 1.0);
  gl_PointSize = 1.0;
}`,
      fragmentShader: `precision highp float;\nin vec3 vValue;\nout vec4 color;\nvoid main() { color = vec4(vValue, 1.0); }`,
      depthTest: false,
    });
    const points = new Points(geometry, material);
    points.frustumCulled = false;
    const scene = new Scene();
    scene.add(points);
    const before = renderer.getRenderTarget();
    renderer.setRenderTarget(target);
    renderer.render(scene, new OrthographicCamera());
    const pixels = new Float32Array(4 * WIDTH * height);
    renderer.readRenderTargetPixels(target, 0, 0, WIDTH, height, pixels);
    renderer.setRenderTarget(before);
    target.dispose();
    material.dispose();
    return Float32Array.from({ length: 3 * count }, (_, i) => pixels[4 * Math.floor(i / 3) + (i % 3)]!);
  };
  return { positions: read("position"), normals: read("normal") };
}
