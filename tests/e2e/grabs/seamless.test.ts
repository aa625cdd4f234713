/**
 * A grab responds in the next animation frame and blends into the server's motion without a visible jump. This is
 * tested on cloth and on a body under a detail mesh, alone and against another grab. The connections have several
 * qualities, with real sockets (`tests/support/slowLine.ts`). Positions are the drawn ones, picture by picture
 * (`drawnPictures.ts`).
 *
 * The bound: the local bend at a vertex is w sat(RESPONSE (h - e)). h is the page's own target, e the server's target
 * at the displayed time, w <= 1, sat 1-Lipschitz (`client/view/grabs/localBend.ts`). Between two pictures it changes by
 * at most RESPONSE (|dh| + |de|), the motion of the two targets. Neither grab nor body explains a larger jump. Here e
 * comes from the socket's messages, one for each frame, interpolated linearly as frames are.
 */
import { decode } from "@msgpack/msgpack";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parseServerMessage } from "../../../shared/protocol/fromServer.ts";
import { float32Of, uint32Of } from "../../../shared/bytes.ts";
import { BEND_RADIUS, LIMIT, RESPONSE } from "../../../client/view/grabs/localBend.ts";
import { Bot, type Point } from "../../../load-tests/bot.ts";
import { createSkin, evaluateSkinInto } from "../../../shared/skinning/index.ts";
import type { Topology } from "../../../shared/topology.ts";
import { openSlowLine, PERFECT, type LineQuality, type SlowLine } from "../../support/slowLine.ts";
import { inLong } from "../../support/run/long.ts";
import { record, recorded, wave, type Picture } from "../drawnPictures.ts";
import {
  drawn,
  noBrowser,
  openStage,
  surfaceUnderMiddle,
  takeHold,
  until,
  type E2e,
  PATIENCE_MS,
} from "../pageStage.ts";
import { testFolder } from "../../support/testFolder.ts";

/**
 * Small, and without self-contact: their ticks keep time on a busy machine, because only the picture is judged here.
 */
const SCENES = {
  cloth: {
    version: 1,
    title: "Cloth",
    description: "Hangs from its upper edge.",
    tickHz: 60,
    substeps: 6,
    iterations: 1,
    damping: 2,
    camera: { position: [0, 1.1, 2.2], target: [0, 1, 0] },
    interaction: { grabCompliance: 0.001, grabMaxForce: 30, grabRadius: 0.1, maxImpulse: 1 },
    bodies: [
      {
        name: "cloth",
        kind: "cloth",
        mesh: { type: "grid", size: [1, 1], cells: [16, 16] },
        transform: { rotate: [90, 0, 0], translate: [0, 1, 0] },
        contact: { self: false },
        material: { density: 250, thickness: 0.001, youngsModulus: 20000, poissonsRatio: 0.3 },
        pins: [{ select: { box: { min: [-1, 1.49, -1], max: [1, 2, 1] } } }],
      },
    ],
    colliders: [{ type: "plane", name: "floor", normal: [0, 1, 0], offset: 0 }],
  },
  skinned: {
    version: 1,
    title: "Skinned",
    description: "A coarse body under a fine skin.",
    tickHz: 60,
    substeps: 8,
    iterations: 1,
    damping: 2,
    camera: { position: [0.5, 0.5, 1.1], target: [0, 0.2, 0] },
    interaction: { grabCompliance: 0.0005, grabMaxForce: 150, maxImpulse: 8 },
    bodies: [
      {
        name: "bunny",
        kind: "soft",
        mesh: { type: "package", package: "bunny" },
        transform: { fitHeight: 0.4, translate: [0, 0.02, 0] },
        tetrahedralize: { spacing: 0.05 },
        contact: { self: false },
        // At this coarseness it would be integrated implicitly, at eight times the cost of a tick.
        solver: "compliant",
        material: { density: 300, youngsModulus: 40000, poissonsRatio: 0.4, friction: 0.7 },
      },
    ],
    colliders: [{ type: "plane", name: "floor", normal: [0, 1, 0], offset: 0, friction: 0.7 }],
  },
};
type SceneName = keyof typeof SCENES;
const SEND_TICKS = 2;

