/** Reactions of members. */

/** The protocol names a reaction by its place in this list. Add new ones at the end. */
export const REACTIONS = ["👍", "👏", "😂", "😮", "❤️", "🎉"] as const;
