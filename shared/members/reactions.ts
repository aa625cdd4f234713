/** Reactions and the form of a line of chat. */
import { Limits } from "../protocol/protocol.ts";

/** The protocol names a reaction by its place in this list. Add new ones at the end. */
export const REACTIONS = ["👍", "👏", "😂", "😮", "❤️", "🎉"] as const;

/** Form of a line, for refusals. */
export const LINE_FORM = `1 to ${Limits.lineLength} characters`;
