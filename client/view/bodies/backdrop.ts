/** Light that shines through jelly, and the shading that jelly.ts adds to a body. */
import { Color, type IUniform, type Vector3, type WebGLProgramParametersWithUniforms } from "three";

/** Light behind and below the bodies by color scheme, and the mean color of the page behind the picture. */
export const BACKDROP: Record<"pliantBehind" | "pliantBelow" | "pliantPage", IUniform<Color>> = {
  pliantBehind: { value: new Color() },
  pliantBelow: { value: new Color() },
  pliantPage: { value: new Color() },
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
