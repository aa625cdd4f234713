/**
 * Between a room's page and the page that frames it, which the content security policy has let do that: what happens in
 * the room goes out, a few commands come in. The other end is `client/sdk/element.ts`.
 */

type News =
  | { pliant: "ready" }
  | { pliant: "state"; state: "connecting" | "open" | "reconnecting" | "ended" }
  | { pliant: "members"; count: number };

/** What the framing page may ask for. It asks its visitor itself, where that is due. */
interface Commands {
  home: () => void;
  reset: () => void;
}

/** @returns tells the framing page; does nothing where there is none */
export function frameBridge({ home, reset }: Commands): (news: News) => void {
  if (parent === window) return () => {};
  addEventListener("message", ({ source, data }: MessageEvent) => {
    const asked = (data as { pliant?: unknown } | null)?.pliant;
    if (source !== parent) return;
    if (asked === "home") home();
    else if (asked === "reset") reset();
  });
  // Nothing in it is private, and only origins that the operator lists may frame this page.
  return (news) => parent.postMessage(news, "*");
}
