/**
 * The palette, against the real app: an owner gives a room primitives, and members add and remove them. A room without
 * a palette has none, and a scene without place for one is refused.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { hasPalette, type PaletteBase, paletteScene } from "../../../server/objects/palette.ts";
import type { Scene } from "../../../shared/scene/scene.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function post({ url }: TestServer, path: string, body: object, token?: string): Promise<Answer> {
  const answer = await postJson(url + path, body, token);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const sceneOf = async ({ url }: TestServer, room: string): Promise<Scene> =>
  validateScene(await (await fetch(`${url}/api/rooms/${room}/scene`)).json());

const named = (bot: Bot, name: string): number => bot.topology.bodies.findIndex((body) => body.name === name);

describe.each(["none", "sqlite"])("with store %s", (store) => {
  test("a room gets primitives once, from its owner; players add and remove them, and a restart keeps them", async () => {
    const folder = testFolder("palette");
    const start = (): Promise<TestServer> => startTestServer({ store, dataDir: folder, emptyRoomSeconds: 600 });
    let server = await start();
    const made = await post(server, "/api/rooms", { scene: "cube", room: "lab" });
    const owner = String(made.body.token);
    expect(made.body.spawnableBodies).toEqual([]);
    const first = await Bot.join(server.url, "lab", { joinToken: owner });
    first.tune({ gravity: [0, -2, 0] });
    await first.until(() => first.tuned?.tuning.gravity[1] === -2, "the owner's gravity");

    expect((await post(server, "/api/rooms/lab/palette", {})).body.code).toBe("TOKEN_NEEDED");
    // A repeated request waits for the first one.
    const asked = await Promise.all([1, 2].map(() => post(server, "/api/rooms/lab/palette", {}, owner)));
    expect(asked[0]).toMatchObject({ status: 200, body: { added: 13, scene: expect.stringMatching(/^o-/) } });
    expect(asked[1]).toEqual(asked[0]);
    expect((await first.untilClosed()).code).toBe(1012);
    expect(await post(server, "/api/rooms/lab/palette", {}, owner)).toMatchObject({ status: 200, body: { added: 0 } });
    expect(await sceneOf(server, "lab")).toMatchObject({ gravity: [0, -2, 0] });

    if (store === "sqlite") {
      await server.close();
      server = await start();
    }
    const player = await Bot.join(server.url, "lab");
    expect((await Bot.join(server.url, "lab", { joinToken: owner })).welcome.role).toBe("owner");
    const box = named(player, "jelly box");
    expect(player.topology.bodies.filter(({ spawnable }) => spawnable)).toHaveLength(13);
    const absent = (): number[] => (server.app.registry.get("lab").facts.absent.has(box) ? [box] : []);
    expect(absent()).toEqual([box]);
    player.spawn(box, [0, 1, 0]);
    await player.until(() => absent().length === 0, "the box is in the room");
    player.remove(box);
    await player.until(() => absent().length === 1, "the box is out of the room");
    await server.close();
  });
});

describe("a scene", () => {
  const scenes = new URL("../../../scenes/", import.meta.url);
  const read = (file: string): Scene => validateScene(JSON.parse(readFileSync(new URL(file, scenes), "utf8")));
  const base: Omit<PaletteBase, "scene"> = {
    low: [-1, 0, -1],
    high: [1, 1, 1],
    extent: 1,
    particles: 1000,
    worldRadius: 100,
  };
  const files = readdirSync(scenes).filter((file) => file.endsWith(".json") && file !== "schema.json");

  test.each(files)("%s is valid with a palette, and unchanged otherwise", (file) => {
    const scene = read(file);
    expect(hasPalette(scene)).toBe(false);
    const more = paletteScene({ ...base, scene });
    expect(hasPalette(more)).toBe(true);
    const { bodies, ...rest } = more;
    const { bodies: own, ...others } = scene;
    expect(rest).toEqual(others);
    expect(bodies).toHaveLength(own.length + 13);
    // Bodies of a method pass through primitives; all else stays.
    const without = ({ contact: _, ...body }: Scene["bodies"][number]): object => body;
    expect(bodies.slice(0, own.length).map(without)).toEqual(own.map(without));
  });

  test("of more particles gets fewer primitives; one without place for them is refused with the limit", () => {
    const scene = read("jelly-stack.json");
    expect(paletteScene({ ...base, scene, particles: 8001 }).bodies).toHaveLength(scene.bodies.length + 7);
    const refused = (more: Partial<PaletteBase>): unknown => {
      try {
        return paletteScene({ ...base, scene, ...more });
      } catch (error) {
        return { code: (error as { code: string }).code, ...(error as { details: object }).details };
      }
    };
    expect(refused({ particles: 20_001 })).toEqual({
      code: "NO_PALETTE",
      field: "particles",
      value: 20_001,
      limit: 20_000,
    });
    const bodies = Array.from({ length: 244 }, (_, n) => ({ ...scene.bodies[0]!, name: `body ${n}` }));
    expect(refused({ scene: { ...scene, bodies } })).toMatchObject({ code: "NO_PALETTE", field: "bodies", value: 244 });
    expect(refused({ worldRadius: 2 })).toMatchObject({ code: "NO_PALETTE", field: "worldRadius", value: 2 });
  });
});
