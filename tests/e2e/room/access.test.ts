/** Access control in the page: an owner who kicks and locks, a spectator with a link, a password prompt. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { drawn, noBrowser, press, PATIENCE_MS, surfaceUnderMiddle, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";
import { postJson } from "../../support/request.ts";

const stage = useStage({}, { fewPictures: true });

interface Owned {
  owner: Page;
  path: string;
  room: string;
}

/** Only the owner sees the kick buttons, and they work. */
async function putsOut({ owner, path }: Owned): Promise<void> {
  const guest = await drawn(await stage.visit(path));
  expect(await guest.locator(".people .out").count()).toBe(0);
  expect(await guest.locator(".access").isVisible()).toBe(false);
  await owner.click(".people .out");
  await stage.shoot(owner, "put-out");
  await owner.click('.people [role="menuitem"]:first-of-type');
  await guest.waitForSelector(".message h1");
  expect(await guest.textContent(".message h1")).toBe("You were kicked from this room");
  await owner.waitForFunction(() => document.querySelectorAll(".people li").length === 1);
  // The owner keeps the role after a reload.
  await owner.reload();
  await owner.waitForSelector(".access:not([hidden])", { state: "attached" });
}

/** A spectator's link leaves no token in the address, shows the room, and does not allow grabs. */
async function letsLook({ owner, path, room }: Owned): Promise<void> {
  const token = await owner.evaluate(
    (name) => (JSON.parse(localStorage.getItem("pliant.tokens")!) as Record<string, string>)[name],
    room,
  );
  const answer = await postJson(`${stage.url}/api/tokens`, { room, role: "spectator" }, token);
  const spectator = await stage.visit(((await answer.json()) as { path: string }).path);
  await drawn(spectator);
  expect(new URL(spectator.url()).pathname + new URL(spectator.url()).hash).toBe(path);
  await owner.waitForSelector('.people li[data-role="spectator"]');
  expect(await spectator.locator('[title^="Start the scene again"]').isDisabled()).toBe(true);
  const held = await surfaceUnderMiddle(spectator);
  await spectator.mouse.move(held.x, held.y);
  await spectator.mouse.down();
  await spectator.mouse.move(held.x, held.y - 60, { steps: 5 });
  expect(await spectator.evaluate(() => window.pliant.grabs().length)).toBe(0);
  await spectator.mouse.up();
  await stage.shoot(spectator, "spectator");
}

/**
 * The page asks for a password, asks again after a wrong one, and lets in with the right one. Then the room is locked.
 */
async function closes({ owner, path, room }: Owned): Promise<void> {
  await press(owner, ".access .tool");
  await owner.fill("#access-password", "open sesame");
  await owner.click('.access-panel form button[type="submit"]');
  await until(
    owner,
    () => document.querySelector<HTMLInputElement>("#access-password")!.placeholder === "one is set",
    undefined,
  );
  await stage.shoot(owner, "access");
  const guest = await stage.visit(path);
  await guest.waitForSelector("form.password");
  expect(await guest.textContent(".message h1")).toBe("This room has a password");
  await guest.fill("form.password input", "open barley");
  await guest.press("form.password input", "Enter");
  await guest.waitForFunction(() => document.querySelector(".message h1")?.textContent === "That is not the password");
  await stage.shoot(guest, "password");
  await guest.fill("form.password input", "open sesame");
  await guest.press("form.password input", "Enter");
  await drawn(guest);
  await owner.check("#access-locked");
  await expect.poll(() => stage.app.registry.get(room).access.locked, { timeout: PATIENCE_MS }).toBe(true);
  const late = await stage.visit(path);
  await late.waitForFunction(() => document.querySelector(".message h1")?.textContent === "This room is locked");
}

/** A page whose topology still loads when the room ends shows the message, and builds no room when it arrives. */
async function endsWhileLoading(): Promise<void> {
  const { name, path } = await stage.room("jelly-stack");
  const visitor = await stage.visit("/");
  let arrive = (): void => {};
  const held = new Promise<void>((resolve) => (arrive = resolve));
  let asked = false;
  await visitor.route("**/api/topologies/**", async (route) => {
    asked = true;
    await held;
    await route.continue();
  });
  await visitor.goto(stage.url + path);
  await expect.poll(() => asked, { timeout: PATIENCE_MS }).toBe(true);
  await stage.app.registry.remove(name);
  await visitor.waitForSelector(".message h1");
  const title = await visitor.title();
  const address = visitor.url();
  const answered = visitor.waitForResponse("**/api/topologies/**");
  arrive();
  await (await answered).finished();
  // The page handles the topology within the tasks that are queued now.
  await visitor.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve))));
  expect([await visitor.title(), visitor.url()]).toEqual([title, address]);
  expect(await visitor.locator("canvas").count()).toBe(0);
  expect(await visitor.locator(".message h1").count()).toBe(1);
}

describe.skipIf(noBrowser)("access", () => {
  test("a room that ends while its page loads leaves only the message", endsWhileLoading);

  test("the creator of a room owns it: kicks members, makes spectators, sets a password and locks it", async () => {
    const owner = await stage.visit("/");
    await owner.click('.card[data-scene="jelly-stack"]');
    await owner.waitForURL("**/r/*");
    await drawn(owner);
    const path = new URL(owner.url()).pathname;
    await owner.waitForSelector(".access:not([hidden])", { state: "attached" });
    const owned = { owner, path, room: path.slice("/r/".length) };
    await putsOut(owned);
    await letsLook(owned);
    await closes(owned);
  });
});
