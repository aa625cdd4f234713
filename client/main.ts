/**
 * Entry point of all pages. `/` is the lobby, `/admin` the operators' page, `/materials` the page of material numbers,
 * `/gallery` the saved scenes, `/r/<room>` a room and `/r/<room>/replay` its last minute. `/r/<room>?scene=<scene>`
 * also creates the room if it does not exist, for links on slides and bookmarks. The room's socket opens before the
 * drawing code has loaded.
 */
import "./styles/base.css";
import "./styles/room.css";
import "./styles/hands.css";
import "./styles/panels.css";
import "./styles/tools.css";
import "./styles/screens.css";
import { chooseLanguage } from "./text/text.ts";

performance.mark("pliant:start");
const app = document.getElementById("app")!;
const match = /^\/r\/([^/]+?)(\/replay)?\/?$/.exec(location.pathname);
const { takeTokenFromAddress } = await import("./net/tokens.ts");
takeTokenFromAddress(match ? decodeURIComponent(match[1]!) : undefined);
const spoken = chooseLanguage();
if (match?.[2]) {
  const { openReplayPage } = await import("./ui/replay/replayPage.ts");
  await spoken;
  openReplayPage(app, decodeURIComponent(match[1]!));
} else if (match) {
  const room = decodeURIComponent(match[1]!);
  const scene = new URLSearchParams(location.search).get("scene");
  const page = import("./ui/room/roomPage.ts");
  let noScene = false;
  if (scene) {
    const { createRoom } = await import("./net/api.ts");
    // If the room cannot be created (another scene under this name, an unknown scene), the page joins the existing
    // room or shows the error.
    const made = await createRoom(scene, room).catch((error: unknown) => {
      console.warn(error);
      noScene = (error as { code?: string }).code === "SCENE_NOT_FOUND";
    });
    const { tuningOfLink } = await import("./state/duplicate.ts");
    const tuning = tuningOfLink(location.hash);
    const { handOver } = await import("./state/handOver.ts");
    if (made?.token !== undefined && tuning) handOver("duplicate", room, tuning);
  }
  await spoken;
  (await page).openRoomPage(app, room, { noScene });
} else if (/^\/admin\/?$/.test(location.pathname)) {
  const { openAdminPage } = await import("./ui/admin/adminPage.ts");
  await spoken;
  openAdminPage(app);
} else if (/^\/materials\/?$/.test(location.pathname)) {
  const { openMaterialsPage } = await import("./ui/materials/materialsPage.ts");
  await spoken;
  openMaterialsPage(app);
} else if (/^\/gallery\/?$/.test(location.pathname)) {
  const { openGalleryPage } = await import("./ui/gallery/galleryPage.ts");
  await spoken;
  openGalleryPage(app);
} else if (location.pathname !== "/" && location.pathname !== "/index.html") {
  const { messageOf, messagePage } = await import("./ui/messagePage.ts");
  await spoken;
  app.replaceChildren(messagePage(...messageOf("nothingHere")));
} else {
  const { openLobby } = await import("./ui/lobby/lobby.ts");
  await spoken;
  openLobby(app);
}
