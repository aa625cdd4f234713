/**
 * `window.pliant`: read-only access to the state of the running page, for end-to-end tests and debugging. It is not a
 * stable API, and nothing in the page reads it.
 *
 *     pliant.room, .scene, .member      undefined before the welcome
 *     pliant.status                     "connecting" | "open" | "reconnecting" | "ended"
 *     pliant.tick                       tick shown now (fractional)
 *     pliant.frames()                   the last decoded frames, oldest first: [{tick, ints: number[], still}]
 *     pliant.quanta                     grid of each body, m
 *     pliant.displayed()                float32 positions drawn now, m
 *     pliant.sampled()                  the same without the local bends of the own grabs
 *     pliant.crossFading                true while a jump of the time line is cross-faded: the picture is then no frame
 *                                       and no interpolation of two frames
 *     pliant.project([x, y, z])         window pixels {x, y}, or undefined behind the camera
 *     pliant.pick(x, y)                 surface point under a window pixel {body, triangle, u, v, point}
 *     pliant.grabs()                    grabs as drawn, of all members
 *     pliant.cursors()                  cursors of other members as drawn
 *     pliant.skinned(body)              promise of positions and normals as the GPU computes them
 *     pliant.firstMovingFrameMs         from the start of navigation to the first picture with motion, ms
 *     pliant.firstDrawnFrameMs          from the start of navigation to the first picture with bodies, ms
 *     pliant.absent                    indices of the spawnable bodies that are not drawn
 *     pliant.seen([x, y, z])            a point relative to a visitor with a headset, m; undefined without a headset
 *     pliant.stats()                    round trip, buffer, fps, kbit/s, decode times
 *     pliant.sounds                     contact sounds since they were turned on; undefined while they are off
 *     pliant.drawn                      pictures drawn so far
 *     pliant.pictures()                 ids and URLs of the textures of the bodies
 *     pliant.view                       the RoomView (bodies, stage); undefined before drawing starts
 */
import { Vector3 } from "three";
import type { ConnectionStatus } from "./sdk/connection/roomConnection.ts";
import type { RoomState } from "./state/roomState.ts";
import type { LocalStats } from "./ui/room/layers/statsOverlay.ts";
import type { DrawnCursor, DrawnGrab } from "./view/grabs/cursorsView.ts";
import type { RoomView } from "./view/roomView.ts";

export interface HookSources {
  state: RoomState;
  status: () => ConnectionStatus["state"];
  tick: () => number;
  view: () => RoomView | undefined;
  grabs: () => readonly DrawnGrab[];
  cursors: () => readonly DrawnCursor[];
  seen: (point: Vector3) => Vector3 | undefined;
  sounds: () => number | undefined;
  stats: () => LocalStats;
  firstDrawnFrameMs: () => number | undefined;
  firstMovingFrameMs: () => number | undefined;
}

function createHook({
  state,
  status,
  tick,
  view,
  grabs,
  cursors,
  seen,
  sounds,
  stats,
  firstDrawnFrameMs,
  firstMovingFrameMs,
}: HookSources) {
  return Object.freeze({
    get room() {
      return state.welcome?.room;
    },
    get scene() {
      return state.welcome?.scene;
    },
    get member() {
      return state.welcome?.member;
    },
    get topology() {
      return state.welcome?.topology;
    },
    get status() {
      return status();
    },
    get tick() {
      return tick();
    },
    get view() {
      return view();
    },
    get quanta() {
      return state.topology?.bodies.map((body) => body.quantum) ?? [];
    },
    get crossFading() {
      return state.crossFading;
    },
    get absent() {
      return [...state.hidden].flatMap((hidden, body) => (hidden ? [body] : []));
    },
    get sounds() {
      return sounds();
    },
    get members() {
      return state.members;
    },
    get firstMovingFrameMs() {
      return firstMovingFrameMs();
    },
    get firstDrawnFrameMs() {
      return firstDrawnFrameMs();
    },
    get drawn() {
      return view()?.drawn ?? 0;
    },
    frames: () =>
      (state.buffer?.list() ?? []).map((frame) => ({ tick: frame.tick, still: frame.still, ints: [...frame.ints] })),
    displayed: () => [...state.displayed],
    sampled: () => [...state.sampled],
    project: (point: [number, number, number]) => view()?.project(new Vector3(...point)),
    seen: (point: [number, number, number]) => seen(new Vector3(...point))?.toArray(),
    pick: (x: number, y: number) => {
      const picked = view()?.pick(x, y, 0);
      return (
        picked && {
          body: picked.body,
          triangle: picked.triangle,
          u: picked.u,
          v: picked.v,
          point: picked.point.toArray(),
        }
      );
    },
    grabs,
    cursors,
    skinned: async (body: number) => {
      const { readSkinned } = await import("./view/bodies/skinProbe.ts");
      const room = view();
      if (!room) throw new Error("nothing is drawn yet");
      const mesh = room.bodies[body]!;
      // Update first, so that input and output belong to one moment: the room moves on while no picture is drawn.
      mesh.update();
      const { positions, normals } = readSkinned(room.stage.renderer, mesh);
      return { positions: [...positions], normals: [...normals], particles: [...mesh.positions] };
    },
    pictures: () => state.topology?.bodies.flatMap(({ detail }) => detail?.picture ?? []) ?? [],
    stats,
  });
}

export type DebugHook = ReturnType<typeof createHook>;

export function installDebugHook(sources: HookSources): void {
  Object.defineProperty(window, "pliant", { value: createHook(sources) });
}
