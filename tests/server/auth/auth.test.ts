/**
 * The parts of authentication on their own: addresses, attempts, passwords, a room's access and its JSON, permissions,
 * and secrets that the log omits.
 */
import { scryptSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { addressKey, Attempts } from "../../../server/auth/addresses.ts";
import { Auth } from "../../../server/auth/auth.ts";
import { type Identity, mayCreate, roleIn } from "../../../server/auth/identity.ts";
import { redactUrl } from "../../../server/auth/logOptions.ts";
import { hashPassword, isPassword, type PasswordHash, PasswordQueueFull } from "../../../server/auth/password.ts";
import type { Refused } from "../../../server/auth/refused.ts";
import { RoomAccess } from "../../../server/auth/roomAccess.ts";
import { fullNetwork, NetworkCounts } from "../../../server/auth/share.ts";
import { fingerprint, sameSecret } from "../../../server/auth/secrets.ts";
import { MIN_SECRET_BYTES, TokenError, TokenMint } from "../../../server/auth/tokens.ts";
import { networksOf } from "../../../shared/networks.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";

describe("addresses", () => {
  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::ffff:c000:207", "192.0.2.7"],
    ["0:0:0:0:0:FFFF:C000:0207", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::99", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["192.0.2.7:4711", "192.0.2.7"],
    ["[2001:db8:1:2::99]:4711", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::99]", "2001:db8:1:2::/64"],
    ["[::ffff:192.0.2.7]:1", "192.0.2.7"],
    ["not an address", "not an address"],
  ])("%s counts as %s", (address, key) => {
    expect(addressKey(address)).toBe(key);
  });

  test("shares of IPv6 networks grow more slowly than their sizes", () => {
    expect(networksOf("192.0.2.7")).toEqual([{ network: "192.0.2.7", share: 1 }]);
    expect(networksOf(addressKey("2001:db8:1:2ab::9"))).toEqual([
      { network: "2001:db8:1:2ab::/64", share: 1 },
      { network: "2001:db8:1:200::/56", share: 4 },
      { network: "2001:db8:1::/48", share: 16 },
      { network: "2001:db8::/32", share: 64 },
    ]);
    expect(networksOf(addressKey("2001:db8:1:2::9"))[1]).toEqual({ network: "2001:db8:1:0::/56", share: 4 });
  });

  test("sockets, rooms and seats are also counted by network, and no network takes all of them", () => {
    const subnet = (n: number): string => addressKey(`2001:db8:1:${n.toString(16)}::1`);
    const counts = new NetworkCounts();
    for (let n = 0; n < 8; n++) {
      expect(counts.full(subnet(n % 4), 2)).toBeNull();
      counts.add(subnet(n % 4), 1);
    }
    expect([counts.full(subnet(0), 2), counts.full(subnet(9), 2), counts.full(subnet(256), 2)]).toEqual([2, 8, null]);
    for (let n = 0; n < 8; n++) counts.add(subnet(n % 4), -1);
    expect(counts.size).toBe(0);
    const owners: string[] = [];
    const take = (address: string): boolean => {
      const full = fullNetwork(address, owners, { perAddress: 100, taken: owners.length, all: 64, ratio: 1 });
      if (!full) owners.push(address);
      return !full;
    };
    // A /48 takes at most three quarters, from any number of /64; then an IPv4 address gets half of the rest.
    for (let n = 0; n < 1000; n++) take(subnet((n * 61) & 0xffff));
    expect(owners).toHaveLength(48);
    while (take("192.0.2.7"));
    expect(owners).toHaveLength(56);
    expect(fullNetwork(subnet(0), owners, { perAddress: 3, taken: 56, all: 1000, ratio: 0 })).toEqual({
      own: 48,
      limit: 48,
    });
  });

  test("all /64 of a /56 together have four addresses' attempts, and those of a /48 sixteen", () => {
    const attempts = new Attempts(3, 0);
    const taken = (subnets: number[]): number =>
      subnets.filter((subnet) => attempts.take(addressKey(`2001:db8:1:${subnet.toString(16)}::1`), 0)).length;
    const within = (first: number): number[] => Array.from({ length: 256 }, (_, i) => first + i);
    expect(taken([0, 0, 0, 0])).toBe(3);
    expect(taken(within(0))).toBe(4 * 3 - 3);
    expect(taken(Array.from({ length: 100 }, (_, i) => within(256 * (i + 1)).slice(0, 20)).flat())).toBe(12 * 3);
    expect(attempts.take(addressKey("2001:db8:2::1"), 0)).toBe(true);
    attempts.giveBack(addressKey("2001:db8:1:6400::1"), 0);
    expect(taken([0x6400, 0x6400])).toBe(1);
  });

  test("65,536 networks of one /32 have 64 addresses' attempts, and cannot make the limiter forget another address", () => {
    const attempts = new Attempts(3, 0);
    for (let n = 0; n < 3; n++) expect(attempts.take("192.0.2.7", 0)).toBe(true);
    let taken = 0;
    for (let n = 0; n < 65_536; n++)
      if (attempts.take(addressKey(`2001:db8:${((n * 61) & 0xffff).toString(16)}::1`), 0)) taken++;
    expect(taken).toBe(64 * 3);
    // The address and, for each granted attempt, a /64, /56 and /48, and the /32.
    expect(attempts.size).toBe(1 + 3 * taken + 1);
    expect(attempts.take("192.0.2.7", 0)).toBe(false);
    const owners: string[] = [];
    for (let n = 0; n < 1000; n++) {
      const address = addressKey(`2001:db8:${n.toString(16)}::1`);
      if (!fullNetwork(address, owners, { perAddress: 100, taken: owners.length, all: 100, ratio: 1 }))
        owners.push(address);
    }
    expect(owners).toHaveLength(80);
  });

  test("attempts: a burst, then a rate per minute, for each address; a success is given back", () => {
    const attempts = new Attempts(3, 60);
    expect([1, 2, 3, 4].map(() => attempts.take("a", 0))).toEqual([true, true, true, false]);
    expect(attempts.take("b", 0)).toBe(true);
    expect(attempts.take("a", 999)).toBe(false);
    expect(attempts.take("a", 1000)).toBe(true);
    attempts.giveBack("a", 1000);
    expect(attempts.take("a", 1000)).toBe(true);
    expect(attempts.take("a", 1000)).toBe(false);
    // Even after an hour there are only as many attempts as the burst allows.
    expect([1, 2, 3, 4].map(() => attempts.take("a", 3_600_000))).toEqual([true, true, true, false]);
  });

  test("the number of remembered addresses is bounded", () => {
    const attempts = new Attempts(3, 60);
    for (let i = 0; i < 50_000; i++) attempts.take(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, i);
    expect(attempts.size).toBe(10_000);
  });
});

