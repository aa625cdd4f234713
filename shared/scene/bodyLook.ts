/** Looks that members give spawnable bodies: a color, a finish and a short text beside the body. */
import type { Finish } from "./scene.ts";
import { visibleText } from "../members/visibleText.ts";

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
