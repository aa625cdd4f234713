/**
 * Light inside of jelly. The refracted ray from the eye is followed through the undeformed body to its other side, and
 * so are rays from points on it to the key light and to the sky: their lengths give absorption (Beer-Lambert) and
 * single scattering, so that it is light near lit faces and deep in color far from them. A rough surface is cloudy
 * inside. A frame of screen derivatives maps directions from the deformed to the undeformed body. A file of its own,
 * loaded for rooms with jelly.
 */
import { BufferAttribute, type BufferGeometry, Vector3, type WebGLProgramParametersWithUniforms } from "three";
import type { JellyShading } from "./backdrop.ts";
import { interiorOf } from "./interior.ts";
import type { RoundedEdges } from "./roundedEdges.ts";

const INSIDE_GLSL = /* glsl */ `
varying vec3 pliantRestAt;
uniform vec3 pliantExtent;
uniform float pliantIsBox;
uniform vec3 pliantBehind;
uniform vec3 pliantBelow;
// Distances to the walls of a box along a ray, in each axis.
vec3 pliantWalls(vec3 from, vec3 along) {
  vec3 safe = mix(vec3(1e-5), along, step(1e-5, abs(along)));
  return max(vec3(0.0), (sign(safe) * pliantExtent - from) / safe);
}
float pliantWay(vec3 from, vec3 along, vec3 walls) {
  if (pliantIsBox > 0.5) return min(walls.x, min(walls.y, walls.z));
  vec3 p = from / pliantExtent;
  vec3 q = along / pliantExtent;
  float b = dot(p, q);
  float c = min(0.0, dot(p, p) - 1.0);
  float a = dot(q, q);
  return max(0.0, (sqrt(b * b - a * c) - b) / a);
}
`;

const JELLY_GLSL = /* glsl */ `#include <emissivemap_fragment>
  #ifdef USE_ENVMAP
    #define POINTS 4
  #else
    #define POINTS 2
  #endif
  totalEmissiveRadiance += 0.16 * pliantHeld * diffuseColor.rgb;
  // The strain view needs its own colors.
  if (pliantScale == 0.0) {
    vec3 eye = normalize(vViewPosition);
    vec3 px = dFdx(-vViewPosition), py = dFdy(-vViewPosition);
    vec3 qx = dFdx(pliantRestAt), qy = dFdy(pliantRestAt);
    vec3 g = normalize(cross(px, py)), h = normalize(cross(qx, qy));
    float xx = dot(px, px), xy = dot(px, py), yy = dot(py, py);
    float over = 1.0 / max(1e-20, xx * yy - xy * xy);
    #define INTO_REST(v) (((yy * dot(v, px) - xy * dot(v, py)) * qx + (xx * dot(v, py) - xy * dot(v, px)) * qy) * over + dot(v, g) * h)
    vec3 bent = refract(-eye, normal, 0.75);
    vec3 ray = normalize(INTO_REST(bent));
    vec3 above = viewMatrix[1].xyz;
    vec3 up = INTO_REST(above);
    vec3 walls = pliantWalls(pliantRestAt, ray);
    float way = pliantWay(pliantRestAt, ray, walls);
    float size = (pliantExtent.x + pliantExtent.y + pliantExtent.z) / 1.5;
    // Near an edge two walls shine through: they blend, because jelly is a little cloudy.
    vec3 near = exp(-(walls - way) / (0.16 * size));
    vec3 upward = 0.5 + 0.5 * sign(ray) * up;
    float lit = pliantIsBox > 0.5 ? dot(near, upward) / (near.x + near.y + near.z) : 0.5 + 0.5 * dot(bent, above);
    vec3 behind = mix(pliantBelow, pliantBehind, smoothstep(0.15, 0.75, lit));
    vec3 absorbs = -2.0 * log(clamp(diffuseColor.rgb, 0.015, 0.985)) / size;
    way = min(way, 2.0 * size);
    // Scattering hides the other side, without color.
    float cloudy = (0.2 + 2.2 * roughnessFactor) / size;
    // The cloudy skin colors thin places, too.
    vec3 inner = behind * exp(-(way + 0.31 * size) * absorbs - cloudy * way);
    #if NUM_DIR_LIGHTS > 0
      vec3 key = INTO_REST(directionalLights[0].direction);
      vec3 scattered = vec3(0.0);
      for (int i = 0; i < POINTS; i++) {
        float inward = min(way, size) * (float(i) + 0.4) / float(POINTS);
        vec3 middle = pliantRestAt + inward * ray;
        float toKey = pliantWay(middle, key, pliantWalls(middle, key));
        float toSky = pliantWay(middle, up, pliantWalls(middle, up));
        vec3 light = 0.58 * directionalLights[0].color * exp(-toKey * (absorbs + cloudy)) + 0.38 * pliantBehind * exp(-toSky * (absorbs + cloudy));
        scattered += light * exp(-inward * (0.4 * absorbs + 0.5 * cloudy));
      }
      inner += (1.0 - exp(-(1.2 / size + cloudy) * way)) / float(POINTS) * scattered;
    #endif
    totalEmissiveRadiance += 0.8 * inner;
    diffuseColor.rgb *= 0.16 + 0.3 * roughnessFactor;
    float facing = 1.0 - clamp(dot(eye, normal), 0.0, 1.0);
    float mirror = 0.04 + 0.96 * facing * facing * facing * facing * facing;
    // A long soft box before the table: upright faces mirror it.
    vec3 mirrored = reflect(-eye, normal);
    float strip = dot(mirrored, above);
    float lamp = 2.6 * smoothstep(0.06, 0.16, strip) * smoothstep(0.42, 0.3, strip) * smoothstep(-0.2, 0.3, mirrored.z);
    #ifdef USE_ENVMAP
      totalEmissiveRadiance += mirror * lamp;
    #else
      totalEmissiveRadiance += mirror * (lamp + mix(pliantBelow, pliantBehind, smoothstep(-0.1, 0.5, strip)));
    #endif
  }
`;

