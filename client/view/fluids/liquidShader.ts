/**
 * Shaders of a liquid's surface, drawn in the space of the screen (van der Laan, Green, Sainz 2009):
 *
 *   splat    spheres: the nearest depth (blending MIN) and the length of the ray inside (blending ADD) in one target
 *   smooth   narrow-range filter of the depth (Truong, Yuksel 2018), along rows and then along columns
 *   surface  normal, depth and thickness; flat against the walls of a tank
 *   compose  refraction of the scene behind, absorption along the ray, reflection of the studio
 *
 * With FINER, outlines run between pixels and bodies at the surface have no steps; it costs software rendering 13 %.
 * `fetch` comes from a file of the page's first load, which this one must not share.
 *
 * Depths are distances along the view axis from the middle of the liquid, in units of its radius: half floats are
 * precise near 0.
 */

/** Depth of a pixel without liquid. */
export const EMPTY = 10;
/** Most walls that flatten a surface. */
export const MOST_WALLS = 6;
/** Share of neighbors with liquid above which a pixel without gets it. */
const FILLED = 0.42;
/** Taps of the filter to either side. */
const TAPS = 5;

const HEAD = /* glsl */ `precision highp float;\nprecision highp int;\nprecision highp sampler2D;\n`;

/** Covers the rectangle `area` (normalized device coordinates: low corner, high corner). */
export const AREA_VERTEX = /* glsl */ `${HEAD}
in vec3 position;
uniform vec4 area;
out vec2 at;
void main() {
  vec2 corner = mix(area.xy, area.zw, 0.5 + 0.5 * position.xy);
  at = 0.5 + 0.5 * corner;
  gl_Position = vec4(corner, 0.0, 1.0);
}`;

/** Distance along the view axis of the surface in this pixel. */
export const SCENE_DEPTH_GLSL = /* glsl */ `
uniform sampler2D sceneDepth;
uniform vec2 clip;
float behindAt(ivec2 pixel) {
  float d = texelFetch(sceneDepth, pixel, 0).r;
  return clip.x * clip.y / (clip.y - d * (clip.y - clip.x));
}
`;

/** A square for each particle that faces the view plane. */
export const splatVertex = (fetch: string): string => /* glsl */ `${HEAD}
#define attribute in
${fetch}
in vec3 position;
uniform mat4 modelViewMatrix;
uniform mat4 projectionMatrix;
uniform float size;
out vec2 across;
flat out float depth;
void main() {
  vec4 middle = modelViewMatrix * vec4(pliantFetch(pliantPositions, uint(gl_InstanceID)), 1.0);
  across = position.xy;
  depth = -middle.z;
  gl_Position = projectionMatrix * (middle + vec4(size * position.xy, 0.0, 0.0));
}`;

export const LIQUID_SPLAT = /* glsl */ `${HEAD}
in vec2 across;
flat in float depth;
uniform float size;
uniform float share;
uniform vec2 range;
out vec4 color;
void main() {
  float inside = 1.0 - dot(across, across);
  if (inside <= 0.0) discard;
  float half_ = size * sqrt(inside);
  // The surface goes on behind bodies: the canvas's own depth hides it, at its full resolution.
  color = vec4((depth - half_ - range.x) / range.y, 0.0, 0.0, share * 2.0 * half_);
}`;

