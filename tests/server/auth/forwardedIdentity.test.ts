/** A hello that one process forwards to another: secrets are sealed, the rest is unchanged. */
import { decode, encode } from "@msgpack/msgpack";
import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { build, ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { openMessage, IdentityForwarder } from "../../../server/routes/guards/forwardedIdentity.ts";
import { parseClientMessage } from "../../../shared/protocol/fromClient.ts";
import { PROTOCOL_VERSION } from "../../../shared/protocol/protocol.ts";

const request = { ip: "192.0.2.1" } as FastifyRequest;
// Without a token no identity is looked up.
const voucher = new IdentityForwarder(undefined as never, undefined as never);

test("frame mode and subscriptions are forwarded together with a password", async () => {
  const said = { name: "Ada", color: "#112233", mode: "simple", hz: 5, contacts: true };
  const message = encode([ClientMessage.hello, PROTOCOL_VERSION, { ...said, password: "of the room" }]);
  let sealed: unknown;
  const passed = await voucher.ofMessage(request, Buffer.from(message), true, (secrets) => {
    sealed = secrets;
    return "sealed";
  });
  expect(decode(passed!)).toEqual([ClientMessage.hello, PROTOCOL_VERSION, { ...said, ticket: "sealed" }]);
  const opened = openMessage(parseClientMessage(passed!), (ticket) => (ticket === "sealed" ? sealed : null));
  expect(opened).toMatchObject({ type: "hello", ...said, password: "of the room" });
});

test("without these options none are added", async () => {
  const message = build.hello({ name: "Ada", password: "of the room" });
  const passed = await voucher.ofMessage(request, Buffer.from(message), true, () => "sealed");
  expect(parseClientMessage(passed!)).toEqual({
    type: "hello",
    version: PROTOCOL_VERSION,
    name: "Ada",
    ticket: "sealed",
  });
});
