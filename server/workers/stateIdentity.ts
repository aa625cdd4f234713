/**
 * State identities. The meaning of a saved state depends on everything that made its memory: the kernel, the memory
 * map, the scene's bodies. A state and its journal are valid only where all of these are equal.
 */
import { createHash } from "node:crypto";
import { kernelBytes } from "../sim/world/kernelModule.ts";
import type { WorldLayout } from "../sim/types.ts";

/**
 * Raise it when the loader's own code (inputs, guard, rest, intersections) would compute other bits from the same state
 * and inputs.
 */
const STEPS_VERSION = 3;

/** SHA-256 (hex, first 32 digits) of a topology's msgpack. */
export function topologyHashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 32);
}

/** SHA-256 (hex, first 12 digits): programs of one version read each other's states of the same scene. */
export function programVersion(): string {
  return createHash("sha256").update(`${STEPS_VERSION} `).update(kernelBytes()).digest("hex").slice(0, 12);
}

/** SHA-256 (hex, first 32 digits) of everything a state depends on. @param topologyHash of the scene as built */
export function identityOf(layout: WorldLayout, topologyHash: string): string {
  const hash = createHash("sha256").update(`${STEPS_VERSION} ${topologyHash} `).update(kernelBytes());
  // JSON of typed arrays is too long: use base64.
  hash.update(
    JSON.stringify(layout, (_, value: unknown) =>
      ArrayBuffer.isView(value)
        ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")
        : value,
    ),
  );
  return hash.digest("hex").slice(0, 32);
}
