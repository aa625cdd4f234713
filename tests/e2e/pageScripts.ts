/** What runs in a page of a test before the page's own scripts. Each is sent as text: it holds all that it needs. */

declare global {
  interface Window {
    /** All that toasts have said so far. */
    toasted: string[];
  }
}

/** A toast is gone after three seconds, whoever has looked by then. */
export function noteToasts(): void {
  window.toasted = [];
  new MutationObserver((changes) => {
    for (const added of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!(added instanceof Element)) continue;
      // one that is there when the page comes is added with all of it
      const toasts = [...(added.matches(".toast") ? [added] : []), ...added.querySelectorAll(".toast")];
      window.toasted.push(...toasts.map(({ textContent }) => textContent));
    }
  }).observe(document, { childList: true, subtree: true });
}

/** Callbacks of requestAnimationFrame come so much after the ones before that few pictures are drawn. */
export function drawFew(): void {
  const BETWEEN_MS = 400;
  const request = window.requestAnimationFrame.bind(window);
  let asked = new Map<number, FrameRequestCallback>();
  let last = 0;
  const draw = (now: number): void => {
    const callbacks = [...asked.values()];
    asked = new Map();
    for (const callback of callbacks) callback(now);
  };
  window.requestAnimationFrame = (callback) => {
    if (asked.size === 0) setTimeout(() => request(draw), BETWEEN_MS);
    asked.set(++last, callback);
    return last;
  };
  window.cancelAnimationFrame = (id) => void asked.delete(id);
}

/**
 * As if every address that says nothing of quality asked for the level at which a page without a GPU begins: otherwise
 * it tries better ones, as far as the machine is quick enough, and compiles what they need.
 */
export function drawPlainly(): void {
  const get = URLSearchParams.prototype.get;
  URLSearchParams.prototype.get = function (name) {
    return get.call(this, name) ?? (name === "quality" ? "6" : null);
  };
}

/** While something moves by itself, all of the page is drawn sixty times a second. */
export function endAnimations(): void {
  const sheet = new CSSStyleSheet();
  const changes = "animation-duration: 1ms !important; animation-iteration-count: 1 !important";
  sheet.replaceSync(`*, ::before, ::after { ${changes}; transition-duration: 0s !important }`);
  document.adoptedStyleSheets.push(sheet);
}
