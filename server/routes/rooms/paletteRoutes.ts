/** Gives a room the palette: its owner asks once, and the room starts again with primitives that members can add. */
import { decode } from "@msgpack/msgpack";
import type { FastifyInstance } from "fastify";
import { float32Of } from "../../../shared/bytes.ts";
import { CodedError } from "../../../shared/errorCodes.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import type { Topology } from "../../../shared/topology.ts";
import type { Audit } from "../../auth/audit.ts";
import { boundsOf } from "../../objects/bounds.ts";
import type { Objects } from "../../objects/objects.ts";
import { hasPalette, paletteScene } from "../../objects/palette.ts";
import type { Room } from "../../rooms/room.ts";
import type { RoomRegistry } from "../../rooms/registry.ts";
import type { SceneTemplate } from "../../rooms/scenes/sceneLibrary.ts";
import { tunedScene } from "../../rooms/scenes/tunedScene.ts";
import type { Tuning } from "../../../shared/members/tuningLimits.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { errorResponses, nameParam } from "../schemas.ts";

const PALETTE_SCHEMA = {
  tags: ["rooms"],
  summary: "Give a room the palette",
  description:
    "For the room's owner. The room's scene gets a pool of spawnable primitives (boxes, blocks, balls, a sheet), as many as fit, and starts again with its owners' changes; access and members stay, and sockets close with 1012. Members then add and remove the primitives with `spawn` and `remove`. A room that has the palette stays as it is.",
  params: nameParam("room", "Name of the room."),
  security: [{ token: [] }],
  response: {
    200: {
      type: "object",
      required: ["scene", "added"],
      properties: {
        scene: { type: "string", description: "Id of the room's scene now." },
        added: { type: "integer", description: "Number of new spawnable bodies; 0: the room had the palette." },
      },
    },
    ...errorResponses(
      "TOKEN_NEEDED",
      "TOKEN_INVALID",
      "NOT_ALLOWED",
      "TOO_MANY_REQUESTS",
      "BANNED",
      "ROOM_LOCKED",
      "ROOM_NOT_FOUND",
      "NO_PALETTE",
      "BUILD_FAILED",
      "OBJECT_LIMIT",
      "ROOM_MOVING",
      "STORE_AWAY",
    ),
  },
};

export interface PaletteRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  registry: RoomRegistry;
  objects: Objects;
}

export function paletteRoute(
  app: FastifyInstance,
  { requestAuth, audit, registry, objects }: PaletteRouteOptions,
): void {
  /** Rooms that are getting the palette, so that a repeated request waits for the first one. */
  const running = new Map<string, Promise<{ scene: string; added: number }>>();

  async function give(name: string, actor: string): Promise<{ scene: string; added: number }> {
    const room = registry.get(name);
    const {
      template,
      facts: { tuning },
    } = room;
    if (hasPalette(validateScene(JSON.parse(template.text)))) return { scene: room.scene, added: 0 };
    refuseSlow(room);
    const scene = withPalette(template, tuning);
    const id = await objects.keepScene(scene);
    await registry.changeScene(name, id);
    const added = scene.bodies.length - template.layout.tuned.bodies.length;
    audit.record("palette", actor, name, { scene: id, added });
    return { scene: id, added };
  }

  app.post<{ Params: { room: string } }>(
    "/api/rooms/:room/palette",
    { schema: PALETTE_SCHEMA },
    async (request, reply) => {
      const { name } = requestAuth.room(request);
      const { actor } = requestAuth.of(request);
      const giving = running.get(name) ?? give(name, actor).finally(() => running.delete(name));
      running.set(name, giving);
      return reply.send(await giving);
    },
  );
}

/**
 * Refuses more bodies to a room whose quickest ticks are too long. Its median would refuse them on a busy machine, too.
 * @throws CodedError NO_PALETTE
 */
function refuseSlow({ costs, tickHz }: Room): void {
  const { p10 } = costs.stepTimes.summary();
  const period = 1 / tickHz;
  if (p10 > period)
    throw new CodedError("NO_PALETTE", {
      field: "tick",
      value: `${(1000 * p10).toFixed(1)} ms`,
      limit: `${(1000 * period).toFixed(1)} ms`,
    });
}

/** @throws CodedError NO_PALETTE */
function withPalette(template: SceneTemplate, tuning: Tuning): ReturnType<typeof paletteScene> {
  const bytes = new Uint8Array(template.topology);
  const { bodies, particles } = decode(bytes) as Topology;
  const scene = validateScene(tunedScene(template.text, template.layout.tuned, tuning));
  return paletteScene({
    scene,
    ...boundsOf(bytes),
    extent: extentOf(bodies),
    particles,
    worldRadius: template.shape.reach,
  });
}

/** Longest side of the box around the undeformed bodies, m. */
function extentOf(bodies: Topology["bodies"]): number {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const { rest } of bodies)
    float32Of(rest).forEach((x, k) => {
      low[k % 3] = Math.min(low[k % 3]!, x);
      high[k % 3] = Math.max(high[k % 3]!, x);
    });
  return Math.max(...low.map((x, r) => high[r]! - x));
}
