/** Sharing of scarce places for objects: numbers only. */
import { expect, test } from "vitest";
import { addressKey } from "../../../../server/auth/addresses.ts";
import { placeFor } from "../../../../server/store/objects/objectShares.ts";

const LIMITS = { count: 200, bytes: 200e6, countPerAddress: 20 };

/** A store in which every object is unused. */
class Model {
  stored: { id: string; address: string | null; bytes: number }[] = [];
  #made = 0;

  put(address: string | null, bytes = 1e5, limits = LIMITS): string[] | "full" | "share" {
    const owned = this.stored.map((object) => ({ ...object, count: 1 }));
    const found = placeFor({ address, bytes }, owned, limits, () =>
      this.stored.flatMap((object) => (object.address === null ? [] : [{ ...object, address: object.address }])),
    );
    if (typeof found !== "string") {
      this.stored = this.stored.filter(({ id }) => !found.includes(id));
      this.stored.push({ id: String(++this.#made), address, bytes });
    }
    return found;
  }

  of(address: string | null): number {
    return this.stored.filter((object) => object.address === address).length;
  }
}

test("22 addresses that upload as much as they can exclude neither a newcomer nor operators", () => {
  const model = new Model();
  for (let i = 0; i < 20; i++) for (let a = 0; a < 22; a++) model.put(`10.0.0.${a}`);
  expect(model.stored).toHaveLength(180);
  // The newcomer gets as many as every other address.
  for (let i = 0; i < 20; i++) model.put("192.0.2.1");
  expect(model.stored).toHaveLength(180);
  expect(model.of("192.0.2.1")).toBe(7);
  const counts = Array.from({ length: 22 }, (_, a) => model.of(`10.0.0.${a}`));
  expect([Math.min(...counts), Math.max(...counts)]).toEqual([7, 8]);
  // Operators have a tenth for themselves, and then take other places.
  for (let i = 0; i < 30; i++) expect(model.put(null)).toHaveLength(i < 20 ? 0 : 1);
  expect(model.stored).toHaveLength(200);
  expect(model.of(null)).toBe(30);
});

test("an address that has as many as the heaviest is refused, and nothing is replaced", () => {
  const model = new Model();
  for (let i = 0; i < 90; i++)
    for (const address of ["a", "b"]) model.put(address, 1e5, { ...LIMITS, countPerAddress: 200 });
  expect(model.put("a", 1e5, { ...LIMITS, countPerAddress: 200 })).toBe("full");
  expect([model.of("a"), model.of("b")]).toEqual([90, 90]);
});

test("bytes are shared like places", () => {
  const model = new Model();
  for (let i = 0; i < 18; i++) expect(model.put("large", 10e6)).toEqual([]);
  const ways = [0, 1, 2, 3, 4].map((i) => model.put(`small ${i}`, 4e6).length);
  expect(ways).toEqual([1, 0, 1, 0, 0]);
  expect(model.put("large", 10e6)).toBe("full");
  expect(model.put("too large", 181e6)).toBe("full");
  expect(model.put(null, 201e6)).toBe("full");
  expect(model.stored.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(180e6);
});

test("an IPv6 /48 is counted as a whole: 65,536 of its addresses leave half of the places", () => {
  const model = new Model();
  for (let i = 0; i < 1000; i++) model.put(addressKey(`2001:db8:1:${(i * 61).toString(16)}::1`));
  expect(model.stored).toHaveLength(180);
  for (let a = 0; a < 10; a++) for (let i = 0; i < 20; i++) model.put(`10.0.0.${a}`);
  const network = model.stored.filter(({ address }) => address?.includes("::")).length;
  // The share of sixteen addresses beside ten addresses.
  expect(network).toBeLessThanOrEqual(Math.ceil((180 * 16) / 26) + 10);
  for (let a = 0; a < 10; a++) expect(model.of(`10.0.0.${a}`)).toBeGreaterThanOrEqual(6);
});
