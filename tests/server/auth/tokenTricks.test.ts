/** Tricks with join tokens, signed with the server's own secret where the trick needs it: none is accepted. */
import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { TokenError, TokenMint } from "../../../server/auth/tokens.ts";

const SECRET = "a secret of the tests' own, long enough";
const mint = new TokenMint([SECRET]);
const kid = createHash("sha256").update("pliant key id\0").update(SECRET).digest("hex").slice(0, 16);
const part = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const hmac = (text: string, hash = "sha256"): string => createHmac(hash, SECRET).update(text).digest("base64url");
const header = { alg: "HS256", kid };
const nowS = Math.floor(Date.now() / 1000);
const claims = { iss: "pliant", aud: "pliant", sub: "mallory", iat: nowS, exp: nowS + 600, room: "r", role: "owner" };
/** A signed token of any header and payload. */
const signed = (head: unknown, payload: unknown, hash?: string): string => {
  const text = `${part(head)}.${part(payload)}`;
  return `${text}.${hmac(text, hash)}`;
};
const withClaims = (changes: object): string => signed(header, { ...claims, ...changes });
const good = signed(header, claims);
const [head, body, signature] = good.split(".") as [string, string, string];

test("the token that all tricks change is valid", async () => {
  expect(await mint.verify(good)).toMatchObject({ room: "r", role: "owner", subject: "mallory" });
});

test.each<[string, string]>([
  ["alg none, without a signature", `${part({ ...header, alg: "none" })}.${body}.`],
  ["alg None", `${part({ ...header, alg: "None" })}.${body}.`],
  ["alg nOnE, with the signature", `${part({ ...header, alg: "nOnE" })}.${body}.${signature}`],
  ["no alg", signed({ kid }, claims)],
  ["alg HS512", signed({ ...header, alg: "HS512" }, claims, "sha512")],
  ["alg HS384", signed({ ...header, alg: "HS384" }, claims, "sha384")],
  ["alg RS256 with the secret as its key", signed({ ...header, alg: "RS256" }, claims)],
  ["alg as a list", signed({ ...header, alg: ["HS256"] }, claims)],
  ["no key id", signed({ alg: "HS256" }, claims)],
  ["another key id", signed({ alg: "HS256", kid: "0".repeat(16) }, claims)],
  ["a path as its key id", signed({ alg: "HS256", kid: "../../../dev/null" }, claims)],
  ["a critical extension", signed({ ...header, crit: ["exp"], exp: 1 }, claims)],
  ["an unencoded payload", signed({ ...header, b64: false, crit: ["b64"] }, claims)],
  [
    "a key of its own in the header",
    `${part({ alg: "HS256", jwk: { kty: "oct", k: part("x") } })}.${body}.${signature}`,
  ],
  ["an empty signature", `${head}.${body}.`],
  ["a truncated signature", `${head}.${body}.${signature.slice(0, -2)}`],
  ["no signature part", `${head}.${body}`],
  ["a fourth part", `${good}.${signature}`],
  ["five parts, as if encrypted", `${head}..${part("x")}.${part("y")}.${part("z")}`],
  ["the payload of another token", `${head}.${part({ ...claims, role: "admin", room: "*" })}.${signature}`],
  ["the header of another token", `${part({ ...header, typ: "JWT" })}.${body}.${signature}`],
  ["space around it", ` ${good} `],
  ["a line feed in it", `${head}.\n${body}.${signature}`],
  ["a NUL at its end", `${good}\0`],
  ["itself twice", good + good],
  ["a payload that is no JSON", signed(header, "{")],
  ["a payload that is a list", signed(header, [claims])],
  ["no end", withClaims({ exp: undefined })],
  ["an end as text", withClaims({ exp: String(nowS + 600) })],
  ["an end in the past", withClaims({ exp: nowS - 60 })],
  ["an end in milliseconds before 1970", withClaims({ exp: -1 })],
  ["a begin in the future", withClaims({ nbf: nowS + 600 })],
  ["another issuer", withClaims({ iss: "pliant.evil.example" })],
  ["no issuer", withClaims({ iss: undefined })],
  ["another audience", withClaims({ aud: "other" })],
  ["no subject", withClaims({ sub: undefined })],
  ["an empty subject", withClaims({ sub: "" })],
  ["a subject as a number", withClaims({ sub: 5 })],
  ["a NUL in its subject", withClaims({ sub: "mallory\0" })],
  ["no room", withClaims({ room: undefined })],
  ["a room as a list", withClaims({ room: ["r", "*"] })],
  ["no role", withClaims({ role: undefined })],
  ["a role that does not exist", withClaims({ role: "root" })],
  ["a role from the prototype", withClaims({ role: "constructor" })],
  ["a role as a list", withClaims({ role: ["admin"] })],
  ["the role of an admin of one room", withClaims({ role: "admin" })],
  ["a name as a map", withClaims({ name: { toString: "x" } })],
  ["a room id as a number", withClaims({ roomId: 1 })],
])("a token with %s is refused", async (_title, token) => {
  await expect(mint.verify(token)).rejects.toThrow(TokenError);
});
