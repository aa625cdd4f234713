/** Light that shines through jelly, and the shading that jelly.ts adds to a body. */
import { Color, type IUniform, type Vector3, type WebGLProgramParametersWithUniforms } from "three";

/** Light behind and below the bodies, by color scheme; the page's own background. */
export const BACKDROP: Record<"pliantBehind" | "pliantBelow", IUniform<Color>> = {
  pliantBehind: { value: new Color() },
  pliantBelow: { value: new Color() },
};

export interface JellyShading {
  uniforms: {
    /** Half extents, m. */
    pliantExtent: IUniform<Vector3>;
    /** 1: box, 0: ellipsoid. */
    pliantIsBox: IUniform<number>;
  };
  inject: (shader: WebGLProgramParametersWithUniforms) => void;
}
