/**
 * The memory map that the kernel (asc) and the loader (tsc) share. Numbers only, so that both compilers read the same
 * files. All addresses in memory are absolute byte addresses in the room's one WebAssembly.Memory.
 *
 * A row is a list of its fields: each begins where the one before it ends, which is said as that field's name and size
 * (sizes.ts). A bare number behind a size is padding. Fields that are alternatives begin at the same one.
 */
export * from "./bodies.ts";
export * from "./colliders.ts";
export * from "./constraints.ts";
export * from "./contact.ts";
export * from "./front.ts";
export * from "./header.ts";
export * from "./implicit.ts";
export * from "./lists.ts";
export * from "./points.ts";
export * from "./program.ts";
export * from "./rigid.ts";
export * from "./stages.ts";
export * from "./threads.ts";
export * from "./trees.ts";
export * from "./wind.ts";
