/**
 * Scripts that run in a test's page before the page's own scripts. Each is sent as text, so it contains everything that
 * it needs.
 */

declare global {
  interface Window {
    /** All texts of toasts so far. */
    toasted: string[];
  }
}

/** Records toasts, because a toast disappears after three seconds. */
export function noteToasts(): void {
  window.toasted = [];
  new MutationObserver((changes) => {
    for (const added of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!(added instanceof Element)) continue;
      // A toast that exists when the page loads is added together with its parents.
      const toasts = [...(added.matches(".toast") ? [added] : []), ...added.querySelectorAll(".toast")];
      window.toasted.push(...toasts.map(({ textContent }) => textContent));
    }
  }).observe(document, { childList: true, subtree: true });
}

/** Delays the callbacks of requestAnimationFrame, so that few pictures are drawn. */
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
 * Sets the default quality level to the first one of a page without a GPU. Otherwise the page tries better levels if
 * the machine is quick enough, and compiles their shaders.
 */
export function drawPlainly(): void {
  const get = URLSearchParams.prototype.get;
  URLSearchParams.prototype.get = function (name) {
    return get.call(this, name) ?? (name === "quality" ? "6" : null);
  };
}

/** Ends animations at once: while an element is animated, the whole page is drawn sixty times a second. */
export function endAnimations(): void {
  const sheet = new CSSStyleSheet();
  const changes = "animation-duration: 1ms !important; animation-iteration-count: 1 !important";
  sheet.replaceSync(`*, ::before, ::after { ${changes}; transition-duration: 0s !important }`);
  document.adoptedStyleSheets.push(sheet);
}
