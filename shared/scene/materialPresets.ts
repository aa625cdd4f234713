/**
 * Materials by name: `"material": "rubber"` in a scene, and the choice for an uploaded object. A preset is a material
 * as in a scene (shared/scene/scene.ts), for a solid, a sheet, or both.
 *
 * Densities and moduli are handbook values from M. F. Ashby, Materials Selection in Mechanical Design, appendix of
 * material properties, unless another source is given. Damping (1/s) and friction are plausible orders of magnitude,
 * not measurements. Poisson's ratio is at most 0.49: linear tetrahedra that keep their volume exactly do not bend.
 *
 *   rubber   natural rubber without filler: G = 0.5 MPa (L. R. G. Treloar, The Physics of Rubber Elasticity), E = 3 G
 *   jelly    gelatin in water: 5 to 100 kPa, growing with the square of its share (T. J. Hall et al. 1997, Phantom
 *            materials for elastography); this is a firm dessert
 *   foam     open-celled polyurethane: E = E_s (rho/rho_s)^2 with E_s = 45 MPa, rho_s = 1200 kg/m^3, nu = 0.3
 *            (L. J. Gibson and M. F. Ashby, Cellular Solids, section 5.3)
 *   clay     soft potter's clay, undrained; yields at a few percent of strain and keeps its pressed shape
 *   steel    EN 1993-1-1, section 3.2.6: E = 210 GPa, nu = 0.3. Grabs never reach its yield strain (0.1 %)
 *   cotton, silk   plain weaves of 140 and 60 g/m^2; flexural rigidity as of S. Kawabata's instruments, 0.1 and 0.03
 *            gf cm^2/cm (1 gf cm^2/cm = 9.81e-5 N m)
 *   leather  upholstery leather; bends more softly than a plate, because its fibers buckle
 */
import type { ClothMaterial, IsotropicMaterial } from "./sceneMaterials.ts";

export interface MaterialPreset {
  soft?: Readonly<IsotropicMaterial>;
  cloth?: Readonly<ClothMaterial>;
}

/**
 * A sheet of a solid's material, m thick: a plate of flexural rigidity E t^3 / (12 (1 - nu^2)), N m (S. Timoshenko and
 * S. Woinowsky-Krieger, Theory of Plates and Shells, section 2).
 */
function sheetOf(solid: IsotropicMaterial, thickness: number): ClothMaterial {
  const { model: _, plasticity: __, ...material } = solid;
  const { youngsModulus, poissonsRatio } = solid;
  const bendingStiffness = (youngsModulus * thickness ** 3) / (12 * (1 - poissonsRatio ** 2));
  return { ...material, thickness, bendingStiffness: Number(bendingStiffness.toPrecision(3)) };
}

const RUBBER: IsotropicMaterial = {
  density: 930,
  youngsModulus: 1.5e6,
  poissonsRatio: 0.49,
  damping: 0.5,
  friction: 0.9,
};
const FOAM: IsotropicMaterial = { density: 30, youngsModulus: 28e3, poissonsRatio: 0.3, damping: 2, friction: 0.8 };
/**
 * Neo-Hookean: a Saint Venant-Kirchhoff solid gives way at a pressure of 0.19 E, and half a meter of jelly weighs
 * 0.34 E. Such cubes lay crushed for ever.
 */
const JELLY: IsotropicMaterial = {
  model: "neo-hookean",
  density: 1030,
  youngsModulus: 15e3,
  poissonsRatio: 0.45,
  damping: 0.3,
  friction: 0.3,
};
const STEEL: IsotropicMaterial = {
  density: 7850,
  youngsModulus: 210e9,
  poissonsRatio: 0.3,
  damping: 0.1,
  friction: 0.6,
};
const LEATHER: IsotropicMaterial = { density: 900, youngsModulus: 50e6, poissonsRatio: 0.4, damping: 1, friction: 0.6 };

const PRESETS = {
  rubber: { soft: RUBBER, cloth: sheetOf(RUBBER, 0.001) },
  jelly: { soft: JELLY },
  foam: { soft: FOAM, cloth: sheetOf(FOAM, 0.005) },
  cotton: {
    cloth: {
      density: 400,
      thickness: 0.00035,
      youngsModulus: 5e6,
      poissonsRatio: 0.3,
      bendingStiffness: 1e-5,
      damping: 0.5,
      friction: 0.5,
    },
  },
  silk: {
    cloth: {
      density: 400,
      thickness: 0.00015,
      youngsModulus: 1e7,
      poissonsRatio: 0.3,
      bendingStiffness: 3e-6,
      damping: 0.3,
      friction: 0.25,
    },
  },
  leather: { soft: LEATHER, cloth: { ...sheetOf(LEATHER, 0.0012), bendingStiffness: 1e-3 } },
  clay: {
    soft: {
      model: "stvk",
      density: 1800,
      youngsModulus: 0.5e6,
      poissonsRatio: 0.45,
      damping: 2,
      friction: 0.8,
      plasticity: { yield: 0.03, creep: 20, max: 1 },
    },
  },
  steel: { soft: STEEL, cloth: sheetOf(STEEL, 0.0005) },
} satisfies Record<string, MaterialPreset>;

export type PresetName = keyof typeof PRESETS;

export const MATERIAL_PRESETS: Readonly<Record<PresetName, MaterialPreset>> = PRESETS;

/** Names of the presets for a body of this kind. */
export function presetsOf(kind: "soft" | "cloth"): PresetName[] {
  return (Object.keys(PRESETS) as PresetName[]).filter((name) => MATERIAL_PRESETS[name][kind] !== undefined);
}
