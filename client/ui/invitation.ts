/** How others come into a room: the address that they can open, as text and as a QR code. */
import { shareOrigin } from "../net/api.ts";

export interface Invitation {
  url: string;
  /** As people write it. */
  text: string;
  /** Where it leads, http(s)://host:port. */
  origin: string;
  code: SVGSVGElement;
}

export async function invitationTo(room: string): Promise<Invitation> {
  const [{ qrCode }, origin] = await Promise.all([import("./qrCode.ts"), shareOrigin()]);
  const url = `${origin}/r/${encodeURIComponent(room)}`;
  return { url, origin, text: url.replace(/^https?:\/\//, ""), code: qrCode(url) };
}
