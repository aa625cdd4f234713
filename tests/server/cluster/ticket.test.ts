/**
 * The identity of the original caller, passed between processes: sealed, for one process and one request, valid for a
 * minute, usable once.
 */
import { expect, test } from "vitest";
import { clusterSecretsFrom, type Ticket, Tickets } from "../../../server/cluster/ticket.ts";

const secret = "0123456789abcdef0123456789abcdef";
const request = { method: "GET", url: "/api/rooms/a/socket?x=1" };
const ticket: Ticket = {
  audience: "ann",
  ...request,
  address: "192.0.2.7",
  said: { identity: { role: "owner", room: "a" } },
};
const reader = (secrets = [secret], process = "ann", most?: number): Tickets => new Tickets(secrets, { process }, most);
const sealed = (changes: Partial<Ticket> = {}, nowMs?: number): string =>
  reader().seal({ ...ticket, ...changes }, nowMs);

test.each(["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7", "127.0.0.1"])("%s is passed on", (address) => {
  expect(reader().take(sealed({ address }), request)).toEqual({ ...ticket, address });
});

test("any of several secrets may have sealed it, during their rotation", () => {
  expect(reader(["another", secret]).take(sealed(), request)).toEqual(ticket);
  expect(reader([]).take(sealed(), request)).toBeNull();
});

test("valid only with the secret, for that process, for that request, for a short time", () => {
  const header = sealed({}, 1e12);
  expect(reader().take(header, request, 1e12 + 59_000)).toEqual(ticket);
  expect(reader().take(header, request, 1e12 - 59_000)).toEqual(ticket);
  expect(reader().take(header, request, 1e12 + 61_000)).toBeNull();
  expect(reader().take(header, request, 1e12 - 61_000)).toBeNull();
  expect(reader([`${secret}x`]).take(header, request, 1e12)).toBeNull();
  expect(reader(clusterSecretsFrom([secret])).take(header, request, 1e12)).toBeNull();
  expect(reader([secret], "bob").take(header, request, 1e12)).toBeNull();
  expect(reader().take(header, { ...request, method: "DELETE" }, 1e12)).toBeNull();
  expect(reader().take(header, { ...request, url: "/api/rooms/b/socket?x=1" }, 1e12)).toBeNull();
});

test("a ticket of the cluster for another process is known from a forged one", () => {
  const header = sealed();
  expect(reader([secret], "bob").isForAnother(header)).toBe(true);
  expect(reader().isForAnother(header)).toBe(false);
  expect(reader([`${secret}x`], "bob").isForAnother(header)).toBe(false);
  expect(reader().isForAnother("forged")).toBe(false);
});

test("usable once", () => {
  const [taker, header] = [reader(), sealed()];
  expect(taker.take(header, request)).toEqual(ticket);
  expect(taker.take(header, request)).toBeNull();
  // The decoder ignores characters outside base64url, so the ticket is the same.
  expect(taker.take(`${header}=`, request)).toBeNull();
  expect(taker.take(sealed(), request)).toEqual(ticket);
});

test("no changed bit is accepted, and nothing in it is readable", () => {
  const header = sealed();
  const bytes = Buffer.from(header, "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1 << (at % 8);
    expect(reader().take(changed.toString("base64url"), request), `byte ${at}`).toBeNull();
  }
  for (const shown of ["192.0.2.7", "owner", "ann"]) expect(bytes.includes(shown)).toBe(false);
  expect(sealed()).not.toBe(header);
});

test("the memory of used tickets is bounded, and forgets expired ones", () => {
  const taker = reader([secret], "ann", 10);
  for (let i = 0; i < 100; i++) expect(taker.take(sealed({}, 1e12), request, 1e12)).not.toBeNull();
  expect(taker.remembered).toBe(10);
  expect(taker.take(sealed({}, 2e12), request, 2e12)).not.toBeNull();
  expect(taker.remembered).toBe(1);
});

test.each(["", ".", "AAAA", "x".repeat(40), "x".repeat(10_000), `${Date.now()}.MTI3LjAuMC4x.AAAA`])(
  "%j is not a ticket",
  (header) => {
    expect(reader().take(header, request)).toBeNull();
  },
);

test("an invalid address is not accepted, even in a sealed ticket", () => {
  expect(reader().take(sealed({ address: "not an address\nx: y" }), request)).toBeNull();
});
