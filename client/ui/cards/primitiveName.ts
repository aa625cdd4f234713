/** Names of the palette's primitives (server/objects/palette.ts) in the visitor's language. */
import { t } from "../../text/text.ts";

const SHAPES = { box: "paletteBox", block: "paletteBlock", ball: "paletteBall", sheet: "paletteSheet" } as const;
const MATERIALS = {
  jelly: "bringJelly",
  rubber: "bringRubber",
  foam: "bringFoam",
  clay: "bringClay",
  steel: "bringSteel",
  cotton: "bringCotton",
} as const;

/** @param name of a body. @returns other names unchanged */
export function primitiveName(name: string): string {
  const [material = "", shape = "", ...more] = name.split(" ");
  if (more.length > 0 || !Object.hasOwn(MATERIALS, material) || !Object.hasOwn(SHAPES, shape)) return name;
  return t(SHAPES[shape as keyof typeof SHAPES], { material: t(MATERIALS[material as keyof typeof MATERIALS]) });
}
