/**
 * Messages between a room's page and the page that embeds it: state goes out, a few commands come in. The content
 * security policy limits who may embed it. The other end is `client/sdk/element.ts`.
 */

type News =
  | { pliant: "ready" }
  | { pliant: "state"; state: "connecting" | "open" | "reconnecting" | "ended" }
  | { pliant: "members"; count: number };

/** Commands of the embedding page, which asks its visitor for confirmation where needed. */
interface Commands {
  home: () => void;
  reset: () => void;
}

/** @returns sends a message to the embedding page; does nothing if there is none */
export function frameBridge({ home, reset }: Commands): (news: News) => void {
  if (parent === window) return () => {};
  addEventListener("message", ({ source, data }: MessageEvent) => {
    const asked = (data as { pliant?: unknown } | null)?.pliant;
    if (source !== parent) return;
    if (asked === "home") home();
    else if (asked === "reset") reset();
  });
  // Safe: the messages contain nothing private, and only origins that the operator lists may embed this page.
  return (news) => parent.postMessage(news, "*");
}