const FAR: LineQuality = { delayMs: 100, jitterMs: 60, loss: 0.01, retransmitMs: 200 };
const LINES: [string, LineQuality][] = [
  ["a perfect line", PERFECT],
  ["100 ms more and 20 ms of jitter", { delayMs: 50, jitterMs: 20, loss: 0, retransmitMs: 200 }],
  ["200 ms more, 60 ms of jitter, losses", FAR],
];

/** One acknowledged grab of this page: [tick, target or undefined]. */
type Telling = [number, Point | undefined];

/** float32 positions of up to 2 m on both sides of two subtractions. */
const ROUNDING = 4 * 2 ** -23;

const distance = (a: readonly number[], b: readonly number[]): number => Math.hypot(...a.map((x, r) => x - b[r]!));

/**
 * e at a tick: linear over the interval before each message, constant after the last one. Before the first message it
 * is the grabbed point, at the end the point of release.
 */
function serverHand(
  told: readonly Telling[],
  tick: number,
  begin: readonly number[],
  end: readonly number[],
): number[] {
  const points = told.map(([at, target]) => ({ at, target: target ?? end }));
  let before = begin;
  for (const { at, target } of points) {
    const t = Math.min(1, Math.max(0, (tick - (at - SEND_TICKS)) / SEND_TICKS));
    if (t < 1) return before.map((x, r) => x + (target[r]! - x) * t);
    before = target;
  }
  return [...before];
}

/** Largest change of a vertex between two pictures. */
function jump(a: Float32Array | Float64Array, b: Float32Array | Float64Array): number {
  let largest = 0;
  for (let i = 0; i < a.length; i += 3)
    largest = Math.max(largest, Math.hypot(b[i]! - a[i]!, b[i + 1]! - a[i + 1]!, b[i + 2]! - a[i + 2]!));
  return largest;
}

const difference = <T extends Float32Array | Float64Array>(a: T, b: T): T => a.map((x, i) => x - b[i]!) as T;
const addedTo = ({ displayed, sampled }: Picture): Float32Array => difference(displayed, sampled);

/** A detail mesh on the particles. */
interface Skinning {
  /** float64[3V] m */
  evaluate: (particles: Float32Array) => Float64Array;
  /** Greatest distance of its vertices from the surface, over the greatest offset. */
  reach: number;
  /** Greatest rotation of a normal by the greatest offset. */
  turn: number;
}

/** Pictures from before a grab until the local bend is zero. */
interface Pull {
  pictures: Picture[];
  /** Where the grab began and ended, m. */
  begin: number[];
  end: number[];
}

/**
 * Expects every picture between two consecutive frames, and none older than the one before.
 * @returns the number of pictures whose two frames are both known
 */
function liesBetween(
  pictures: readonly Picture[],
  frames: readonly { tick: number; ints: number[] }[],
  quantum: number,
): number {
  let between = 0;
  for (const [k, { tick, sampled, crossFading }] of pictures.entries()) {
    expect(tick).toBeLessThanOrEqual(frames.at(-1)!.tick);
    if (k > 0) expect(tick).toBeGreaterThanOrEqual(pictures[k - 1]!.tick);
    const next = frames.findIndex((frame) => frame.tick >= tick);
    const a = frames[next - 1];
    const b = frames[next];
    if (!a || !b || crossFading) continue;
    const alpha = Math.max(0, (tick - Math.max(a.tick, b.tick - SEND_TICKS)) / Math.min(SEND_TICKS, b.tick - a.tick));
    between++;
    // float32 of 2 m, by three operations.
    for (let i = 0; i < sampled.length; i++)
      expect(Math.abs(sampled[i]! - quantum * (a.ints[i]! + (b.ints[i]! - a.ints[i]!) * alpha))).toBeLessThan(
        2 * 3 * 2 ** -23,
      );
  }
  return between;
}

