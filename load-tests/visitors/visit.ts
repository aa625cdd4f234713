/**
 * A random visitor of an exhibit: pulls, turns, scrolls, presses any key and any reachable control, types, taps with
 * two fingers, and leaves without restoring anything.
 */
import type { CDPSession, Page } from "playwright-core";
import { KEYS } from "../../client/input/keyboard.ts";
import { type Place, surfacePoint } from "./pages.ts";

/** Acts of a visitor: at least `least`, and fewer than `more` additional ones. */
const ACTS = { least: 4, more: 14 };
/** Pause between two acts, ms: `least`, and up to `more` in addition. */
const PAUSE = { least: 50, more: 350 };
const STEPS = 8;

const PRESSED = [
  ...Object.keys(KEYS).map((key) => (key === "escape" ? "Escape" : key)),
  ..."Tab Tab Tab Shift+Tab Enter Enter Space Space ArrowUp ArrowLeft ArrowRight ArrowDown Home End PageDown x 7".split(
    " ",
  ),
];

export interface Visitor {
  page: Page;
  session: CDPSession;
  /** Random number in [0, 1). */
  random: () => number;
}

const among = <T>(list: readonly T[], random: () => number): T => list[Math.floor(random() * list.length)]!;

const somewhere = ({ page, random }: Visitor): Place => {
  const { width, height } = page.viewportSize()!;
  return { x: random() * width, y: random() * height };
};

async function drag({ page, random }: Visitor, from: Place): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  const { width } = page.viewportSize()!;
  const [dx, dy] = [(random() - 0.5) * width, (random() - 0.7) * width];
  await page.mouse.move(from.x + dx, from.y + dy, { steps: STEPS });
}

/** Grabs and pulls at a body, or anywhere if the previous visitor left no body in sight. */
async function pull(visitor: Visitor): Promise<void> {
  await drag(visitor, (await surfacePoint(visitor.page)) ?? somewhere(visitor));
}

/** Runs in the page: the middle of a visible control, window pixels; `chance` in [0, 1) selects it. */
function controlAt(chance: number): Place | undefined {
  const controls = [...document.querySelectorAll<HTMLElement>("button, a, input, label")].filter(
    (control) => control.checkVisibility() && !control.matches(":disabled"),
  );
  const control = controls[Math.floor(chance * controls.length)];
  control?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const { x, y, width, height } = control?.getBoundingClientRect() ?? new DOMRect();
  return control && { x: x + width / 2, y: y + height / 2 };
}

/**
 * Clicks at the position of a control, even if it is covered. Playwright's own click describes the control for its log,
 * which creates DOM nodes that stay: they caused all of the growth that was measured.
 */
async function press({ page, random }: Visitor): Promise<void> {
  const at = await page.evaluate(controlAt, random());
  if (at) await page.mouse.click(at.x, at.y);
}

async function twoFingers(visitor: Visitor): Promise<void> {
  const { session, random } = visitor;
  const fingers = [somewhere(visitor), somewhere(visitor)].map((at, id) => ({ ...at, id }));
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: fingers });
  for (let step = 1; step <= STEPS; step++)
    await session.send("Input.dispatchTouchEvent", {
      type: "touchMove",
      touchPoints: fingers.map(({ x, y, id }) => ({ x: x + 6 * step * (id - 0.5), y: y - 3 * step, id })),
    });
  // A third of the touches are still down when the visitor turns away.
  if (random() < 2 / 3) await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

const ACT: readonly ((visitor: Visitor) => Promise<void>)[] = [
  pull,
  pull,
  (visitor) => drag(visitor, somewhere(visitor)),
  ({ page }) => page.mouse.up(),
  ({ page, random }) => page.mouse.wheel(0, (random() - 0.5) * 2000),
  ({ page, random }) => page.keyboard.press(among(PRESSED, random)),
  ({ page, random }) => page.keyboard.press(among(PRESSED, random)),
  press,
  press,
  press,
  ({ page }) => page.keyboard.type("Zoë 7"),
  twoFingers,
];

/** Performs a random number of acts. The last pull is a separate function, below. */
export async function visit(visitor: Visitor): Promise<void> {
  const { page, random } = visitor;
  const count = ACTS.least + Math.floor(random() * ACTS.more);
  for (let act = 0; act < count; act++) {
    await among(ACT, random)(visitor);
    await page.waitForTimeout(PAUSE.least + random() * PAUSE.more);
  }
}

/** The last pull; half of the visitors release it before they leave. */
export async function leave(visitor: Visitor): Promise<void> {
  await pull(visitor);
  if (visitor.random() < 0.5) await visitor.page.mouse.up();
}
