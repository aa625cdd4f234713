/** Typed arrays over the whole memory of a room. */
export interface Views {
  f32: Float32Array;
  i32: Int32Array;
}
