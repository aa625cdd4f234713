/**
 * The operators' page in a real browser: no access without the token, rooms with their members and figures, kick, ban,
 * dispose, and all of it in the audit log.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { Bot } from "../../../load-tests/bot.ts";
import { decodeRecording } from "../../../server/persistence/recording.ts";
import { STORE_FILE } from "../../../server/store/openStore.ts";
import { HttpErrors } from "../../../shared/errorCodes.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { ADMIN_TOKEN, downloaded, noBrowser, openStage, toasted, until, type E2e, PATIENCE_MS } from "../pageStage.ts";
import { testFolder } from "../../support/testFolder.ts";

async function enterAdmin(stage: E2e, options = {}): Promise<Page> {
  const page = await stage.visit("/admin", { viewport: { width: 1280, height: 900 }, ...options });
  await page.fill(".admin-login input", ADMIN_TOKEN);
  await page.press(".admin-login input", "Enter");
  await page.waitForSelector(".admin .summary");
  return page;
}

const row = (page: Page, room: string) => page.locator(`tbody[data-room="${room}"]`);

/** Quarantines a damaged piece of the room's journal, as a takeover does. */
function putAside(folder: string, room: string, bytes: Uint8Array): void {
  // The server may be writing at that moment.
  const file = new DatabaseSync(join(folder, STORE_FILE), { timeout: PATIENCE_MS });
  try {
    file
      .prepare("INSERT INTO set_aside (room, what, tick, after_tick, reason, at, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)")
      .run(room, "journal", 90, 60, "its checksum is wrong", new Date(0).toISOString(), bytes);
  } finally {
    file.close();
  }
}

