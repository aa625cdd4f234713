/**
 * Materials by name, for what people bring along: real values, and where they are from.
 *
 * A solid has density, Young's modulus and Poisson's ratio; a sheet has density, thickness, modulus of the membrane and
 * flexural rigidity. A modulus is the slope at small strains; incompressible solids have nu = 0.49, with which a lattice
 * of tetrahedra does not lock. `damping` is no material's number: it stands for the air, and is the scene's to choose.
 *
 * [A] Ashby, "Materials Selection in Mechanical Design", 4th ed. 2011, appendix A
 * [GA] Gibson and Ashby, "Cellular Solids", 2nd ed. 1997, ch. 5 and table 11
 * [H] Hall, Bilgen, Insana and Krouskop, "Phantom materials for elastography", IEEE UFFC 44 (1997): gelatin of 10 %
 * [K] Kawabata, "The Standardization and Analysis of Hand Evaluation", 2nd ed. 1980: bending rigidity B of women's
 *     cloth, 1 gf cm^2/cm = 9.8e-5 N m; thickness and mass of the same charts
 * [G] Green, "The use of plasticine models to simulate the plastic flow of metals", Phil. Mag. 42 (1951): yield at some
 *     0.1 MPa, which is a strain of 3 % at 3 MPa
 * [F] friction against a hard floor: CRC Handbook of Chemistry and Physics, section 15 (steel on steel, sliding 0.42 to
 *     0.57; rubber on concrete 0.8 and above; textiles 0.2 to 0.6 with [K] on MIU)
 *
 * Steel is rigid here, or an obstacle: of 200 GPa nothing bends that a hand can pull, and a solver of 20 substeps would
 * show jelly in its place. What is woven or tanned is a sheet.
 */
import type { ClothMaterial, IsotropicMaterial, SoftMaterial } from "./scene.ts";

export const OBJECT_ROLES = ["soft", "cloth", "rigid", "collider"] as const;
export type ObjectRole = (typeof OBJECT_ROLES)[number];

export const PRESET_NAMES = ["rubber", "jelly", "foam", "cotton", "silk", "leather", "clay", "steel"] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

interface Preset {
  /** kg/m^3 of the solid or of the sheet. */
  density: number;
  /** Coulomb, sliding. */
  friction: number;
  /** Absent: it is no soft solid. */
  solid?: Pick<IsotropicMaterial, "youngsModulus" | "poissonsRatio" | "plasticity">;
  /** Absent: it is no sheet. */
  sheet?: Required<Pick<ClothMaterial, "thickness" | "youngsModulus" | "poissonsRatio" | "bendingStiffness">>;
}

/** E t^3 / (12 (1 - nu^2)), N m: of a sheet that is no weave. */
const plate = (modulus: number, thickness: number, nu: number): number =>
  (modulus * thickness ** 3) / (12 * (1 - nu * nu));

export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  // [A] natural rubber: 920 to 930 kg/m^3, 1.5 to 2.5 MPa, nu 0.499; [F]
  rubber: {
    density: 930,
    friction: 0.9,
    solid: { youngsModulus: 1.5e6, poissonsRatio: 0.49 },
    sheet: {
      thickness: 0.002,
      youngsModulus: 1.5e6,
      poissonsRatio: 0.49,
      bendingStiffness: plate(1.5e6, 0.002, 0.49),
    },
  },
  // [H]: some 10 to 20 kPa, water's density and a little
  jelly: { density: 1060, friction: 0.2, solid: { youngsModulus: 15e3, poissonsRatio: 0.49 } },
  // [GA] flexible polyurethane, open cells, nu 0.3: 0.05 to 0.1 MPa at 30 to 40 kg/m^3
  foam: { density: 35, friction: 0.6, solid: { youngsModulus: 60e3, poissonsRatio: 0.3 } },
  // [K] 150 g/m^2 at 0.3 mm, B = 0.05 gf cm^2/cm; membrane 1.5 kN/m
  cotton: {
    density: 500,
    friction: 0.5,
    sheet: { thickness: 0.0003, youngsModulus: 5e6, poissonsRatio: 0.2, bendingStiffness: 4.9e-6 },
  },
  // [K] 60 g/m^2 at 0.15 mm, B = 0.015 gf cm^2/cm; membrane 1.2 kN/m
  silk: {
    density: 400,
    friction: 0.25,
    sheet: { thickness: 0.00015, youngsModulus: 8e6, poissonsRatio: 0.2, bendingStiffness: 1.5e-6 },
  },
  // [A] leather: 810 to 1050 kg/m^3, 100 to 500 MPa for harness; upholstery of 1.2 mm bends as one of 20 MPa
  leather: {
    density: 860,
    friction: 0.5,
    sheet: {
      thickness: 0.0012,
      youngsModulus: 2e7,
      poissonsRatio: 0.4,
      bendingStiffness: plate(2e7, 0.0012, 0.4),
    },
  },
  // [G]; density of modelling clay 1600 to 1900
  clay: {
    density: 1750,
    friction: 0.7,
    solid: {
      youngsModulus: 3e6,
      poissonsRatio: 0.45,
      plasticity: { yield: 0.03, creep: 10, max: 1 },
    },
  },
  // [A] low carbon steel: 7850 kg/m^3; [F]
  steel: { density: 7850, friction: 0.5 },
};

/** Can something of this role be made of it? Whatever has a weight can be rigid, and whatever has friction an obstacle. */
export function suits(name: PresetName, role: ObjectRole): boolean {
  const { solid, sheet } = PRESETS[name];
  return role === "soft" ? solid !== undefined : role === "cloth" ? sheet !== undefined : true;
}

/** Of a soft body, for a scene. @returns undefined: it is no soft solid */
export function solidMaterial(name: PresetName): SoftMaterial | undefined {
  const { density, friction, solid } = PRESETS[name];
  return solid && { model: "stvk", density, ...solid, friction };
}

export function rigidMaterial(name: PresetName): SoftMaterial {
  const { density, friction } = PRESETS[name];
  return { model: "shape-matching", mode: "rigid", density, friction };
}

/** Of a cloth, for a scene. @returns undefined: it is no sheet */
export function sheetMaterial(name: PresetName): ClothMaterial | undefined {
  const { density, friction, sheet } = PRESETS[name];
  return sheet && { model: "stvk", density, ...sheet, friction };
}
