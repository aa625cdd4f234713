/**
 * The memory map shared by kernel (asc) and loader (tsc). Numbers only, so that both compilers can read the same files.
 * All addresses are absolute byte addresses in the room's one WebAssembly.Memory.
 *
 * A row is a list of its fields. Each begins where the one before it ends, written as that field's name plus its size
 * (sizes.ts). A bare number after a size is padding. Alternative fields begin at the same place.
 */
export * from "./bodies.ts";
export * from "./colliders.ts";
export * from "./constraints.ts";
export * from "./contact.ts";
export * from "./bvttFront.ts";
export * from "./factor.ts";
export * from "./header.ts";
export * from "./implicit.ts";
export * from "./lists.ts";
export * from "./points.ts";
export * from "./prefactored.ts";
export * from "./program.ts";
export * from "./rigid.ts";
export * from "./stages.ts";
export * from "./threads.ts";
export * from "./trees.ts";
export * from "./wind.ts";
