/**
 * Looks that members gave spawnable bodies, in the room's memory: checkpoints, undo and replays contain them like the
 * motion. They do not change the motion. A body that is taken out, and all bodies at a reset, look as in the scene
 * again.
 *
 *   row of a spawnable body, int32   color + COLORED | 1 + place of the finish | author | bytes of the text | the text
 */
import { type BodyLook, changedLook, FINISHES, LONGEST_TEXT, type LookChange } from "../../../shared/scene/bodyLook.ts";
import { refuseDress, refuseNotSpawnable } from "../../../shared/members/inputRanges.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import type { Input, Refusal, SimEvent } from "../types.ts";
import type { Views } from "../world/views.ts";

const COLORED = 1 << 24;
const HEAD = 4;
/** Most bytes of a character in UTF-8. */
const CHARACTER_BYTES = 4;
const ROW = HEAD + (CHARACTER_BYTES * LONGEST_TEXT) / 4;

type Dress = Extract<Input, { type: "dress" }>;
type Dressed = Extract<SimEvent, { type: "dressed" }>;

export const looksBytes = (spawnable: number): number => 4 * ROW * spawnable;

export class RoomLooks {
  readonly #rows: Int32Array;
  readonly #spawnable: readonly number[];

  constructor({ i32 }: Views, { looks, bodies }: SimLayout) {
    this.#spawnable = bodies.flatMap(({ spawnable }, body) => (spawnable ? [body] : []));
    this.#rows = i32.subarray(looks / 4, looks / 4 + ROW * this.#spawnable.length);
  }

  /** Number of 4-byte words that the state hash includes: none while all looks are the scene's. */
  get hashedWords(): number {
    return this.#rows.every((word) => word === 0) ? 0 : this.#rows.length;
  }

  /** Bodies that do not look as in the scene. */
  get current(): [body: number, look: BodyLook][] {
    return this.#spawnable.flatMap((body): [number, BodyLook][] => {
      const look = this.#of(body);
      return Object.keys(look).length > 0 ? [[body, look]] : [];
    });
  }

  /** Applies a change. @param input its place among the tick's inputs. @returns the event; a refusal changes nothing */
  apply({ type: _, member, body, ...change }: Dress, tick: number, input: number): SimEvent {
    const refusal = this.#refuse(body, change);
    if (refusal) return { type: "inputRejected", tick, member, input, ...refusal };
    const before = this.#of(body);
    const look = changedLook(before, change, member);
    this.#write(body, look);
    return { type: "dressed", tick, member, body, look, before, input };
  }

  /** Gives a body, or all, the scene's look. @returns events of the bodies that looked different */
  undress(tick: number, only?: number): Dressed[] {
    return this.current.flatMap(([body, before]): Dressed[] => {
      if (only !== undefined && body !== only) return [];
      this.#write(body, {});
      return [{ type: "dressed", tick, member: 0, body, look: {}, before }];
    });
  }

  #refuse(body: number, change: LookChange): Refusal | null {
    return refuseNotSpawnable(body, this.#spawnable) ?? refuseDress(change);
  }

  #row(body: number): Int32Array {
    const at = ROW * this.#spawnable.indexOf(body);
    return this.#rows.subarray(at, at + ROW);
  }

  #of(body: number): BodyLook {
    const row = this.#row(body);
    const [color, finish, by, bytes] = row as unknown as [number, number, number, number];
    // A TextDecoder refuses shared memory.
    const text = Buffer.from(row.buffer, row.byteOffset + 4 * HEAD, bytes).toString();
    return {
      ...(color !== 0 && { color: `#${(color - COLORED).toString(16).padStart(6, "0")}` }),
      ...(finish !== 0 && { finish: FINISHES[finish - 1]! }),
      ...(text !== "" && { text, by }),
    };
  }

  #write(body: number, { color, finish, text = "", by = 0 }: BodyLook): void {
    const row = this.#row(body).fill(0);
    row[0] = color === undefined ? 0 : COLORED + Number.parseInt(color.slice(1), 16);
    row[1] = finish === undefined ? 0 : 1 + FINISHES.indexOf(finish);
    row[2] = by;
    row[3] = Buffer.from(row.buffer, row.byteOffset + 4 * HEAD, 4 * (ROW - HEAD)).write(text);
  }
}
