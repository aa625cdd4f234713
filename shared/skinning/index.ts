/** Public API of skinning: attach once (server), evaluate every frame (the shader does; this is its reference). */
export { attachDetail } from "./attach.ts";
export { type Skin, createSkin, evaluateSkinInto } from "./evaluate.ts";
export { vertexNormalsInto } from "./normals.ts";