describe("passwords", () => {
  test("the right one matches in every Unicode form, and no other does; the hash reveals nothing and is salted", async () => {
    const known = await hashPassword("Schlüssel 1", "192.0.2.1");
    expect(await isPassword("Schlu\u0308ssel 1", known, "192.0.2.1")).toBe(true);
    for (const other of ["Schlüssel 2", "Schlüssel 1 ", "", "x".repeat(1_000_000)])
      expect(await isPassword(other, known, "192.0.2.1")).toBe(false);
    expect(JSON.stringify(known)).not.toContain("Schl");
    expect((await hashPassword("Schlüssel 1", "192.0.2.1")).hash).not.toBe(known.hash);
  });

  test("waiting password checks are bounded", async () => {
    const known = cheapHash();
    const results = await Promise.allSettled(
      Array.from({ length: 80 }, (_, i) => isPassword(i % 2 ? "open sesame" : "open barley", known, `192.0.2.${i}`)),
    );
    const refused = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(refused).toHaveLength(80 - 2 - 64);
    for (const { reason } of refused) expect(reason).toBeInstanceOf(PasswordQueueFull);
    results.forEach((result, i) => {
      if (result.status === "fulfilled") expect(result.value).toBe(i % 2 === 1);
    });
    expect(await isPassword("open sesame", known, "192.0.2.1")).toBe(true);
  });

  test("one address leaves half of the queue to other addresses, and addresses take turns", async () => {
    const known = cheapHash();
    // The order of starts: two checks are in progress at once, and either may end first.
    const started: string[] = [];
    let refused = 0;
    const give = (address: string): Promise<void> => {
      const password = "open sesame";
      const normalize = (): string => {
        started.push(address);
        return password;
      };
      const noted = { length: password.length, normalize };
      return isPassword(noted as unknown as string, known, address).then(
        () => {},
        () => void refused++,
      );
    };
    // Two passwords are checked at once. One address may take 32 of the queue's 64 places.
    const greedy = Array.from({ length: 50 }, () => give("greedy"));
    await Promise.all([...greedy, give("other"), give("third")]);
    expect(refused).toBe(50 - 2 - 32);
    expect(started).toHaveLength(36);
    // Two checks of "greedy" are in progress. Then the three addresses take turns.
    expect(started.slice(0, 5).sort()).toEqual(["greedy", "greedy", "greedy", "other", "third"]);
  });
});

