/** Who really asked, as one process tells another: signed, for one request, for a minute. */
import { expect, test } from "vitest";
import { forwardingSecretsFrom, readForwarded, signForwarded } from "../../../server/cluster/forwardedIdentity.ts";

const secret = "0123456789abcdef0123456789abcdef";
const request = { method: "GET", url: "/api/rooms/a/socket?x=1" };

test.each(["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7", "127.0.0.1"])("%s comes through", (address) => {
  expect(readForwarded([secret], signForwarded(secret, { ...request, address }), request)).toBe(address);
});

test("any of several secrets may have signed it, while they are being exchanged", () => {
  const header = signForwarded(secret, { ...request, address: "192.0.2.7" });
  expect(readForwarded(["another", secret], header, request)).toBe("192.0.2.7");
  expect(readForwarded([], header, request)).toBeNull();
});

test("only with the secret, for that request, soon, unchanged", () => {
  const address = "192.0.2.7";
  const header = signForwarded(secret, { ...request, address }, 1e12);
  expect(readForwarded([secret], header, request, 1e12 + 59_000)).toBe(address);
  expect(readForwarded([secret], header, request, 1e12 - 59_000)).toBe(address);
  expect(readForwarded([secret], header, request, 1e12 + 61_000)).toBeNull();
  expect(readForwarded([secret], header, request, 1e12 - 61_000)).toBeNull();
  expect(readForwarded([`${secret}x`], header, request, 1e12)).toBeNull();
  expect(readForwarded(forwardingSecretsFrom([secret]), header, request, 1e12)).toBeNull();
  expect(readForwarded([secret], header, { ...request, method: "DELETE" }, 1e12)).toBeNull();
  expect(readForwarded([secret], header, { ...request, url: "/api/rooms/b/socket?x=1" }, 1e12)).toBeNull();
  const [at, , signed] = header.split(".");
  expect(
    readForwarded([secret], [at, Buffer.from("192.0.2.8").toString("base64url"), signed].join("."), request, 1e12),
  ).toBeNull();
  expect(readForwarded([secret], [Number(at) + 1, ...header.split(".").slice(1)].join("."), request, 1e12)).toBeNull();
});

test.each(["", ".", "..", "...", "1.2.3", "NaN.MTI3LjAuMC4x.AAAA", `${Date.now()}..`, "x".repeat(10_000)])(
  "%j is nobody's signature",
  (header) => {
    expect(readForwarded([secret], header, request)).toBeNull();
  },
);

test("what is no address is not taken for one, however well signed", () => {
  expect(
    readForwarded([secret], signForwarded(secret, { ...request, address: "not an address\nx: y" }), request),
  ).toBeNull();
});
