/** The address that a process announces to other processes. */
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { ownUrl } from "../../../server/cluster/address.ts";

test("a specific listening address is announced; for all addresses on one machine it is loopback", () => {
  expect(ownUrl("192.0.2.7", 8080, true)).toBe("http://192.0.2.7:8080");
  expect(ownUrl("2001:db8::7", 80, false)).toBe("http://[2001:db8::7]:80");
  for (const host of ["0.0.0.0", "::", ""]) expect(ownUrl(host, 8080, false)).toBe("http://127.0.0.1:8080");
});

test("for other machines it is a reachable address of this machine, if it has any", () => {
  const { hostname } = new URL(ownUrl("0.0.0.0", 8080, true));
  const address = hostname.replace(/^\[|\]$/g, "");
  expect(isIP(address)).not.toBe(0);
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outer = own.filter(({ internal }) => !internal);
  expect(outer.length === 0 ? ["127.0.0.1"] : outer.map((found) => found.address)).toContain(address);
});
