/** Public interface of the package `pliant-client`. */
export { joinRoom, type JoinOptions } from "./joinRoom.ts";
export type { BodyReference, PointReference, Room } from "./room.ts";
export type { Grab } from "./calls/ownGrabs.ts";
export type { HeldPoint } from "./mirror/heldPoints.ts";
export type { Detail, RoomBody } from "./mirror/roomBodies.ts";
export type { RoomEventName, RoomEvents, RoomState } from "./events.ts";
export type { TokenStorage } from "./connection/keptTokens.ts";
export type { Pin } from "../../shared/members/pin.ts";
export type { SocketConstructor, SocketLike } from "./connection/roomConnection.ts";
export { REACTIONS } from "../../shared/members/reactions.ts";
export type {
  AccessState,
  MemberGrabs,
  Member,
  Point,
  Said,
} from "../../shared/protocol/fromServer.ts";
export type { AccessChange, GrabOptions, SpawnOptions, SurfacePoint } from "../../shared/protocol/fromClient.ts";
export { ClientErrors, type ClientErrorCode, PliantError, type PliantErrorCode } from "./errors.ts";