export const SMOOTH = /* glsl */ `${HEAD}
uniform sampler2D source;
uniform ivec2 along;
uniform float reach;
uniform float most;
uniform float slack;
uniform vec2 range;
out vec4 color;
vec2 valueAt(ivec2 pixel) {
  vec4 v = texelFetch(source, pixel, 0);
#ifdef SPLATTED
  return v.xw;
#else
  return v.xy;
#endif
}
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy);
  vec2 own = valueAt(here);
  float sigma = clamp(reach / max(range.x + range.y * min(own.x, 1.0), 0.1 * range.y), 1.0, most);
  float stride = max(1.0, 2.0 * sigma / ${TAPS}.0);
  ivec2 last = textureSize(source, 0) - 1;
  bool empty = own.x >= ${EMPTY}.0;
  float depth = 0.0, thick = 0.0, depthWeight = 0.0, weight = 0.0;
  for (int i = -${TAPS}; i <= ${TAPS}; i++) {
    float off = round(float(i) * stride);
    float w = exp(-0.5 * off * off / (sigma * sigma));
    vec2 v = valueAt(clamp(here + int(off) * along, ivec2(0), last));
    thick += w * v.y;
    weight += w;
    // A nearer layer is another surface; a farther one counts as a small step.
    if (v.x >= ${EMPTY}.0 || (!empty && v.x < own.x - slack)) continue;
    depth += w * (empty ? v.x : min(v.x, own.x + slack));
    depthWeight += w;
  }
  // Fills the gaps between the particles of an outline; a single drop does not grow.
  bool shown = !empty || depthWeight > ${FILLED} * weight;
  color = vec4(shown ? depth / max(depthWeight, 1e-6) : ${EMPTY}.0, thick / weight, 0.0, 1.0);
#ifdef FINER
  color.z = depthWeight / weight - ${FILLED};
#endif
}`;

const wallsGlsl = (count: number): string => /* glsl */ `
uniform vec4 walls[${count}];
// Part of a ray between the walls. Upright ones that it meets with a smaller cosine than this reflect all of it.
vec2 within(vec3 from, vec3 way, float mirrors) {
  vec2 part = vec2(0.0, 1e9);
  for (int i = 0; i < ${count}; i++) {
    vec4 wall = walls[i];
    float toward = dot(wall.xyz, way);
    float reached = (wall.w - dot(wall.xyz, from)) / toward;
    if (toward > 0.0) part.x = max(part.x, reached);
    else if (abs(wall.y) > 0.5 || -toward >= mirrors) part.y = min(part.y, reached);
  }
  return part;
}
`;

export const surface = (walls: number): string => /* glsl */ `${HEAD}
in vec2 at;
uniform sampler2D source;
uniform vec2 range;
uniform vec2 tangent;
${wallsGlsl(walls)}
uniform vec3 eye;
uniform mat3 toWorld;
out vec4 color;
// Point in view space. A wall between the eye and the liquid is where the liquid begins.
vec3 pointAt(ivec2 pixel) {
  float depth = texelFetch(source, pixel, 0).x;
  if (depth >= ${EMPTY}.0) return vec3(0.0);
  vec2 place = (vec2(pixel) + 0.5) / vec2(textureSize(source, 0));
  vec3 ray = vec3((2.0 * place - 1.0) * tangent, -1.0);
  return max(range.x + range.y * depth, within(eye, toWorld * ray, 0.0).x) * ray;
}
vec3 slope(vec3 low, vec3 mid, vec3 high) {
  vec3 a = mid - low, b = high - mid;
  if (low.z == 0.0) return b;
  if (high.z == 0.0) return a;
  return abs(a.z) < abs(b.z) ? a : b;
}
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy);
  float thick = texelFetch(source, here, 0).y;
  vec3 mid = pointAt(here);
  // The surface goes on for a pixel, so that the picture can interpolate it up to its edge.
  for (int i = 0; i < 4 && mid.z == 0.0; i++) {
    here = ivec2(gl_FragCoord.xy) + (i < 2 ? ivec2(2 * i - 1, 0) : ivec2(0, 2 * i - 5));
    mid = pointAt(here);
#ifdef FINER
    float edge = texelFetch(source, ivec2(gl_FragCoord.xy), 0).z;
    // The thickness passes 0 where the share of neighbors with liquid passes its limit: the outline runs between the
    // pixels, without steps.
    vec2 inner = texelFetch(source, here, 0).yz;
    thick = inner.x * clamp(edge / max(inner.y, 0.05), -4.0, -0.15);
#endif
  }
  if (mid.z == 0.0) {
    color = vec4(0.0, 0.0, 1.0, 0.0);
    return;
  }
  vec3 dx = slope(pointAt(here - ivec2(1, 0)), mid, pointAt(here + ivec2(1, 0)));
  vec3 dy = slope(pointAt(here - ivec2(0, 1)), mid, pointAt(here + ivec2(0, 1)));
  vec3 normal = cross(dx, dy);
  normal = dot(normal, normal) > 0.0 ? normalize(normal) : vec3(0.0, 0.0, 1.0);
  if (dot(normal, mid) > 0.0) normal = -normal;
  color = vec4(normal.xy, (-mid.z - range.x) / range.y, thick);
}`;

