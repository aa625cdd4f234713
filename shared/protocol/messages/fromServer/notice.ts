/** `notice`: a refusal or an event; the connection stays open. */
import { type ErrorDetails, Notices, type NoticeCode } from "../../../errorCodes.ts";
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 71;

export const describe = (): field.MessageDescription => ({
  fields: [...field.string("code text"), field.map("details")],
  meaning: "a refusal or an event, below; the connection stays open",
});

export const encode = (code: NoticeCode, details: ErrorDetails & Record<string, unknown> = {}): Uint8Array =>
  value.exactEncoder.encode([number, code, Notices[code].text, details]);

interface Event {
  type: "notice";
  code: string;
  text: string;
  details: unknown;
}

export const parse = ([code, text, details]: value.Values): Event => ({
  type: "notice",
  code: String(code),
  text: String(text ?? ""),
  details,
});
