/** Skinning's public face: attach once (server), evaluate every frame (the shader does; this is its reference). */
export { type Attachment, type Surface, attachDetail } from "./attach.ts";
export { type Skin, type SkinSource, createSkin, evaluateSkinInto } from "./evaluate.ts";
export { vertexNormalsInto } from "./normals.ts";