/** Depth of the surface as the depth buffer has it, so that nearer bodies hide it with smooth edges. */
export const compose = (studio: string, walls: number): string => /* glsl */ `${HEAD}
in vec2 at;
uniform sampler2D surface;
uniform sampler2D behind;
uniform vec2 range;
uniform vec2 tangent;
uniform vec2 toDepth;
uniform mat3 toWorld;
uniform vec3 key;
uniform vec3 absorb;
uniform vec3 scatter;
uniform vec3 backdrop;
uniform vec3 eye;
// Radius of a particle; lowest point of the liquid and its height at rest, m.
uniform float drop;
uniform vec2 heights;
out vec4 color;
${SCENE_DEPTH_GLSL}
${wallsGlsl(walls)}
${studio}
float behindHere(vec2 place, float off) {
  return behindAt(ivec2(place * vec2(textureSize(sceneDepth, 0)) + off));
}
#ifdef FINER
// Mean of the four pixels around, without those of bodies before the surface: color, and distance along the view axis
// to what is behind. Their number as a share of all is added to weight.
vec4 meanBehind(vec2 place, float depth, inout float away, inout float weight) {
  ivec2 last = textureSize(sceneDepth, 0) - 1;
  vec2 at_ = place * vec2(last + 1) - 0.5;
  ivec2 low = ivec2(floor(at_));
  vec2 share = at_ - floor(at_);
  vec4 sum = vec4(0.0);
  for (int i = 0; i < 4; i++) {
    ivec2 corner = ivec2(i & 1, i >> 1);
    ivec2 pixel = clamp(low + corner, ivec2(0), last);
    float beyond = behindAt(pixel) - depth;
    vec2 part = mix(1.0 - share, share, vec2(corner));
    float own = beyond > 0.0 ? part.x * part.y : 0.0;
    sum += own * texelFetch(behind, pixel, 0);
    away += own * min(beyond, 2.0 * range.y);
    weight += own;
  }
  return sum;
}
#endif
void main() {
  vec4 s = texture(surface, at);
  if (s.w <= 0.0) discard;
  float depth = range.x + range.y * s.z;
  vec3 ray = vec3((2.0 * at - 1.0) * tangent, -1.0);
  vec3 way = toWorld * ray;
  // Walls cut the liquid at the resolution of the picture.
  vec2 part = within(eye, way, 0.0);
  if (depth > part.y) discard;
  bool onWall = depth < part.x + 0.5 * drop;
  if (onWall) depth = part.x;
  float stretch = length(ray);
  vec3 sight = ray / stretch;
  // The mean of four normals around: particles in a row would show as lines on a surface seen at a low angle.
  vec2 wide = 1.5 / vec2(textureSize(surface, 0));
  vec2 slant = 0.25 * (texture(surface, at + wide).xy + texture(surface, at - wide).xy
    + texture(surface, at + vec2(wide.x, -wide.y)).xy + texture(surface, at + vec2(-wide.x, wide.y)).xy);
  vec3 normal = vec3(slant, sqrt(max(0.0, 1.0 - dot(slant, slant))));
  vec3 outward = toWorld * normal;
  // Farther away the steep water around a body would tear its lower part off.
  vec2 place = clamp(at - 0.05 * min(s.w, 0.18 * range.y) * normal.xy / (depth * tangent), 0.0, 1.0);
  // Way of the bent ray to the next body or wall. Walls beside it mirror the liquid, as glass does.
  vec3 point = eye + depth * way;
#ifdef FINER
  float away = behindHere(place, -0.5) - depth, other = behindHere(place, 0.5) - depth;
  vec4 seen = texture(behind, place);
  bool hidden = false;
  bool outline = min(away, other) <= 0.0;
  away = 0.5 * (away + other);
  if (outline) {
    float clear = away = 0.0;
    seen = meanBehind(place, depth, away, clear);
    // Bodies before the surface are not seen through it.
    if (clear < 0.5) {
      clear = away = 0.0;
      seen = meanBehind(place = at, depth, away, clear);
    }
    // At the outline of a nearer body all pixels of the lower resolution may see the body.
    hidden = clear < 0.01;
    seen = hidden ? texture(behind, at) : seen / clear;
    away /= max(clear, 0.01);
  }
  float free = hidden ? 1e3 : away * stretch;
#else
  // Bodies before the surface are not seen through it.
  if (behindHere(place, 0.0) < depth) place = at;
  vec4 seen = texture(behind, place);
  float free = (behindHere(place, 0.0) - depth) * stretch;
  // At the outline of a nearer body the lower resolution sees the body.
  if (free <= 0.0) free = 1e3;
#endif
  float far = min(min(free, 2.0 * range.y), within(point, refract(normalize(way), outward, 0.75), 0.66).y);
  // Particles tell where liquid is; where they fill the way, its length is known better from the walls.
  float filled = s.w / max(min(free, (part.y - depth) * stretch), drop);
  float thick = min(free, mix(s.w, max(s.w, far), smoothstep(0.3, 0.7, filled)));
  // Single drops stay as faint beads.
  float shown = max(smoothstep(0.25 * drop, 1.3 * drop, s.w), smoothstep(0.3, 0.6, filled));
  if (shown == 0.0) discard;
  // The edges of glass stay before the liquid that touches it.
  float drawn = depth + (onWall ? 0.4 * drop : 0.0);
  gl_FragDepth = 0.5 + 0.5 * (toDepth.y / drawn - toDepth.x);
  // Thin parts bend and reflect nothing, so that the outline has no hard edge.
  float body = smoothstep(0.0, 0.09 * range.y, thick);
  float facing = clamp(-dot(normal, sight), 0.0, 1.0);
  float grazing = (1.0 - facing) * (1.0 - facing);
  // Not up to 1: ripples below the resolution scatter reflections of a steep surface. A calm level surface mirrors as
  // real water does.
  float calm = smoothstep(0.75, 0.97, outward.y);
  float deep = smoothstep(0.04 * range.y, 0.3 * range.y, thick);
  float fresnel = deep * (0.02 + mix(0.4, 0.85, calm) * grazing * grazing * (1.0 - facing));
  // With a skin, thin rims have the liquid's color, too, and are not as bright as the page.
  vec3 passed = exp(-absorb * (thick + 1.5 * drop));
  // Light comes from above and is absorbed on its way down.
  float sunk = exp(-0.9 * max(0.0, 1.0 - (point.y - heights.x) / heights.y));
  float lit = (0.75 + 0.35 * clamp(dot(outward, key), 0.0, 1.0)) * sunk;
  // The page behind the canvas has no alpha for each color: the liquid covers it and shows its color instead.
  vec3 beyond = seen.rgb + (1.0 - seen.a) * sqrt(backdrop);
  vec3 light = beyond * beyond * passed + scatter * lit * (1.0 - passed);
  vec3 mirrored = toWorld * reflect(sight, normal);
  vec3 studioLight = studio(mirrored);
  light = mix(light, studioLight / (1.0 + 0.6 * studioLight), fresnel);
  float spark = max(dot(mirrored, key), 0.0);
  // Powers 16 and 256: multiplications are cheap for software rendering, as are a square and a root for the encoding.
  spark *= spark;
  spark *= spark;
  spark *= spark;
  spark *= spark;
  float glint = spark * spark;
  glint *= glint;
  glint *= glint;
  light += deep * vec3(1.0, 0.95, 0.88) * (0.6 * glint * glint + 0.05 * spark);
  // Thin parts cover little of the page: light added to it would be white.
  color = mix(seen, vec4(sqrt(min(light, 1.0)), 1.0), body);
  if (shown < 1.0) color = mix(texture(behind, at), color, shown);
}`;
