/** Values of a body that an owner may change while the room runs, and the data that changing them needs. */
import type { BodyTuning } from "../../../shared/members/tuningLimits.ts";
import type { Body, Vec3 } from "../../../shared/scene/scene.ts";
import type { IsotropicMaterial } from "../../../shared/scene/sceneMaterials.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { Elasticity } from "../constraints/constraint.ts";
import type { MethodLayout } from "../methods/planMethods.ts";
import { bendingShare } from "../prefactored/model.ts";
import { driftSize } from "../scene/laterPart.ts";
import { soundPace } from "../scene/sound.ts";

export interface TunableBody {
  elasticity?: Elasticity;
  /** Largest plastic strain: yield stays below it. */
  mostStrain?: number;
  /** Present for an implicit step: whether the body is flat. */
  implicit?: { flat: boolean };
  /** Present for a prefactored body: bending's share of its stiffness, and particles that its factor anchors. */
  prefactored?: { share: number; anchors: number[] };
  /** Most steps in a tick that its method may be tuned to. */
  mostSteps?: number;
  /**
   * Sound crosses edges * sqrt(stiffness(nu) k/density) of the body's edges in a second, edges in 1/m and stiffness
   * dimensionless; 0: no limit.
   */
  edges: number;
  /** `driftSize` (scene/laterPart.ts) for the speed of sound along the material's first axis, as `edges` is, m. */
  size: number;
  /** Particles that the scene pins, and their mass, kg. */
  pinned: Uint32Array;
  pinnedMass: Float64Array;
  /** Values of the scene. */
  scene: Omit<BodyTuning, "body">;
}

/** Modulus that represents all moduli of a body, Pa. */
function modulusOf(body: Body): number | undefined {
  const m = body.material as { youngsModulus?: number; youngsModuli?: Vec3; kWeft?: number };
  return m.youngsModulus ?? m.youngsModuli?.[0] ?? m.kWeft;
}

function elasticityOf(body: Body): Elasticity | undefined {
  if (body.kind === "ball" || body.kind === "points" || modulusOf(body) === undefined) return undefined;
  const { model = "stvk", youngsModulus } = body.material as { model?: string; youngsModulus?: number };
  if (model === "neo-hookean" || model === "stable-neo-hookean") return model;
  return youngsModulus !== undefined && (body.kind === "cloth" || model === "stvk") ? "isotropic" : "scaled";
}

/** Speed of sound along a material's stiffest axis over that along its first. */
function anisotropyOf({ material }: Body): number {
  const moduli = "youngsModuli" in material ? material.youngsModuli : undefined;
  return moduli ? Math.sqrt(Math.max(...moduli) / moduli[0]) : 1;
}

/** True for constraints whose rows can be rewritten and that use whole masses (constraints/, memory/sweeps.ts). */
const isPlain = ({ form, shape, schedule }: BodyTemplate): boolean =>
  form === "implicit" ||
  form === "prefactored" ||
  (form === "compliant" && !shape && schedule.order !== "jacobi" && schedule.rho === 0);

/**
 * @param body of the scene, in SI units
 * @param template of the body, in kg
 * @param anchors particles that rigid attachments hold in space
 * @param method in place of constraints
 */
export function tunableOf(
  body: Body,
  template: BodyTemplate,
  anchors: () => number[],
  method?: MethodLayout,
): TunableBody {
  const { form, damping, friction, pinned, mass } = template;
  const scene: TunableBody["scene"] = { ...(form !== "method" && { damping }), friction, ...method?.tunable };
  const none: TunableBody = {
    ...(method && { mostSteps: method.mostSteps }),
    edges: 0,
    size: 0,
    pinned: new Uint32Array(0),
    pinnedMass: new Float64Array(0),
    scene,
  };
  if (body.kind === "ball" || body.kind === "points" || !isPlain(template)) return none;
  const { material } = body;
  const elasticity = elasticityOf(body);
  scene.density = material.density;
  if (elasticity) scene.youngsModulus = modulusOf(body)!;
  if (elasticity && elasticity !== "scaled") scene.poissonsRatio = (material as IsotropicMaterial).poissonsRatio;
  const { bendingStiffness, plasticity, volume } = material as {
    bendingStiffness?: number;
    plasticity?: { yield: number; max: number };
    volume?: { pressure?: number };
  };
  if (bendingStiffness) scene.bendingStiffness = bendingStiffness;
  if (template.enclosed) scene.pressure = volume?.pressure ?? 1;
  if (plasticity) scene.yield = plasticity.yield;
  if (form === "implicit")
    return { ...none, ...(elasticity && { elasticity }), implicit: { flat: body.kind === "cloth" } };
  if (form === "prefactored") {
    const prefactored = { share: bendingShare(template), anchors: anchors() };
    return { ...none, ...(elasticity && { elasticity }), prefactored };
  }
  const held = Uint32Array.from([...pinned].flatMap((is, i) => (is && mass[i] ? [i] : [])));
  if (held.length > 0) scene.pins = true;
  return {
    ...(elasticity && { elasticity }),
    ...(plasticity && { mostStrain: plasticity.max }),
    edges: soundPace(body, template) * anisotropyOf(body),
    size: driftSize(template) / anisotropyOf(body),
    pinned: held,
    pinnedMass: Float64Array.from(held, (i) => mass[i]!),
    scene,
  };
}