describe.skipIf(noBrowser)("operations", () => {
  let stage: E2e;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage?.close());
  afterEach(async () => {
    await stage.leave();
    for (const { name } of stage.app.registry.list()) await stage.app.registry.remove(name);
    expect(stage.takeErrors()).toEqual([]);
  });

  const enter = (options = {}): Promise<Page> => enterAdmin(stage, options);
  const cell = (page: Page, room: string, column: string) => row(page, room).locator(`td[data-column="${column}"]`);

  test("the page of the HTTP API shows no logo of another program", async () => {
    const page = await stage.visit("/docs");
    await page.waitForSelector(".swagger-ui .info");
    await page.waitForSelector(".topbar", { state: "hidden" });
  });

  test("without an admin's token the page shows no data and says why", async () => {
    const page = await stage.visit("/admin");
    await page.fill(".admin-login input", "wrong");
    await page.press(".admin-login input", "Enter");
    await page.waitForSelector(".admin-login .problem:not([hidden])");
    expect(await page.textContent(".admin-login .problem")).toBe("This is not an admin token of this server.");
    expect(await page.locator("table").count()).toBe(0);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    await stage.shoot(page, "admin-login");
    // The browser reports an answer of 401 as an error of the page.
    expect(stage.takeErrors()).toEqual([expect.stringContaining("status of 401")]);
  });

  test("shows every room with its scene, owner, members and figures, and keeps them current", async () => {
    const { name } = await stage.room("jelly-stack");
    const quiet = await stage.room("jelly-stack");
    const bot = await Bot.join(stage.url, name, { name: "Finch" });
    await bot.frames(30);
    const page = await enter();
    expect(await page.locator("tbody").count()).toBe(2);
    expect(await cell(page, name, "columnScene").textContent()).toBe("jelly-stack");
    expect(await cell(page, name, "columnOwner").textContent()).toMatch(new RegExp(`:${process.pid}$`));
    expect(await cell(page, name, "columnMembers").textContent()).toBe("1");
    expect(await cell(page, quiet.name, "columnMembers").textContent()).toBe("0");
    expect(await cell(page, quiet.name, "columnTick").textContent()).toBe("0");
    const [mean, p99] = await Promise.all(
      ["columnStepMean", "columnStepP99"].map(async (column) =>
        Number.parseFloat((await cell(page, name, column).textContent())!),
      ),
    );
    expect(mean).toBeGreaterThan(0);
    expect(p99).toBeGreaterThanOrEqual(mean!);
    expect(await cell(page, name, "columnCheckpoint").textContent()).toMatch(/^(–|\d+ s)$/);
    await until(
      page,
      (room) =>
        Number.parseFloat(
          document.querySelector(`tbody[data-room="${room}"] td[data-column="columnThread"]`)?.textContent ?? "",
        ) > 0,
      name,
    );
    expect(await cell(page, quiet.name, "columnThread").textContent()).toBe("0 %");
    expect(await cell(page, name, "columnMemory").textContent()).toMatch(/^\d+ MB \/ [1-9]\d* MB$/);
    await stage.shoot(page, "admin-rooms");
    const tick = Number(await cell(page, name, "columnTick").textContent());
    await until(
      page,
      ([room, tick]) =>
        Number(document.querySelector(`tbody[data-room="${room}"] td[data-column="columnTick"]`)?.textContent) >
        Number(tick),
      [name, tick] as const,
    );
    expect(await page.textContent(".summary")).toMatch(/^2 rooms, 1 member, the slowest at \d+ % of real time$/);
    await bot.leave();
  });

  test("shows uploaded files, and deletes one after confirmation", async () => {
    const bring = async (name: string, corners: string): Promise<string> => {
      const sent = await fetch(`${stage.url}/api/objects?name=${name}`, {
        method: "POST",
        body: `${corners}f 1 2 3\n`,
      });
      return ((await sent.json()) as { object: string }).object;
    };
    const object = await bring("a<b>.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    const other = await bring("b.obj", "v 0 0 0\nv 2 0 0\nv 0 1 0\n");
    const page = await enter();
    const entry = page.locator(`.objects li[data-object="${object}"]`);
    await entry.waitFor();
    expect(await entry.textContent()).toMatch(/a<b>\.obj.*127\.0\.0\.1, \d+ k?B, 0 rooms/);
    expect(await page.textContent('section[aria-label="Files of visitors"] .summary')).toMatch(
      /^2 of 200, 0 MB of 512 MB$/,
    );
    await stage.shoot(page, "admin-objects");
    await entry.locator('[data-action="delete"]').click();
    expect(await entry.locator('[data-action="delete"]').textContent()).toBe("Delete it for everyone?");
    await entry.locator('[data-action="delete"]').click();
    await page.waitForSelector('.audit li[data-action="object-delete"]');
    await entry.waitFor({ state: "detached" });
    expect((await fetch(`${stage.url}/api/objects/${object}`)).status).toBe(404);
    expect((await fetch(`${stage.url}/api/objects/${other}`)).status).toBe(200);
  });

  test("kicks members, bans them, ends rooms only after confirmation, and logs all of it in the audit log", async () => {
    const { name } = await stage.room("jelly-stack");
    const bot = await Bot.join(stage.url, name, { name: "Heron" });
    const page = await enter();
    await row(page, name).locator(".toggle").click();
    const member = row(page, name).locator(`li[data-member="${bot.welcome.member}"]`);
    expect(await member.textContent()).toContain("Heron");
    expect(await member.textContent()).toContain(`session ${bot.welcome.session}`);
    await stage.shoot(page, "admin");

    await member.locator('[data-action="kick"]').click();
    expect((await bot.untilClosed()).code).toBe(CloseCode.kicked);
    await page.waitForSelector('.audit li[data-action="kick"]');
    const again = await Bot.join(stage.url, name, { name: "Heron" });
    // The opened row stays open while its members change.
    const back = row(page, name).locator(`li[data-member="${again.welcome.member}"]`);
    await back.locator('[data-action="ban"]').click();
    expect((await again.untilClosed()).code).toBe(CloseCode.kicked);
    await page.waitForSelector('.audit li[data-action="ban"]');
    await expect(Bot.join(stage.url, name)).rejects.toThrow();
    await until(
      page,
      (room) => /1 banned/.test(document.querySelector(`tbody[data-room="${room}"] .badges`)?.textContent ?? ""),
      name,
    );

    const dispose = row(page, name).locator('[data-action="dispose"]');
    await dispose.click();
    expect(await dispose.textContent()).toBe("End it for everyone?");
    expect(stage.app.registry.find(name)).toBeDefined();
    // The question is asked anew if confirming takes more than 4 s.
    await dispose.evaluate((button) => {
      const asks = button.textContent === "End it for everyone?";
      for (let press = asks ? 1 : 0; press < 2; press++) (button as HTMLElement).click();
    });
    await row(page, name).waitFor({ state: "detached" });
    expect(stage.app.registry.find(name)).toBeUndefined();
    await page.waitForSelector('.audit li[data-action="dispose"]');
    expect(await page.locator('.audit li[data-action="dispose"]').first().textContent()).toContain(name);
    await page.waitForSelector(".admin .none:not([hidden])");
    await stage.shoot(page, "admin-audit");
  });

  test("a room is found among many by a member's name; on a phone each is a card, and nothing is wider than the screen", async () => {
    const rooms = await Promise.all(Array.from({ length: 7 }, () => stage.room("jelly-stack")));
    const bot = await Bot.join(stage.url, rooms[3]!.name, { name: "Needle" });
    const page = await enter();
    const shown = () => page.locator("tbody:visible").evaluateAll((all) => all.map((body) => body.dataset.room));
    expect((await shown()).sort()).toEqual(rooms.map(({ name }) => name).sort());
    await page.fill('input[type="search"]', "  NEEDLE ");
    expect(await shown()).toEqual([rooms[3]!.name]);
    // An announcement reaches only the rooms that match the search.
    const guest = await stage.visit(rooms[3]!.path);
    const elsewhere = await Bot.join(stage.url, rooms[4]!.name);
    await guest.waitForSelector(".people li");
    await page.fill('input[name="announcement"]', "Closing <b>soon</b>");
    await page.press('input[name="announcement"]', "Enter");
    await toasted(guest, "Closing <b>soon</b>");
    await bot.until(() => bot.notices.some(({ code }) => code === "ANNOUNCEMENT"), "the announcement");
    await page.waitForSelector('.audit li[data-action="announce"]');
    expect(await page.locator('.audit li[data-action="announce"]').count()).toBe(1);
    expect(elsewhere.notices).toEqual([]);
    await elsewhere.leave();
    await page.fill('input[type="search"]', "nobody has this name");
    expect(await shown()).toEqual([]);
    expect(await page.textContent(".admin .table > .none:not([hidden])")).toBe("No room matches.");
    await page.fill('input[type="search"]', "");
    await page.setViewportSize({ width: 390, height: 664 });
    await row(page, rooms[3]!.name).locator(".toggle").click();
    await page.waitForSelector(`li[data-member="${bot.welcome.member}"]`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    const tooWide = await page.evaluate(() => {
      const table = document.querySelector(".admin .table")!;
      return table.scrollWidth - table.clientWidth;
    });
    expect(tooWide).toBeLessThanOrEqual(0);
    await stage.shoot(page, "admin-phone");
    await bot.leave();
  });

  test("the download of a room's recording is a valid recording", async () => {
    const { name } = await stage.room("jelly-stack");
    const bot = await Bot.join(stage.url, name);
    await bot.frames(20);
    const page = await enter();
    await row(page, name).locator(".toggle").click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      row(page, name).locator('[data-action="download"]').click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^${name}-\\d+\\.pliant$`));
    const recording = decodeRecording(await downloaded(download));
    expect(recording.scene).toBe("jelly-stack");
    expect(recording.until).toBeGreaterThan(recording.from);
    await page.waitForSelector('.audit li[data-action="recording"]');
    await bot.leave();
  });

  test("a quarantined room shows the reason, and resumes or is deleted as the operator chooses", async () => {
    const { name } = await stage.room("jelly-stack");
    const page = await enter();
    expect(await row(page, name).locator('[data-action="end-quarantine-end"]').isHidden()).toBe(true);
    const quarantined = { reason: "steps", since: new Date(0).toISOString(), details: "step failed 4 times in 10 s" };
    const stuck = {
      room: "stuck",
      scene: "cube",
      owner: null,
      members: 0,
      pool: "shared",
      createdAt: quarantined.since,
      quarantined,
    };
    const asked: unknown[] = [];
    await page.route("**/api/admin/rooms", (route) => route.fulfill({ json: { rooms: [stuck] } }));
    await page.route("**/api/admin/rooms/stuck/end-quarantine", (route) => {
      asked.push(route.request().postDataJSON());
      return route.fulfill({ status: 204 });
    });
    await row(page, "stuck").locator(".badges", { hasText: "quarantined: steps" }).waitFor();
    await row(page, "stuck").locator(".toggle").click();
    expect(await row(page, "stuck").locator(".members").textContent()).toBe(quarantined.details);
    for (const from of ["end", "start"])
      await row(page, "stuck").locator(`[data-action="end-quarantine-${from}"]`).click();
    await until(page, () => window.toasted.length === 2, undefined);
    expect(asked).toEqual([{ from: "end" }, { from: "start" }]);
    await stage.shoot(page, "admin-quarantined");
  });

  test("a refusal of the server is shown, and the page keeps working", async () => {
    const { name } = await stage.room("jelly-stack");
    const page = await enter();
    await row(page, name).locator(".toggle").click();
    await row(page, name).locator('[data-action="hand-over"]').click();
    await toasted(page, HttpErrors.NO_STORE.text);
    expect(stage.takeErrors()).toEqual([expect.stringContaining(`status of ${HttpErrors.NO_STORE.status}`)]);
    await cell(page, name, "columnTick").waitFor();
  });

  test("the token stays in its tab: it survives a reload, but not leaving, and another visitor's tab does not have it", async () => {
    const page = await enter();
    await page.reload();
    await page.waitForSelector(".admin .summary");
    expect(await page.evaluate(() => [Object.values({ ...localStorage }).join(""), document.cookie])).toEqual(["", ""]);
    expect(await page.content()).not.toContain(ADMIN_TOKEN);
    await page.click('[data-action="leave"]');
    await page.waitForSelector(".admin-login");
    await page.reload();
    await page.waitForSelector(".admin-login");
    await (await stage.visit("/admin")).waitForSelector(".admin-login");
  });

  test("phones: only the table scrolls sideways", async () => {
    await stage.room("jelly-stack");
    const page = await enter({
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
      colorScheme: "dark",
    });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await stage.shoot(page, "admin-phone-dark");
  });
});

test.skipIf(noBrowser)("quarantined data of a room is listed, downloaded as stored, and deleted", async () => {
  const folder = testFolder("admin");
  const stage = await openStage({ store: "sqlite", dataDir: folder });
  try {
    const { name } = await stage.room("jelly-stack");
    const bytes = Uint8Array.from({ length: 3000 }, (_, i) => i % 251);
    putAside(folder, name, bytes);
    const page = await enterAdmin(stage);
    await row(page, name).locator(".toggle").click();
    const piece = row(page, name).locator("[data-piece]");
    await piece.waitFor();
    const said = await piece.textContent();
    for (const part of ["journal, tick 90", "its checksum is wrong", "3 kB"]) expect(said).toContain(part);
    await stage.shoot(page, "admin-quarantined-pieces");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      piece.locator('[data-action="download-piece"]').click(),
    ]);
    expect(Buffer.compare(await downloaded(download), bytes)).toBe(0);
    await piece.locator('[data-action="delete-piece"]').click();
    await piece.waitFor({ state: "detached" });
    expect(await row(page, name).locator(".quarantined-pieces").isHidden()).toBe(true);
    expect(stage.takeErrors()).toEqual([]);
  } finally {
    await stage.close();
  }
});
