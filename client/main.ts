/** Entry: `/` is the lobby, `/r/<room>` a room. The room's socket opens before the drawing code has even arrived. */
import "./styles/base.css";
import "./styles/lobby.css";
import "./styles/room.css";

performance.mark("pliant:start");
const app = document.getElementById("app")!;
const match = /^\/r\/([^/]+)\/?$/.exec(location.pathname);
if (match) {
  const { openRoomPage } = await import("./ui/roomPage.ts");
  openRoomPage(app, decodeURIComponent(match[1]!));
} else {
  const { openLobby } = await import("./ui/lobby.ts");
  openLobby(app);
}

// A module, so that its names stay its own and `await` is allowed.
export {};
