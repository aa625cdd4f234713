/**
 * Validates images and materials of a glTF: the size of each used image must be known before decoding, and materials
 * must have numbers as their values.
 */
import { ImageUtils } from "@gltf-transform/core";
import { damaged, dataOfUri, isObject, notSupported, tooLarge } from "./gltfContainer.ts";
import type { Json } from "./gltfContainer.ts";
import { at, indexOf, listOf, shown } from "./gltfGuard.ts";
import type { CheckedGltf } from "./gltfGuard.ts";
import { ObjectError } from "../objectFile.ts";
import type { ObjectLimits } from "../objectFile.ts";

const BASISU = "KHR_texture_basisu";
/** Extensions that give a texture an image besides `source`; preferred ones first. */
const SOURCES = ["EXT_texture_avif", "EXT_texture_webp"];
/** Limit of numbers in one list of a material; a factor has 4 at most. */
const NUMBERS = 16;

/** An image of the file: its bytes, or undefined if no material uses it. */
export type ImageBytes = { bytes: Uint8Array; mimeType: string } | undefined;

/**
 * @returns the images, by their indices in the file
 * @throws ObjectError if an image is invalid, too large, external, or of a kind that browsers do not show
 */
export function checkImages(checked: CheckedGltf, limits: ObjectLimits): ImageBytes[] {
  const { json } = checked;
  const images = listOf(json, "images", "");
  const textures = listOf(json, "textures", "");
  const used = new Set<number>();
  listOf(json, "materials", "", limits.materials).forEach((material, i) => {
    checkMaterial(material, `/materials/${i}`, (index, where) => {
      used.add(sourceOf(textures[indexOf(index, where, textures.length)]!, index as number, images.length));
    });
  });
  if (used.size > limits.images)
    throw tooLarge("count of images that materials use", used.size, limits.images, "Join textures into an atlas");
  let pixels = 0;
  return images.map((image, i) => {
    if (!used.has(i)) return undefined;
    const found = imageOf(checked, image, `/images/${i}`, limits);
    const [width, height] = sizeOf(found, `/images/${i}`);
    pixels += width * height;
    const help = "Make the textures smaller: 2048 x 2048 is enough for nearly everything";
    if (width * height > limits.imagePixels)
      throw tooLarge(
        `count of pixels of /images/${i} (${width} x ${height})`,
        width * height,
        limits.imagePixels,
        help,
      );
    if (pixels > limits.allPixels)
      throw tooLarge(`count of pixels of all images up to /images/${i}`, pixels, limits.allPixels, help);
    return found;
  });
}

/** Returns the index of a texture's image. */
function sourceOf(texture: Json, index: number, images: number): number {
  for (const name of SOURCES) {
    const source = at(texture, "extensions", name, "source");
    if (source !== undefined) return indexOf(source, `/textures/${index}/extensions/${name}/source`, images);
  }
  if (texture.source === undefined && at(texture, "extensions", BASISU) !== undefined)
    throw notSupported(
      `/textures/${index}`,
      `a texture of ${BASISU} alone`,
      "PNG, JPEG, WebP or AVIF is needed",
      "Export the model with PNG or JPEG textures",
    );
  return indexOf(texture.source, `/textures/${index}/source`, images);
}

function imageOf(checked: CheckedGltf, image: Json, where: string, limits: ObjectLimits): NonNullable<ImageBytes> {
  let bytes: Uint8Array;
  if (image.bufferView !== undefined) {
    const { content } = checked.views[indexOf(image.bufferView, `${where}/bufferView`, checked.views.length)]!;
    if (!content) throw damaged(`${where}/bufferView`, "without content", "an image is needed");
    // A copy: the parser of the image header may read to the end of the underlying memory.
    bytes = Uint8Array.from(content);
  } else bytes = dataOfUri(image.uri, `${where}/uri`, limits).bytes;
  const mimeType = ImageUtils.getMimeType(bytes);
  if (mimeType === null || mimeType === "image/ktx2")
    throw new ObjectError("NOT_SUPPORTED", {
      where,
      value: `an image that begins with the bytes ${[...bytes.subarray(0, 4)].join(" ") || "(none)"}`,
      limit: "PNG, JPEG, WebP or AVIF is needed",
      help: "Export the model with PNG or JPEG textures",
    });
  return { bytes, mimeType };
}

function sizeOf({ bytes, mimeType }: NonNullable<ImageBytes>, where: string): [number, number] {
  let size: ArrayLike<number> | null = null;
  try {
    size = ImageUtils.getSize(bytes, mimeType);
  } catch {
    // The header is truncated or points outside of the image: the size is unknown, as below.
  }
  if (!size || !(size[0]! > 0 && size[1]! > 0))
    throw damaged(where, `a damaged ${mimeType}`, "an image whose header has its size is needed");
  return [size[0]!, size[1]!];
}

/** @param onTexture called with the index of every texture that the material uses */
function checkMaterial(value: Json, where: string, onTexture: (index: unknown, where: string) => void): void {
  for (const [key, entry] of Object.entries(value)) {
    const place = `${where}/${key}`;
    if (key === "extras" || key === "name" || entry === undefined) continue;
    if (isObject(entry)) {
      if (/texture$/i.test(key)) onTexture(entry.index, `${place}/index`);
      checkMaterial(entry, place, onTexture);
    } else if (key === "alphaMode") {
      if (!["OPAQUE", "MASK", "BLEND"].includes(entry as string))
        throw damaged(place, shown(entry), "OPAQUE, MASK or BLEND is needed");
    } else {
      const values = Array.isArray(entry) ? (entry as unknown[]) : [entry];
      if (values.length > NUMBERS || values.some((one) => typeof one !== "number" && typeof one !== "boolean"))
        throw damaged(place, shown(entry), `a number, or at most ${NUMBERS} of them, is needed`);
    }
  }
}
