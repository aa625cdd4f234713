/** The object store of a server without a database. */
import { describe } from "vitest";
import { MemoryObjects } from "../../../../server/store/objects/memoryObjects.ts";
import { objectConformance } from "../conformanceObjects.ts";

describe("objects in memory", () => {
  const rooms = new Set<string>();
  const objects = new MemoryObjects(() => rooms);
  objectConformance(
    () => [objects, objects],
    async (scene) => {
      rooms.add(scene);
      return async () => void rooms.delete(scene);
    },
  );
});