describe("a room's access", () => {
  test("is restored from its JSON unchanged, with its password and bans", async () => {
    const access = new RoomAccess("abc", "192.0.2.7");
    const nowMs = 1_000_000;
    let changes = 0;
    access.onChanged = async () => {
      changes += 1;
    };
    await access.change({
      locked: true,
      ownersOnly: true,
      chat: false,
      password: await hashPassword("open sesame", ""),
    });
    access.ban({ address: "192.0.2.8", session: fingerprint("s"), untilMs: nowMs + 1000, name: "m" }, nowMs);
    expect(changes).toBe(2);
    const back = RoomAccess.fromSettings(
      JSON.parse(JSON.stringify({ other: 1, ...access.toSettings() })) as Record<string, unknown>,
    );
    expect([back.id, back.creator, back.locked, back.ownersOnly, back.chat, back.hasPassword]).toEqual([
      "abc",
      "192.0.2.7",
      true,
      true,
      false,
      true,
    ]);
    expect([await back.fits("open sesame", ""), await back.fits("open barley", "")]).toEqual([true, false]);
    expect(back.banOf({ address: "192.0.2.8" }, nowMs)?.name).toBe("m");
    expect(back.banOf({ session: fingerprint("s") }, nowMs + 999)?.name).toBe("m");
    expect(back.banOf({ address: "192.0.2.8" }, nowMs + 1000)).toBeUndefined();
    expect(back.banOf({ address: "192.0.2.9", subject: "x" }, nowMs)).toBeUndefined();
    expect(JSON.stringify(access.toSettings())).not.toContain("sesame");
  });

  test("missing settings are open access; malformed settings are refused", () => {
    expect(RoomAccess.fromSettings({}).isOpen).toBe(true);
    for (const access of [
      1,
      {},
      { id: 1 },
      { ...new RoomAccess().toSettings().door, bans: [{}] },
      { ...new RoomAccess().toSettings().door, password: "plain" },
    ]) {
      expect(() => RoomAccess.fromSettings({ door: access })).toThrow("settings.door does not have the form");
    }
  });

  test("keeps at most 256 bans, the longest ones", () => {
    const access = new RoomAccess();
    for (let i = 0; i < 300; i++) access.ban({ subject: `s${i}`, untilMs: 1000 + i, name: "" }, 0);
    expect(access.bans(0)).toHaveLength(256);
    expect(access.banOf({ subject: "s299" }, 0)).toBeDefined();
    expect(access.banOf({ subject: "s43" }, 0)).toBeUndefined();
  });
});

describe("passwords of a room", () => {
  // Virtual time, so that no attempts are refilled during slow hashing.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());
  const room = (): { auth: Auth; access: RoomAccess } => ({
    auth: new Auth({ mode: "open", secrets: ["x".repeat(MIN_SECRET_BYTES)], adminToken: null }),
    access: RoomAccess.fromSettings({ door: { ...new RoomAccess().toSettings().door, password: cheapHash() } }),
  });
  const give = async (
    { auth, access }: ReturnType<typeof room>,
    address: string,
    password = "open barley",
  ): Promise<number> => {
    try {
      await auth.enter("r", access, { password, address }, () => null);
      return 0;
    } catch (error) {
      return (error as Refused).closeCode;
    }
  };

  test("a thousand addresses together cannot exceed a room's limit of failures, and earlier members enter first", async () => {
    const door = room();
    expect(await give(door, "ours", "open sesame")).toBe(0);
    const wrong: number[] = [];
    for (let i = 0; i < 300; i++) wrong.push(await give(door, `2001:db8:0:${i}::/64`));
    expect(wrong.filter((code) => code === CloseCode.passwordNeeded).length).toBe(240);
    expect(wrong.at(-1)).toBe(CloseCode.tooManyAttempts);
    expect(await give(door, "stranger", "open sesame")).toBe(CloseCode.tooManyAttempts);
    expect(await give(door, "ours", "open sesame")).toBe(0);
    // Another room has its own limit.
    expect(await give({ auth: door.auth, access: room().access }, "stranger", "open sesame")).toBe(0);
    await door.access.change({ password: await hashPassword("open barley", "") });
    expect(await give(door, "ours", "open barley")).toBe(CloseCode.tooManyAttempts);
  });

  test("right passwords are not counted, neither for the room nor for the address", async () => {
    const door = room();
    for (let i = 0; i < 300; i++) expect(await give(door, `192.0.2.${i}`, "open sesame")).toBe(0);
    for (let i = 0; i < 60; i++) expect(await give(door, "192.0.2.1", "open sesame")).toBe(0);
  });
});

