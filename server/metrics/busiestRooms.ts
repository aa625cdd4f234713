/**
 * The only metrics that name rooms and scenes: the busiest and the slowest ones. At most TOP series of each metric
 * exist at a time, and a room must be busy or slow to appear, so quiet rooms never make a series.
 */
import type { Maker } from "./maker.ts";

/** Largest number of series of one of these metrics. */
const TOP = 10;
/** Least share of a thread with which a room or scene is listed. */
const BUSY = 0.01;
/** Time dilation below which a room is listed as slow. */
const SLOW = 0.95;

export interface RoomLoad {
  room: string;
  scene: string;
  /** Share of a thread's time in the last seconds. */
  load: number;
  /** Simulated time over wall time in the last second. */
  dilation: number;
}

export function makeBusiestRooms(maker: Maker, read: () => RoomLoad[]): void {
  const busiest = (loads: readonly RoomLoad[]): RoomLoad[] =>
    loads
      .filter(({ load }) => load >= BUSY)
      .sort((a, b) => b.load - a.load)
      .slice(0, TOP);
  const named = ({ room, scene }: RoomLoad): { room: string; scene: string } => ({ room, scene });
  maker.gaugeOf(
    "pliant_busiest_room_load_ratio",
    `Share of a thread that a room takes: the ${TOP} busiest.`,
    ["room", "scene"],
    () => busiest(read()).map((room) => ({ labels: named(room), value: room.load })),
  );
  maker.gaugeOf(
    "pliant_slowest_room_dilation_ratio",
    `Simulated time over wall time of the ${TOP} slowest rooms below ${SLOW}.`,
    ["room", "scene"],
    () =>
      read()
        .filter(({ dilation }) => dilation < SLOW)
        .sort((a, b) => a.dilation - b.dilation)
        .slice(0, TOP)
        .map((room) => ({ labels: named(room), value: room.dilation })),
  );
  maker.gaugeOf(
    "pliant_busiest_scene_load_ratio",
    `Threads that all rooms of a scene take together: the ${TOP} busiest scenes.`,
    ["scene"],
    () => {
      const scenes = new Map<string, RoomLoad>();
      for (const room of read())
        scenes.set(room.scene, { ...room, load: room.load + (scenes.get(room.scene)?.load ?? 0) });
      return busiest([...scenes.values()]).map(({ scene, load }) => ({ labels: { scene }, value: load }));
    },
  );
}
