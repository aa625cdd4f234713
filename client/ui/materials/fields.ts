/** Input fields of the materials page, with their limits. */
import { type Beam, largestSag } from "../../../shared/geometry/beam.ts";
import { type PlainKey, t } from "../../text/text.ts";
import { NumberField } from "./numberField.ts";
import { LENGTHS, pascals, type Unit } from "./quantity.ts";

/**
 * SI units. Moduli and ratios as in scene files (shared/scene/scene.ts); density and length within what fits on a
 * table.
 */
const LIMITS = {
  youngsModulus: { min: 100, max: 1e13 },
  density: { min: 0.1, max: 1e5 },
  poissonsRatio: { min: 0, max: 0.4999 },
  length: { min: 1e-3, max: 100 },
  swings: { min: 0.1, max: 1e5 },
};
/** Least height and sag of a beam, m. */
const THINNEST = 1e-5;

/** Unit of counts and ratios: none. */
const NO_UNIT: Unit = { text: "", size: 1 };

export type Fields = Record<
  "youngsModulus" | "density" | "poissonsRatio" | "length" | "height" | "edge" | "measured" | "counted" | "halved",
  NumberField
>;

/** @param lengths unit of all lengths but the measured one. @param changed called after each change by the user */
export function makeFields(lengths: () => Unit, changed: () => void): Fields {
  const field = (
    id: string,
    label: PlainKey,
    unit: Unit | (() => Unit),
    limits: { min: number; max: number } | (() => { min: number; max: number }),
    rest: { write?: (value: number) => string; optional?: true } = {},
  ): NumberField => {
    const options = {
      id,
      label: t(label),
      unit: typeof unit === "function" ? unit : () => unit,
      limits: typeof limits === "function" ? limits : () => limits,
      ...rest,
    };
    return new NumberField(options, changed);
  };
  const longest = (): number => fields.length.read() ?? LIMITS.length.max;
  const sags = (): { min: number; max: number } => {
    const strip = stripOf(fields);
    return { min: THINNEST, max: strip ? 0.999 * largestSag(strip) : longest() };
  };
  const fields: Fields = {
    youngsModulus: field("modulus", "materialModulus", { text: "Pa", size: 1 }, LIMITS.youngsModulus, {
      write: pascals,
    }),
    density: field("density", "density", { text: "kg/m³", size: 1 }, LIMITS.density),
    poissonsRatio: field("ratio", "poissonsRatio", NO_UNIT, LIMITS.poissonsRatio),
    length: field("length", "materialLength", lengths, LIMITS.length),
    height: field("height", "materialHeight", lengths, () => ({ min: THINNEST, max: longest() })),
    edge: field("edge", "materialEdge", lengths, LIMITS.length),
    measured: field("measured", "materialMeasured", LENGTHS.mm, sags, { optional: true }),
    counted: field("counted", "materialCounted", NO_UNIT, LIMITS.swings, { optional: true }),
    halved: field("halved", "materialHalved", NO_UNIT, LIMITS.swings, { optional: true }),
  };
  return fields;
}

/** Data of the strip, without its modulus; undefined if a field is invalid. */
export function stripOf(fields: Fields): Omit<Beam, "youngsModulus"> | undefined {
  const density = fields.density.read();
  const poissonsRatio = fields.poissonsRatio.read();
  const length = fields.length.read();
  const height = fields.height.read();
  if (density === undefined || poissonsRatio === undefined || length === undefined || height === undefined)
    return undefined;
  return { density, poissonsRatio, length, height };
}
