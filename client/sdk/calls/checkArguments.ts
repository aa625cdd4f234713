/** Checks of the arguments that callers pass to the package. An error names the field, its value and the limit. */
import { badArgument } from "../errors.ts";
import type { Point } from "../../../shared/protocol/fromServer.ts";

const ROOM_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
const COLOR = /^#[0-9a-f]{6}$/i;

export interface Address {
  /** http(s)://host[:port], with the path below which a proxy serves Pliant, if there is one. */
  base: string;
  room: string;
  /** Token of an invitation link (`#token=`). */
  token: string | undefined;
  /** Scene of a link that opens the room again (`?scene=`). */
  scene: string | undefined;
}

/** @param url of a room's page, http(s)://host[:port]/r/<room>, with ?scene= and #token= or without */
export function parseAddress(url: unknown): Address {
  const text = url instanceof URL ? url.href : url;
  const limit = "the address of a room: http(s)://host[:port]/r/<room>";
  if (typeof text !== "string" || !URL.canParse(text)) return badArgument("url", text, limit);
  const { protocol, origin, pathname, hash, searchParams } = new URL(text);
  const [, below = "", room = ""] = /^(.*)\/r\/([^/]+)\/?$/.exec(pathname) ?? [];
  if (!/^https?:$/.test(protocol) || !ROOM_NAME.test(room)) return badArgument("url", text, limit);
  const token = new URLSearchParams(hash.slice(1)).get("token") ?? undefined;
  return { base: origin + below, room, token, scene: searchParams.get("scene") ?? undefined };
}

export function checkText(field: string, value: unknown, longest: number): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value.length > longest || !value.isWellFormed())
    return badArgument(field, value, `a string of at most ${longest} characters`);
  return value;
}

export function checkColor(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" && COLOR.test(value) ? value : badArgument("color", value, "#rrggbb");
}

export function checkNumber(field: string, value: unknown, least: number, most: number): number {
  if (typeof value === "number" && value >= least && value <= most) return value;
  return badArgument(field, value, `a number from ${least} to ${most}`);
}

export function checkInteger(field: string, value: unknown, most: number): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return value as number;
  return badArgument(field, value, `an integer from 0 to ${most}`);
}

export function checkVector(field: string, value: unknown): Point {
  const list = value as ArrayLike<unknown> | null | undefined;
  if (typeof list !== "object" || list === null || list.length !== 3)
    return badArgument(field, value, "three numbers x, y, z");
  const point = [list[0], list[1], list[2]];
  if (!point.every((part) => typeof part === "number" && Number.isFinite(part)))
    return badArgument(field, point, "three finite numbers");
  return point as Point;
}
