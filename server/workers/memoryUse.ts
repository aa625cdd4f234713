/** Memory of a room, for those who do not load the simulation. */
export { type MemoryUse, memoryUse } from "../sim/memory/usage.ts";
