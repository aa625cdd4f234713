/** The room in the lobby's first screen, which all visitors of the lobby share. Nobody owns it. */

export const LOBBY_ROOM = "welcome";
export const LOBBY_SCENE = "jelly-stack";
