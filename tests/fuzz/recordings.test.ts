/**
 * Damaged recordings from users, and damaged data from the disk: read whole, or refused with the reason; never read
 * partly.
 */
import { decode, encode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";
import { decodeCheckpoint, decodeSegment, encodeCheckpoint, encodeSegment } from "../../server/persistence/format.ts";
import { DamagedError } from "../../server/persistence/checksummed.ts";
import { decodeRecording, encodeRecording, RecordingError } from "../../server/persistence/recording.ts";
import { bent } from "./mutate.ts";
import { Random } from "./random.ts";
import { sealed, whole } from "./wholeRecording.ts";

function judge(bytes: Uint8Array): "read" | "refused" {
  try {
    const { from, until, states, records, hashes } = decodeRecording(bytes);
    expect(states[0]!.tick).toBe(from);
    for (const list of [states, records, hashes]) {
      const ticks = list.map(({ tick }) => tick);
      expect(ticks.every((tick, i) => tick >= from && tick <= until && (i === 0 || tick > ticks[i - 1]!))).toBe(true);
    }
    return "read";
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    return "refused";
  }
}

function damage(bytes: Uint8Array, random: Random): Uint8Array {
  const damaged = Uint8Array.from(bytes);
  if (random.chance(0.3)) return damaged.subarray(0, random.below(bytes.length));
  for (let k = 0; k <= random.below(3); k++) damaged[random.below(damaged.length)]! ^= 1 + random.below(255);
  return damaged;
}

describe("recordings", () => {
  test("an intact recording is read as it was written", () => {
    expect(decodeRecording(encodeRecording(whole))).toEqual(whole);
  });

  test("10,000 recordings with wrong fields are read, or refused with the field's name", () => {
    const random = new Random(11);
    const counts = { read: 0, refused: 0 };
    for (let i = 0; i < 10_000; i++) counts[judge(sealed(encode(bent(whole, random), { ignoreUndefined: true })))] += 1;
    expect(counts.refused).toBeGreaterThan(3000);
    expect(counts.read).toBeGreaterThan(300);
  });

  test("10,000 recordings with damaged bytes under a matching checksum are read or refused", () => {
    const random = new Random(12);
    const content = encode(whole);
    let refused = 0;
    for (let i = 0; i < 10_000; i++) if (judge(sealed(damage(content, random))) === "refused") refused += 1;
    expect(refused).toBeGreaterThan(3000);
  });

  test("any damage without a matching checksum is noticed", () => {
    const random = new Random(13);
    const bytes = encodeRecording(whole);
    for (let i = 0; i < 5000; i++) {
      const damaged = damage(bytes, random);
      expect(judge(damaged)).toBe(Buffer.compare(damaged, bytes) === 0 ? "read" : "refused");
    }
  });
});

test("damaged checkpoints and journals from the disk are always refused", () => {
  const random = new Random(14);
  const checkpoint = encodeCheckpoint({ checkpoint: whole.states[0]!, members: { nextMember: 1, sessions: [] } });
  const segment = encodeSegment({ after: 60, until: 180, records: whole.records, hashes: whole.hashes, members: null });
  expect(decode(checkpoint.subarray(4))).toBeInstanceOf(Array);
  for (const [bytes, read] of [
    [checkpoint, decodeCheckpoint],
    [segment, decodeSegment],
  ] as const) {
    for (let i = 0; i < 5000; i++) {
      const damaged = damage(bytes, random);
      if (Buffer.compare(damaged, bytes) !== 0) expect(() => read(damaged)).toThrow(DamagedError);
    }
  }
});
