/**
 * A float texture that a vertex shader reads like an array of vec3: particle positions, or normals. One texel per
 * entry, rows of TEXTURE_WIDTH; read with texelFetch, so no filtering extension is needed (plain WebGL 2).
 */
import { DataTexture, FloatType, NearestFilter, RGBAFormat } from "three";

/**
 * Texels per row; a power of two, so that the shader finds row and column by shift and mask. Must match `pliantFetch`.
 */
export const TEXTURE_WIDTH = 256;

export class VertexTexture {
  readonly texture: DataTexture;
  private readonly data: Float32Array;

  /** @param entries number of vec3 that it holds */
  constructor(entries: number) {
    const height = Math.max(1, Math.ceil(entries / TEXTURE_WIDTH));
    this.data = new Float32Array(4 * TEXTURE_WIDTH * height);
    this.texture = new DataTexture(
      this.data as Float32Array<ArrayBuffer>,
      TEXTURE_WIDTH,
      height,
      RGBAFormat,
      FloatType,
    );
    this.texture.minFilter = this.texture.magFilter = NearestFilter;
    this.texture.generateMipmaps = false;
  }

  /**
   * @param values float32[3*entries], in
   * @param fourth float32[entries], in: one more number of each entry
   */
  write(values: Float32Array, fourth?: Float32Array): void {
    const { data } = this;
    if (fourth) for (let i = 0; i < fourth.length; i++) data[4 * i + 3] = fourth[i]!;
    for (let i = 0, j = 0; i < values.length; i += 3, j += 4) {
      data[j] = values[i]!;
      data[j + 1] = values[i + 1]!;
      data[j + 2] = values[i + 2]!;
    }
    this.texture.needsUpdate = true;
  }

  dispose(): void {
    this.texture.dispose();
  }
}
