/** The environment: defaults, limits, and errors that name variable, value and limit. */
import { describe, expect, test } from "vitest";
import { ConfigError, readConfig } from "../../server/config.ts";

/** A variable, a value and a part of the error. */
type Triple = [string, string, string];

describe("readConfig", () => {
  test("an empty environment gives a complete configuration", () => {
    const config = readConfig({});
    expect(config.port).toBe(8080);
    expect(config.host).toBe("0.0.0.0");
    expect(config.workers).toBeGreaterThanOrEqual(2);
    expect(Object.values(config)).not.toContain(undefined);
  });

  test("an empty variable counts as absent", () => {
    expect(readConfig({ PORT: "" }).port).toBe(8080);
  });

  test("values at their limits are accepted", () => {
    expect(readConfig({ PORT: "0" }).port).toBe(0);
    expect(readConfig({ PORT: "65535" }).port).toBe(65535);
    expect(readConfig({ PLIANT_EMPTY_ROOM_SECONDS: "0.5" }).emptyRoomSeconds).toBe(0.5);
    const hosts = ["auto", "Play.example", "[::1]", "10.0.0.7"];
    expect(readConfig({ PLIANT_HOSTS: hosts.join() }).hosts).toEqual(hosts);
    expect(readConfig({ PLIANT_PREWARM: "bunny, drape" }).prewarm).toEqual(["bunny", "drape"]);
    expect(readConfig({ PLIANT_ORIGINS: "same,https://a.example:8443" }).origins).toEqual([
      "same",
      "https://a.example:8443",
    ]);
  });

  test("a store's URL is accepted, and the error of an invalid one does not show it, because it may contain a password", () => {
    const url = "postgres://me:hush@db.example:5432/pliant";
    const secret = "0123456789abcdef0123456789abcdef";
    expect(readConfig({ PLIANT_STORE: url, PLIANT_TOKEN_SECRET: secret }).store).toBe(url);
    expect(() => readConfig({ PLIANT_STORE: url })).toThrow(/^(?!.*hush).*PLIANT_TOKEN_SECRET/);
    expect(readConfig({}).store).toBe("sqlite");
    expect(() => readConfig({ PLIANT_STORE: "postgre://me:hush@db.example/pliant" })).toThrow(
      /^(?!.*hush).*PLIANT_STORE/,
    );
  });

  test.each<Triple>([
    ["PORT", "65536", "an integer from 0 to 65535"],
    ["PORT", "80.5", "an integer from 0 to 65535"],
    ["PORT", "http", "an integer from 0 to 65535"],
    ["PLIANT_WORKERS", "0", "an integer from 1 to 256"],
    ["PLIANT_ROOM_THREADS", "17", "an integer from 1 to 16"],
    ["PLIANT_HEAVY_MS", "0", "a number from 0.1 to 1000"],
    ["PLIANT_SEND_HZ", " ", "an integer from 1 to 240"],
    ["LOG_LEVEL", "loud", "one of fatal"],
    ["PLIANT_ROOM_POOL", "both", "one of shared, dedicated"],
    ...["example.org", "https://*.example.org", "https://example.org:443", "https://Example.org", "http://a b"].map(
      (origin): Triple => ["PLIANT_ORIGINS", origin, "http(s)://host"],
    ),
    ...["http://example.org", "example.org:8080", "*.example.org", "a b"].map(
      (host): Triple => ["PLIANT_HOSTS", host, "names, without port"],
    ),
    ["PLIANT_EMBED_ORIGINS", "*", "http(s)://host"],
    ["PLIANT_EMBED_ORIGINS", "https://*.example.org", "http(s)://host"],
    ["PLIANT_EMBED_ORIGINS", "https://example.org/page", "http(s)://host"],
    ["PLIANT_EMBED_ORIGINS", "https://example.org; script-src *", "http(s)://host"],
    ["PLIANT_STORE", "mysql://db/pliant", "sqlite, none or postgres://"],
    ["PLIANT_ADVERTISE_URL", "10.0.0.7:8080", "http://host:port"],
  ])("%s=%s is refused", (variable, value, limit) => {
    const read = (): unknown => readConfig({ [variable]: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(limit);
    expect(read).toThrow(JSON.stringify(value));
  });

  test("an unknown variable is refused with the name that it may mean, and without its value, which may be a secret", () => {
    const read = (): unknown => readConfig({ PLIANT_ADMIN_TOKN: "hush-hush" });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/^PLIANT_ADMIN_TOKN (?!.*hush).*has none of this name; did you mean PLIANT_ADMIN_TOKEN\?$/);
  });
});
