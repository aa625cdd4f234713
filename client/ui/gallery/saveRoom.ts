/** Saves the scene of the shown room in the gallery; loaded when an owner chooses it. */
import { saveRoom } from "../../net/gallery.ts";
import { t } from "../../text/text.ts";
import { askTitle } from "./titleDialog.ts";

/** @param title of the room's scene. @param say shows a note */
export function saveInGallery(room: string, title: string, say: (text: string) => void): void {
  askTitle(t("saveInGallery"), title, async (chosen) => {
    const saved = await saveRoom(room, chosen);
    say(t("gallerySaved", { title: saved.title }));
  });
}