/**
 * Adds rest coordinates to a geometry of `directAttributes`.
 * @returns the shading of its inside
 */
export function jellyOf(
  geometry: BufferGeometry,
  triangles: Uint32Array,
  rest: Float32Array,
  edges: RoundedEdges | undefined,
): JellyShading {
  const { at: particles, half, box } = interiorOf(rest, triangles);
  const at = edges ? new Float32Array(3 * edges.pointCount) : particles;
  edges?.spreadInto(at, particles, 3);
  const pairs = geometry.getAttribute("pliantSlots");
  const inside = new Float32Array(3 * pairs.count);
  for (let vertex = 0; vertex < pairs.count; vertex++)
    inside.set(at.subarray(3 * pairs.getX(vertex), 3 * pairs.getX(vertex) + 3), 3 * vertex);
  geometry.setAttribute("pliantRest", new BufferAttribute(inside, 3));
  const uniforms = { pliantExtent: { value: new Vector3(...half) }, pliantIsBox: { value: box ? 1 : 0 } };
  return { uniforms, inject };
}

/** Replaces the glow of soft matter. The geometry has the attribute `pliantRest`. */
function inject(shader: WebGLProgramParametersWithUniforms): void {
  shader.vertexShader = `varying vec3 pliantRestAt;\nattribute vec3 pliantRest;\n${shader.vertexShader}`.replace(
    "void main() {",
    "void main() {\n  pliantRestAt = pliantRest;",
  );
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <common>", `#include <common>\n${INSIDE_GLSL}`)
    .replace("#include <emissivemap_fragment>", JELLY_GLSL)
    .replace(
      "#include <lights_physical_fragment>",
      // The surface is wet, even if the inside is cloudy.
      "#include <lights_physical_fragment>\n  material.roughness = 0.08 + 0.3 * roughnessFactor;",
    );
}
