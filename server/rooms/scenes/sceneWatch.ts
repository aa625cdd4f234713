/**
 * Follows the scenes folder during development: after a file is saved, the rooms of the scenes that changed start
 * again, and their pages reconnect. The server and all other rooms continue. A file with errors changes nothing; the
 * log has all of its errors.
 */
import { watch } from "node:fs";
import { basename } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import type { RoomRegistry } from "../registry.ts";
import type { SceneLibrary } from "./sceneLibrary.ts";

/** Time without further changes after which a file is read, ms: editors write it in several steps. */
const SETTLED_MS = 100;

interface Watched {
  scenesDir: string;
  library: SceneLibrary;
  registry: RoomRegistry;
  log: FastifyBaseLogger;
}

/** @returns a function that ends the watch */
export function watchScenes({ scenesDir, library, registry, log }: Watched): () => void {
  const saved = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const follow = async (): Promise<void> => {
    const files = [...saved];
    saved.clear();
    for (const scene of new Set(registry.list().map((room) => room.scene))) await followScene(scene, files);
  };
  const followScene = async (scene: string, files: readonly string[]): Promise<void> => {
    try {
      // The template is known by the scene's text, so a saved mesh file has to be read again.
      library.forgetWithFiles(scene, files);
      const { identity } = await library.template(scene);
      const outdated = registry.list().filter((room) => room.scene === scene && room.template.identity !== identity);
      for (const { name } of outdated) {
        await registry.restart(name);
        log.info({ room: name, scene }, "a scene's file was saved; its room starts again");
      }
    } catch (error) {
      log.warn({ scene, err: error }, "a scene's file was saved, but its rooms cannot start again");
    }
  };
  const watcher = watch(scenesDir, { recursive: true }, (_event, file) => {
    if (file) saved.add(basename(file));
    clearTimeout(timer);
    timer = setTimeout(() => (running = running.then(follow)), SETTLED_MS);
  });
  watcher.on("error", (error) => log.warn({ err: error }, "the scenes folder cannot be watched"));
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
