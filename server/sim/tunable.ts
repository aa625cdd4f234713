/** What of a body an owner may change while the room runs, and what the room has to know of it for that. */
import type { BodyTuning } from "../../shared/protocol/protocol.ts";
import type { Body, IsotropicMaterial, Vec3 } from "../../shared/scene.ts";
import type { BodyTemplate } from "./body/template.ts";
import type { MethodLayout } from "./methods/planMethods.ts";
import { soundPace } from "./substeps.ts";

/** How moduli make constraints; scaled: all of them with one, in the scene's proportions. */
type Elasticity = "isotropic" | "neo-hookean" | "stable-neo-hookean" | "scaled";

export interface TunableBody {
  elasticity?: Elasticity;
  /** Largest plastic strain: yield stays below it. */
  mostStrain?: number;
  /** It has an implicit step, and is flat or is not. */
  implicit?: { flat: boolean };
  /** Of its method, in a tick. */
  mostSteps?: number;
  /**
   * 1/m and dimensionless: sound crosses edges * sqrt(stiffness(nu) k/density) of its edges in a second; 0: no matter.
   */
  edges: number;
  /** Particles that the scene pins, and their mass, kg. */
  pinned: Uint32Array;
  pinnedMass: Float64Array;
  /** As the scene says. */
  scene: Omit<BodyTuning, "body">;
}

/** Pa: the modulus that stands for all of them. */
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

/** How much faster sound is along a material's stiffest axis than along its first. */
function anisotropyOf({ material }: Body): number {
  const moduli = "youngsModuli" in material ? material.youngsModuli : undefined;
  return moduli ? Math.sqrt(Math.max(...moduli) / moduli[0]) : 1;
}

/** Constraints whose rows can be written anew, and that see whole masses (constraints/, memory/sweeps.ts). */
const isPlain = ({ form, shape, schedule }: BodyTemplate): boolean =>
  form === "implicit" || (form === "compliant" && !shape && schedule.order !== "jacobi" && schedule.rho === 0);

/** @param body as the scene has it, in SI units; template of it, in kg; method that it has in place of constraints */
export function tunableOf(body: Body, template: BodyTemplate, method?: MethodLayout): TunableBody {
  const { form, damping, friction, pinned, mass } = template;
  const scene: TunableBody["scene"] = { ...(form !== "method" && { damping }), friction, ...method?.tunable };
  const none: TunableBody = {
    ...(method && { mostSteps: method.mostSteps }),
    edges: 0,
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
  const held = Uint32Array.from([...pinned].flatMap((is, i) => (is && mass[i] ? [i] : [])));
  if (held.length > 0) scene.pins = true;
  return {
    ...(elasticity && { elasticity }),
    ...(plasticity && { mostStrain: plasticity.max }),
    edges: soundPace(body, template) * anisotropyOf(body),
    pinned: held,
    pinnedMass: Float64Array.from(held, (i) => mass[i]!),
    scene,
  };
}
