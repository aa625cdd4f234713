/**
 * Identity that one process forwards to another in place of a client's token and password (cluster/ticket.ts). It
 * contains the token's claims, as this process has verified them. The password and the session's secret are encrypted
 * and passed along, because only the room's owner can check them.
 */
import { encode } from "@msgpack/msgpack";
import type { FastifyRequest } from "fastify";
import { addressKey } from "../../auth/addresses.ts";
import type { Auth, ForwardedIdentity } from "../../auth/auth.ts";
import type { OpenedRequest } from "../../rooms/members/connection.ts";
import {
  type ClientRequest,
  MalformedMessage,
  parseClientMessage,
  ClientMessage,
} from "../../../shared/protocol/fromClient.ts";
import { identityIn, type RequestAuth } from "./requestAuth.ts";

/** Forwarded content of a socket message. */
interface SaidInMessage extends ForwardedIdentity {
  password?: string;
  resume?: string;
}

type Hello = Extract<ClientRequest, { type: "hello" }>;
type Access = Extract<ClientRequest, { type: "access" }>;

/** The forwarding side. */
export class IdentityForwarder {
  readonly #auth: Auth;
  readonly #requestAuth: RequestAuth;

  constructor(auth: Auth, requestAuth: RequestAuth) {
    this.#auth = auth;
    this.#requestAuth = requestAuth;
  }

  ofRequest(request: FastifyRequest): ForwardedIdentity {
    return { identity: this.#requestAuth.of(request).identity };
  }

  /** @returns the message to send instead; null: it contains no secret */
  ofMessage(
    request: FastifyRequest,
    message: Buffer,
    first: boolean,
    seal: (said: unknown) => string,
  ): Promise<Uint8Array> | null {
    // msgpack stores the keys of maps as plain text.
    if (!SECRETS.some((key) => message.includes(key))) return null;
    const read = readMessage(message);
    if (first && read?.type === "hello") return this.#ofHello(request, read, seal);
    return read?.type === "access" && typeof read.password === "string" ? ofAccess(read, seal) : null;
  }

  async #ofHello(request: FastifyRequest, hello: Hello, seal: (said: unknown) => string): Promise<Uint8Array> {
    const { version, name, color, mode, hz, contacts, token, password, resume } = hello;
    const forwarded: ForwardedIdentity =
      token === undefined ? { identity: null } : await this.#auth.unsealIdentity(token, addressKey(request.ip));
    const said: SaidInMessage = { ...forwarded, password, resume };
    return encode([ClientMessage.hello, version, { name, color, mode, hz, contacts, ticket: seal(said) }]);
  }
}

const SECRETS = ["token", "password", "resume", "ticket"];

async function ofAccess(
  { locked, ownersOnly, chat, liftBans, password, request }: Access,
  seal: (said: unknown) => string,
): Promise<Uint8Array> {
  const options = { locked, ownersOnly, chat, liftBans, request, ticket: seal({ password }) };
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return encode([ClientMessage.access, Object.fromEntries(given)]);
}

function readMessage(message: Uint8Array): ClientRequest | null {
  try {
    return parseClientMessage(message);
  } catch {
    return null; // The owner will report the error.
  }
}

/**
 * Opens a forwarded message on the receiving side.
 * @param take opens the ticket of a message; null: not a valid ticket for this process
 * @returns the message as if the client had sent it directly
 */
export function openMessage(request: ClientRequest | null, take: (sealed: string) => unknown): OpenedRequest | null {
  if ((request?.type !== "hello" && request?.type !== "access") || request.ticket === undefined) return request;
  const said = take(request.ticket);
  if (said === null) return request;
  const { problem, password, resume } = { ...(said as Partial<SaidInMessage>) };
  if (![problem, password, resume].every((text) => text === undefined || typeof text === "string"))
    throw new MalformedMessage("ticket: a text in it is not a string");
  if (request.type === "access") return { ...request, password };
  const forwarded: ForwardedIdentity = { identity: identityIn(said), ...(problem !== undefined && { problem }) };
  return { ...request, token: undefined, password, resume, forwarded };
}
