/** The address of a room for other people, as text and as a QR code. */
import { shareOrigin } from "../../net/api.ts";

export interface Invitation {
  url: string;
  /** The URL without its scheme. */
  text: string;
  /** Origin of the URL, http(s)://host:port. */
  origin: string;
  code: SVGSVGElement;
}

export async function invitationTo(room: string): Promise<Invitation> {
  const [{ qrCode }, origin] = await Promise.all([import("../qrCode.ts"), shareOrigin()]);
  const url = `${origin}/r/${encodeURIComponent(room)}`;
  return { url, origin, text: url.replace(/^https?:\/\//, ""), code: qrCode(url) };
}
