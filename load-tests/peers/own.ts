/**
 * This project's kernel on one thread, as a room's worker steps it, including contact (little for a single body without
 * self-contact).
 */
import type { Scene } from "../../shared/scene/scene.ts";
import { createWorld } from "../../server/sim/world/createWorld.ts";
import { constraintSeconds, type World } from "../../server/sim/types.ts";
import { openWorld } from "../../server/sim/world.ts";
import { type Peer, timed } from "./peer.ts";

/** @param scene has one substep; a world is created for each number of iterations in `iterations` */
export async function ownPeer(
  scene: Omit<Scene, "version" | "title" | "tickHz" | "substeps" | "iterations">,
  iterations: readonly number[],
): Promise<Peer> {
  const worlds = new Map(
    await Promise.all(
      iterations.map(async (n) => {
        const { memory, layout } = await createWorld(
          { version: 1, title: "peers", tickHz: 60, substeps: 1, iterations: n, ...scene },
          { baseDir: "." },
        );
        const world = openWorld(memory, layout);
        world.mayRest = false;
        return [n, { world, solved: 0 }] as [number, { world: World; solved: number }];
      }),
    ),
  );
  return {
    name: "Pliant",
    step(n) {
      const entry = worlds.get(n)!;
      return timed(() => void (entry.solved = constraintSeconds(entry.world.step([]).seconds)));
    },
    solved: (n) => worlds.get(n)!.solved,
    hash: () => worlds.get(iterations[0]!)!.world.stateHash(),
  };
}
