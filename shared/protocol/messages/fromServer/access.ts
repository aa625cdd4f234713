/** `access`: admission and rights of the room. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 74;

export const describe = (): field.MessageDescription => ({
  fields: [field.map("access", [...field.boolean("locked password ownersOnly chat"), ...field.integer("bans")])],
  meaning:
    "after `welcome` and on change: `locked`, `password` needed, `ownersOnly` (reset, spawn, remove), `chat` (players may write), number of `bans`",
});

/** Access settings of the room, and players' rights. */
export interface AccessState {
  locked: boolean;
  /** Whether a password is needed. */
  password: boolean;
  ownersOnly: boolean;
  /** Whether players may write in the chat. */
  chat: boolean;
  bans: number;
}

export const encode = (state: AccessState): Uint8Array => value.encoder.encode([number, state]);

export function parse([state]: value.Values): { type: "access"; access: AccessState } {
  const { locked, password, ownersOnly, chat, bans } = value.record(state, "access");
  return {
    type: "access",
    access: {
      locked: locked === true,
      password: password === true,
      ownersOnly: ownersOnly === true,
      chat: chat === true,
      bans: typeof bans === "number" ? bans : 0,
    },
  };
}