describe.skipIf(noBrowser)("a pull responds at once and without a visible jump", () => {
  const folder = testFolder("seamless");
  let stage: E2e;
  let line: SlowLine;
  beforeAll(async () => {
    for (const [name, scene] of Object.entries(SCENES))
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(scene));
    stage = await openStage({ scenesDir: folder });
    line = await openSlowLine(stage.url);
  });
  afterAll(async () => {
    await line?.close();
    await stage?.close();
  });
  afterEach(async () => {
    await stage.leave();
    expect(stage.takeErrors()).toEqual([]);
  });

  /** A page on the slow connection, and the acknowledgements of its own grabs. */
  const visit = async (path: string): Promise<{ page: Page; told: Telling[] }> => {
    line.quality = PERFECT;
    const told: Telling[] = [];
    let member = 0;
    const page = await stage.visit(
      `${path}?quality=6`,
      { viewport: { width: 300, height: 220 } },
      {
        through: line.url,
        prepare: (page) =>
          page.on("websocket", (socket) =>
            socket.on("framereceived", ({ payload }) => {
              const event = parseServerMessage(Uint8Array.from(payload as Buffer).buffer);
              if (event?.type === "welcome") member = event.welcome.member;
              if (event?.type !== "grabs") return;
              const own = event.members.find((hand) => hand.member === member);
              if (own && (own.grabs.length > 0 || told.length > 0)) told.push([event.tick, own.grabs[0]?.target]);
            }),
          ),
      },
    );
    await drawn(page);
    return { page, told };
  };

  /** Waits for the last messages of a released grab, so that they do not mix with those of the next grab. */
  const released = (told: readonly Telling[]): Promise<void> =>
    expect
      .poll(() => told.length > 0 && told.at(-1)![1] === undefined, { timeout: PATIENCE_MS, interval: 100 })
      .toBe(true);

  /** Grabs the middle, waves, lets go at speed. */
  const pull = async (page: Page, told: Telling[]): Promise<Pull> => {
    const at = await surfaceUnderMiddle(page);
    told.length = 0;
    await record(page);
    const hand = await wave(page, { from: at, amplitude: { x: 30, y: 18 }, period: 1100, holdMs: inLong(2500, 1500) });
    await page.waitForTimeout(300);
    await until(
      page,
      () => {
        const displayed = window.pliant.displayed();
        return window.pliant.sampled().every((x, i) => x === displayed[i]);
      },
      undefined,
    );
    const { pictures } = await recorded(page);
    await released(told);
    return { ...hand, pictures };
  };

  /** The largest change of the local bend over the change that the targets explain, and the largest local bend. */
  const judge = (
    { pictures, begin, end }: Pull,
    told: readonly Telling[],
    skin?: Skinning,
  ): { explained: number; largest: number; skinned: number } => {
    const firstHeld = pictures.findIndex(({ hand }) => hand);
    // Rounding of normals: float32 positions of 1 m over triangles of 4 cm and more.
    const SKIN_ROUNDING = 25 * ROUNDING;
    let explained = 0;
    let largest = 0;
    let skinned = 0;
    const bent =
      skin && pictures.map(({ displayed, sampled }) => [skin.evaluate(displayed), skin.evaluate(sampled)] as const);
    for (const [k, b] of pictures.entries()) {
      const a = pictures[k - 1];
      if (!a) continue;
      const handA = a.hand ?? (k <= firstHeld ? begin : end);
      const handB = b.hand ?? (k < firstHeld ? begin : end);
      const hands =
        distance(handA, handB) + distance(serverHand(told, a.tick, begin, end), serverHand(told, b.tick, begin, end));
      const addedA = addedTo(a);
      const addedB = addedTo(b);
      largest = Math.max(largest, jump(new Float32Array(addedB.length), addedB));
      explained = Math.max(explained, (jump(addedA, addedB) - ROUNDING) / (RESPONSE * hands + ROUNDING));
      if (!skin || !bent) continue;
      const [toA, fromA] = bent[k - 1]!;
      const [toB, fromB] = bent[k]!;
      const added = jump(difference(toA, fromA), difference(toB, fromB));
      const allowed =
        (1 + skin.reach * skin.turn) * RESPONSE * hands +
        skin.turn * (jump(fromA, fromB) + 2 * jump(a.sampled, b.sampled));
      skinned = Math.max(skinned, (added - SKIN_ROUNDING) / (allowed + SKIN_ROUNDING));
    }
    return { explained, largest, skinned };
  };

  /** The grabbed point has moved in the first picture after the pointer's event. */
  const answersAtOnce = async (page: Page, scene: SceneName): Promise<void> => {
    const at = await takeHold(page);
    await until(page, () => window.pliant.grabs().length === 1, undefined);
    await record(page);
    await until(page, () => window.recording!.pictures.length > 0, undefined);
    await page.mouse.move(at.x + 14, at.y - 10);
    await until(
      page,
      () => {
        const [move] = window.moves!;
        return move && window.recording!.pictures.some(({ ms }) => ms >= move.handledMs);
      },
      undefined,
    );
    const { pictures, moves } = await recorded(page);
    expect(moves.length).toBe(1);
    const first = pictures.findIndex(({ ms }) => ms >= moves[0]!.handledMs);
    expect(first).toBeGreaterThan(0);
    // Before it there was no local bend: the pointer had not moved.
    expect(jump(pictures[first - 1]!.displayed, pictures[first - 1]!.sampled)).toBeLessThan(ROUNDING);
    expect(jump(pictures[first]!.displayed, pictures[first]!.sampled)).toBeGreaterThan(
      0.3 * RESPONSE * distance(pictures[first]!.hand!, pictures[first - 1]!.hand!),
    );
    await stage.shoot(page, `answer-${scene}`);
    await page.mouse.up();
  };

  /**
   * A vertex of the skin is a point of the surface plus d along the normal N. The point moves at most as far as the
   * particles. The local bend turns N by its slope: at most 1.54 / radius times the offset (and at most LIMIT radius).
   * This is divided by the local compression of the surface (at most one half in these pulls) and by the bend of the
   * offset itself (1 - 0.54): `turn` at most, or 2.3. If the offset stays and the body moves, that rotation moves with
   * it. It moves by at most itself times N's own motion (d |dN| <= that of the skin's vertex and of the point
   * together), and once more the point's motion for the strain of the surface.
   */
  const skinOf = async (page: Page): Promise<Skinning> => {
    const topology = decode(
      new Uint8Array(
        await (
          await fetch(`${stage.url}/api/topologies/${await page.evaluate(() => window.pliant.topology)}`)
        ).arrayBuffer(),
      ),
    ) as Topology;
    const body = topology.bodies[0]!;
    const detail = body.detail!;
    const rest = float32Of(body.rest);
    const attachCoords = float32Of(detail.attachCoords);
    const attachTriangle = uint32Of(detail.attachTriangle);
    const skin = createSkin({
      rest,
      triangles: uint32Of(body.triangles),
      detailTriangles: uint32Of(detail.triangles),
      attachTriangle,
      attachCoords,
    });
    const normals = new Float64Array(3 * attachTriangle.length);
    const evaluate = (particles: Float32Array): Float64Array => {
      const positions = new Float64Array(3 * attachTriangle.length);
      evaluateSkinInto(skin, particles, positions, normals);
      return positions;
    };
    const farthest = attachCoords.reduce((most, d, i) => (i % 3 === 2 ? Math.max(most, Math.abs(d)) : most), 0);
    const box = [0, 1, 2].map((r) => {
      const along = rest.filter((_, i) => i % 3 === r);
      return Math.max(...along) - Math.min(...along);
    });
    const radius = (BEND_RADIUS * Math.hypot(...box)) / 2;
    const bent = 0.5 * (1 - 1.54 * LIMIT);
    return { evaluate, reach: farthest / (LIMIT * radius), turn: (1.54 * LIMIT) / bent };
  };

  /** Another member's moving grab on the same body. @returns a function that ends it */
  const otherHand = async (room: string): Promise<() => Promise<void>> => {
    const bot = await Bot.join(stage.url, room);
    const triangle = Math.floor(bot.topology.bodies[0]!.triangles.byteLength / 12 / 3);
    const at = { body: 0, triangle, u: 0.3, v: 0.3 };
    const from = bot.surfacePosition(at);
    bot.grab(1, at, from);
    let step = 0;
    const timer = setInterval(
      () => bot.move(1, [from[0] - 0.15 * Math.sin(++step / 8), from[1] + 0.1, from[2] + 0.15 * Math.sin(step / 5)]),
      33,
    );
    return () => {
      clearInterval(timer);
      return bot.leave();
    };
  };

  const expectNoPop = (pulled: Pull, told: readonly Telling[], what: string, skin?: Skinning): void => {
    const { explained, largest, skinned } = judge(pulled, told, skin);
    expect(largest, what).toBeGreaterThan(0.01);
    expect(explained, what).toBeLessThanOrEqual(1);
    expect(skinned, what).toBeLessThanOrEqual(1);
  };

  /** The short form tests each connection, the response and the opposing grab on one of the two bodies only. */
  const IN_SHORT = {
    cloth: { lines: [LINES[2]!], answers: true, against: false },
    skinned: { lines: [LINES[1]!], answers: false, against: true },
  };
  const ALL = { lines: LINES, answers: true, against: true };
  test.each(Object.keys(SCENES) as SceneName[])(
    "%s, over each connection, responds in the first picture; no jump is visible, also of a detail mesh and against another grab",
    async (scene) => {
      const { lines, answers, against } = inLong(ALL, IN_SHORT[scene]);
      const { name, path } = await stage.room(scene);
      const { page, told } = await visit(path);
      if (answers) {
        // 200 ms from the server
        line.quality = { ...FAR, jitterMs: 0, loss: 0 };
        await answersAtOnce(page, scene);
        await released(told);
      }
      const skin = scene === "skinned" ? await skinOf(page) : undefined;
      for (const [what, quality] of lines) {
        line.quality = quality;
        expectNoPop(await pull(page, told), told, what, quality === LINES[1]![1] ? skin : undefined);
      }
      if (!against) return;
      line.quality = FAR;
      const letGo = await otherHand(name);
      const pulled = await pull(page, told);
      await letGo();
      await stage.shoot(page, `tug-${scene}`);
      expectNoPop(pulled, told, "against another hand");
    },
  );

  test("with jitter and losses every picture lies between two consecutive decoded frames; the buffer grows and the overlay shows it", async () => {
    const { name, path } = await stage.room("cloth");
    const { page } = await visit(path);
    line.quality = FAR;
    const bot = await Bot.join(stage.url, name);
    const at = { body: 0, triangle: 100, u: 0.3, v: 0.3 };
    const from = bot.surfacePosition(at);
    bot.grab(1, at, from);
    let step = 0;
    const timer = setInterval(() => bot.move(1, [from[0], from[1], from[2] + 0.2 * Math.sin(++step / 4)]), 33);
    await page.waitForTimeout(4000);
    await page.keyboard.press("o");
    // A page keeps only its last frames, and a slow machine draws few pictures in that time.
    let bufferMs = 0;
    for (let between = 0; between <= 5; ) {
      await record(page);
      await page.waitForTimeout(1500);
      const { pictures } = await recorded(page);
      const seen = await page.evaluate(() => ({
        frames: window.pliant.frames(),
        quantum: window.pliant.quanta[0]!,
        bufferMs: window.pliant.stats().bufferMs,
      }));
      between += liesBetween(pictures, seen.frames, seen.quantum);
      bufferMs = seen.bufferMs;
    }
    clearInterval(timer);
    await bot.leave();
    // Jitter of up to 60 ms: more than the two intervals of an even connection, and at most eight.
    expect(bufferMs).toBeGreaterThan(2000 / 30);
    expect(bufferMs).toBeLessThanOrEqual(8000 / 30 + 1e-9);
    const shown = await page.textContent(".stats .row:has(span:text-is('Buffer delay')) b");
    expect(shown).toMatch(/^\d+(\.\d)? ms · jitter \d/);
    await stage.shoot(page, "slow-line-overlay");
  });
});
