/** A store whose every operation is timed and counted (metrics/store.ts); otherwise the one it stands before. */
import { STORE_OPERATIONS, type StoreMetrics, type StoreOperation } from "../metrics/store.ts";
import { LeaseLost, type Store, StoreBehind } from "./store.ts";

type Operation = (...args: unknown[]) => Promise<unknown>;

/** @returns a store that does the same and rejects with the same errors */
export function measured(store: Store, metrics: StoreMetrics): Store {
  const timed =
    (operation: StoreOperation): Operation =>
    async (...args) => {
      const ended = metrics.begin(operation);
      try {
        const result = await (store[operation] as Operation).apply(store, args);
        ended("ok");
        return result;
      } catch (error) {
        ended(error instanceof LeaseLost || error instanceof StoreBehind ? "refused" : "failed");
        throw error;
      }
    };
  const operations = Object.fromEntries(STORE_OPERATIONS.map((operation) => [operation, timed(operation)]));
  return {
    kind: store.kind,
    leaseSeconds: store.leaseSeconds,
    open: () => store.open(),
    close: () => store.close(),
    ...operations,
  } as Store;
}
