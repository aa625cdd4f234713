/** Memory use of a room, for modules that do not load the simulation. */
export { type MemoryUse, memoryUse } from "../sim/memory/usage.ts";
