/** Wraps a store: times and counts every operation (metrics/store.ts). */
import type { ObjectStore } from "./objects/objectStore.ts";
import { OBJECT_OPERATIONS, ROOM_OPERATIONS, type StoreMetrics, type StoreOperation } from "../metrics/store.ts";
import { LeaseLost, type Store, StoreBehind } from "./store.ts";

type Operation = (...args: unknown[]) => Promise<unknown>;

/** @returns a store with the same results and errors */
export function measured(store: Store, metrics: StoreMetrics): Store {
  const timed =
    (operation: StoreOperation, of: object = store): Operation =>
    async (...args) => {
      const ended = metrics.begin(operation);
      try {
        const result = await (of as Record<string, Operation>)[operation]!.apply(of, args);
        ended("ok");
        return result;
      } catch (error) {
        ended(error instanceof LeaseLost || error instanceof StoreBehind ? "refused" : "failed");
        throw error;
      }
    };
  const objects = Object.fromEntries(
    OBJECT_OPERATIONS.map((operation) => [operation, timed(operation, store.objects)]),
  ) as unknown as ObjectStore;
  const operations = Object.fromEntries(ROOM_OPERATIONS.map((operation) => [operation, timed(operation)]));
  return {
    kind: store.kind,
    leaseSeconds: store.leaseSeconds,
    open: () => store.open(),
    close: () => store.close(),
    objects,
    ...operations,
  } as Store;
}
