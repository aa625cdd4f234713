/**
 * Entry: `/` is the lobby, `/admin` the operators' page, `/materials` what a material's numbers mean, `/r/<room>` a
 * room, `/r/<room>/replay` its last minute, `/r/<room>?scene=<scene>` a room that is opened if it is not there: a link
 * for a slide or a bookmark. The room's socket opens before the drawing code has even arrived.
 */
import "./styles/base.css";
import "./styles/lobby.css";
import "./styles/room.css";
import "./styles/hands.css";
import "./styles/panels.css";
import "./styles/screens.css";
import "./styles/replay.css";
import "./styles/admin.css";
import { chooseLanguage } from "./text/text.ts";

performance.mark("pliant:start");
const app = document.getElementById("app")!;
const match = /^\/r\/([^/]+?)(\/replay)?\/?$/.exec(location.pathname);
const { takeTokenFromAddress } = await import("./net/tokens.ts");
takeTokenFromAddress(match ? decodeURIComponent(match[1]!) : undefined);
const spoken = chooseLanguage();
if (match?.[2]) {
  const { openReplayPage } = await import("./ui/replayPage.ts");
  await spoken;
  openReplayPage(app, decodeURIComponent(match[1]!));
} else if (match) {
  const room = decodeURIComponent(match[1]!);
  const scene = new URLSearchParams(location.search).get("scene");
  const page = import("./ui/roomPage.ts");
  if (scene) {
    const { createRoom } = await import("./net/api.ts");
    // whatever cannot be opened (a room of this name with another scene, an unknown scene) is joined or missed by the
    // page itself
    const made = await createRoom(scene, room).catch((error: unknown) => console.warn(error));
    const { tuningOfLink } = await import("./state/duplicate.ts");
    const tuning = tuningOfLink(location.hash);
    const { handOver } = await import("./state/handOver.ts");
    if (made?.token !== undefined && tuning) handOver("duplicate", room, tuning);
  }
  await spoken;
  (await page).openRoomPage(app, room);
} else if (/^\/admin\/?$/.test(location.pathname)) {
  const { openAdminPage } = await import("./ui/admin/adminPage.ts");
  await spoken;
  openAdminPage(app);
} else if (/^\/materials\/?$/.test(location.pathname)) {
  const { openMaterialsPage } = await import("./ui/materials/materialsPage.ts");
  await spoken;
  openMaterialsPage(app);
} else if (location.pathname !== "/" && location.pathname !== "/index.html") {
  const { messageOf, messagePage } = await import("./ui/messagePage.ts");
  await spoken;
  app.replaceChildren(messagePage(...messageOf("nothingHere")));
} else {
  const { openLobby } = await import("./ui/lobby.ts");
  await spoken;
  openLobby(app);
}