describe("tokens", () => {
  const secrets = ["x".repeat(MIN_SECRET_BYTES), "y".repeat(MIN_SECRET_BYTES)];
  test("carry the signed claims, with any of the keys", async () => {
    const mint = new TokenMint(secrets);
    const former = new TokenMint([secrets[1]!]);
    const { token, expiresAt } = await former.sign({
      room: "r",
      role: "owner",
      subject: "ada",
      name: "Ada",
      roomId: "1",
      seconds: 60,
    });
    expect(await mint.verify(token)).toEqual({
      room: "r",
      role: "owner",
      subject: "ada",
      name: "Ada",
      roomId: "1",
      expiresAtMs: expiresAt.getTime(),
    });
    await expect(new TokenMint([secrets[0]!]).verify(token)).rejects.toThrow(TokenError);
  });

  test("no changed byte of one is accepted", async () => {
    const mint = new TokenMint(secrets);
    const { token } = await mint.sign({ room: "r", role: "spectator", seconds: 60 });
    for (let i = 0; i < token.length; i++) {
      if (token[i] === ".") continue;
      // The last character of a base64url part has unused bits; a change of those alone would not count.
      const changed = token.slice(0, i) + (token[i] === "A" ? "Q" : "A") + token.slice(i + 1);
      await expect(mint.verify(changed), `character ${i}`).rejects.toThrow(TokenError);
    }
  });

  test("a secret that is too short is refused", () => {
    expect(() => new TokenMint(["x".repeat(MIN_SECRET_BYTES - 1)])).toThrow("has 31 bytes, but must have at least 32");
    expect(() => new TokenMint([])).toThrow();
  });

  test("a token is for its room, its incarnation, or all of them", () => {
    const identity = (changes: Partial<Identity>): Identity => ({
      room: "r",
      role: "owner",
      subject: "s",
      name: undefined,
      roomId: undefined,
      expiresAtMs: null,
      ...changes,
    });
    const room = { name: "r", id: "1" };
    expect([{}, { room: "*" }, { roomId: "1" }].map((changes) => roleIn(identity(changes), room))).toEqual([
      "owner",
      "owner",
      "owner",
    ]);
    expect(
      [{ room: "q" }, { roomId: "2" }, { room: "*", roomId: "2" }].map((changes) => roleIn(identity(changes), room)),
    ).toEqual([null, null, null]);
    expect([mayCreate(identity({}), "r"), mayCreate(identity({ room: "*" }), undefined)]).toEqual([true, true]);
    expect([
      mayCreate(identity({}), "q"),
      mayCreate(identity({}), undefined),
      mayCreate(identity({ role: "player" }), "r"),
      mayCreate(identity({ roomId: "1" }), "r"),
    ]).toEqual([false, false, false, false]);
  });
});

test("secrets of any length are compared", () => {
  expect([sameSecret("abc", "abc"), sameSecret("abc", "abd"), sameSecret("abc", "abcd"), sameSecret("", "")]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});

test.each([
  ["/r/x?token=abc.def&scene=y", "/r/x?token=[redacted]&scene=y"],
  ["/r/x?scene=y&access_token=abc", "/r/x?scene=y&access_token=[redacted]"],
  ["/r/x?Password=a%26b#c", "/r/x?Password=[redacted]#c"],
  ["/api/tokens?room=x", "/api/tokens?room=x"],
])("of %s the log has only %s", (url, logged) => {
  expect(redactUrl(url)).toBe(logged);
});

/** A cheap hash of "open sesame", for tests of the queue instead of the hash. */
function cheapHash(): PasswordHash {
  const [N, r, p] = [1024, 8, 1] as const;
  const salt = Buffer.from("0123456789abcdef");
  const hash = scryptSync("open sesame", salt, 32, { N, r, p }).toString("base64url");
  return { salt: salt.toString("base64url"), hash, N, r, p };
}
