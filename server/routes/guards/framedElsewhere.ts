/**
 * Answer to a page that shows a room in a frame without permission. `frame-ancestors` makes browsers refuse the room's
 * page before they show anything, as a broken file. If the browser names the framing page, it gets a small page in
 * place of the room: without scripts, allowed in every frame, with the missing setting and a link.
 */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isLoopback } from "../../../shared/loopback.ts";

const STYLE =
  "body{font:1rem/1.5 system-ui,sans-serif;display:grid;place-content:center;min-height:90vh;margin:1rem;text-align:center;color:#3a2a1e;background:#f7efe4}a{color:#a8431f}code{overflow-wrap:anywhere}";
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors *`;

const TEXTS = {
  en: ["This room cannot be shown inside the page {origin}.", "The server's operator can allow it:", "Open the room"],
  de: [
    "Dieser Raum darf in der Seite {origin} nicht gezeigt werden.",
    "Wer den Server betreibt, kann es erlauben:",
    "Raum öffnen",
  ],
  es: [
    "Esta sala no se puede mostrar dentro de la página {origin}.",
    "Quien administra el servidor puede permitirlo:",
    "Abrir la sala",
  ],
  ar: ["لا يمكن عرض هذه الغرفة داخل الصفحة {origin}.", "يستطيع مشغّل الخادم السماح بذلك:", "فتح الغرفة"],
} as const;

const FRAMES: ReadonlySet<unknown> = new Set(["iframe", "frame", "embed", "object"]);

/** Origin of the page that frames this request; undefined: not framed by another origin, or not known. */
function framingOrigin({ headers }: FastifyRequest): string | undefined {
  const site = headers["sec-fetch-site"];
  if (!FRAMES.has(headers["sec-fetch-dest"]) || site === "same-origin" || site === "none") return undefined;
  const origin = URL.canParse(headers.referer ?? "") ? new URL(headers.referer!).origin : "null";
  return origin === "null" ? undefined : origin;
}

/** @param allowed `PLIANT_EMBED_ORIGINS`; `localhost` is any page of this computer */
const isAllowed = (origin: string, allowed: readonly string[]): boolean =>
  allowed.includes(origin) || (allowed.includes("localhost") && isLoopback(new URL(origin).hostname));

/** Answers with the small page, if another origin frames the room without permission. */
export function refuseFrame(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): boolean {
  const origin = framingOrigin(request);
  if (origin === undefined || isAllowed(origin, allowed)) return false;
  const languages = (request.headers["accept-language"] ?? "").split(",").map((part) => part.trim().slice(0, 2));
  const language = languages.find((one): one is keyof typeof TEXTS => one in TEXTS) ?? "en";
  const [refusal, advice, open] = TEXTS[language];
  const room = escapeHtml(request.url.split("?")[0]!);
  reply
    .code(403)
    .type("text/html; charset=utf-8")
    .header("content-security-policy", POLICY)
    .header("cache-control", "no-store")
    .send(
      `<!doctype html><html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}"><meta charset="utf-8"><title>Pliant</title><style>${STYLE}</style><p>${refusal.replace("{origin}", `<bdi>${escapeHtml(origin)}</bdi>`)}</p><p>${advice} <code dir="ltr">PLIANT_EMBED_ORIGINS=${escapeHtml(origin)}</code></p><p><a href="${room}" target="_blank" rel="noopener">${open}</a></p></html>`,
    );
  return true;
}

const escapeHtml = (text: string): string => text.replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
