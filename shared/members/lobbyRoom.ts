/** The room in the lobby's first screen, which all visitors of the lobby share. It has no owner. */

export const LOBBY_ROOM = "welcome";
export const LOBBY_SCENE = "jelly-stack";
