/** Looks that members give spawnable bodies: a color, a finish and a short text beside the body. */
import type { Refusal } from "./inputRanges.ts";
import type { Finish } from "./scene.ts";
import { visibleText } from "./visibleText.ts";

/** Absent fields are as in the scene. */
export interface BodyLook {
  /** #rrggbb, lower case. */
  color?: string;
  finish?: Finish;
  text?: string;
  /** Number of the member who wrote the text. */
  by?: number;
}

/** Absent: unchanged. null: as in the scene. */
export type LookChange = { [field in "color" | "finish" | "text"]?: BodyLook[field] | null };

/** Rooms store a finish by its place in this list. Add new ones at the end. */
export const FINISHES: readonly Finish[] = [
  "jelly",
  "rubber",
  "foam",
  "clay",
  "metal",
  "canvas",
  "silk",
  "leather",
  "paper",
];

/** Longest text, characters. */
export const LONGEST_TEXT = 40;

/** Returns the text as members see it, after the rules of names. */
export const lookText = (text: string): string => visibleText(text);

/** @returns the reason why a change is refused, or null */
export function refuseDress({ color, finish, text }: LookChange): Refusal | null {
  if (color != null && !/^#[0-9a-f]{6}$/.test(color)) return { field: "color", value: color, limit: "#rrggbb" };
  if (finish != null && !FINISHES.includes(finish))
    return { field: "finish", value: finish, limit: FINISHES.join(", ") };
  const { length } = [...(text ?? "")];
  return length > LONGEST_TEXT ? { field: "text", value: length, limit: `up to ${LONGEST_TEXT} characters` } : null;
}

/** Returns the look after a change. @param member who changes it */
export function changedLook(look: BodyLook, change: LookChange, member: number): BodyLook {
  const { color = look.color, finish = look.finish, text = look.text } = change;
  return {
    ...(color != null && { color }),
    ...(finish != null && { finish }),
    ...(text && { text, by: text === look.text ? look.by! : member }),
  };
}

/** Returns the change that turns a look into this one. */
export const lookChange = ({ color, finish, text }: BodyLook): LookChange => ({
  color: color ?? null,
  finish: finish ?? null,
  text: text ?? null,
});

export const sameLook = (a: BodyLook, b: BodyLook): boolean =>
  a.color === b.color && a.finish === b.finish && a.text === b.text;
