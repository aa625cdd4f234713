/** The kernel's exports: the whole tick for rooms, and each constraint alone for parity tests and benchmarks. */
export { step, help } from "./crew";
export { bodyIsSound, stateHash } from "./guard";
export { solveTetrahedra } from "./tetrahedron";
export { settle } from "./settle";
export { solveTriangles } from "./triangle";
export { solveBending } from "./bending";
export { solvePaperTetrahedra } from "./paperTetrahedron";
export { solvePaperTriangles } from "./paperTriangle";
export { solvePaperBending } from "./paperBending";
export { solvePoints } from "./points";
export { predict, updateVelocity } from "./particles";
export { collide } from "./collide";
export { findContacts } from "./broadphase";
export { balance, findFreeBodies, restore } from "./momentum";
export { solveContacts } from "./contacts";
