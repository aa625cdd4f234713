/**
 * Hostile frames, the short form: 100,000 frames parsed here, and earlier findings. `npm run fuzz` sends any number to
 * a real server.
 */
import { readFileSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { checkRanges, clampImpulse } from "../../server/rooms/inputs/requestRanges.ts";
import { MalformedMessage, parseClientMessage } from "../../shared/protocol/fromClient.ts";
import { anyFrame, shape } from "./frames.ts";
import { Random } from "./random.ts";

const target = { bodies: 2, triangles: 40, members: 8 };
const FIELDS_ARE_FINITE = (value: unknown): boolean =>
  typeof value === "number"
    ? Number.isFinite(value)
    : typeof value !== "object" || value === null || Object.values(value).every(FIELDS_ARE_FINITE);

/** @returns outcome of the bytes: a request's type, or malformed */
function judge(bytes: Uint8Array): string {
  try {
    const request = parseClientMessage(bytes);
    if (request === null) return "ignored";
    expect(FIELDS_ARE_FINITE(request)).toBe(true);
    const refusal = checkRanges(request, shape);
    if (!refusal && request.type === "impulse") {
      // Scaled by one division and three products, each rounded: 4 units in the last place.
      expect(Math.hypot(...clampImpulse(request.impulse, shape.maxImpulse))).toBeLessThanOrEqual(
        shape.maxImpulse * (1 + 4 * Number.EPSILON),
      );
    }
    return refusal ? "refused" : request.type;
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedMessage);
    expect(Buffer.byteLength((error as Error).message)).toBeLessThanOrEqual(123);
    return "malformed";
  }
}

test("100,000 frames are parsed, ignored, refused or malformed, and each outcome occurs", () => {
  const random = new Random(1);
  const counts: Record<string, number> = {};
  for (let i = 0; i < 100_000; i++) {
    const became = judge(anyFrame(random, target).bytes);
    counts[became] = (counts[became] ?? 0) + 1;
  }
  for (const kind of [
    "malformed",
    "refused",
    "ignored",
    "hello",
    "grab",
    "move",
    "release",
    "impulse",
    "reset",
    "spawn",
    "remove",
    "cursor",
    "ping",
    "needKeyframe",
    "kick",
    "access",
    "tune",
  ]) {
    expect([kind, counts[kind] ?? 0]).toEqual([kind, expect.toSatisfy((count: number) => count > 50)]);
  }
});

const seeds = new URL("./seeds/frames/", import.meta.url);
test.each(readdirSync(seeds))("earlier finding: %s", (file) => {
  const { frames, became } = JSON.parse(readFileSync(new URL(file, seeds), "utf8")) as {
    frames: string[];
    became: string[];
  };
  expect(frames.map((frame) => judge(Buffer.from(frame, "base64")))).toEqual(became);
});
