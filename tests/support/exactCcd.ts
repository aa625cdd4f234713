/**
 * Exact answers for tests of the kernel's collision detection, from the collision checker, which shares no code with
 * the kernel.
 */
export {
  edgeEdge as exactEdgeEdge,
  vertexTriangle as exactVertexTriangle,
} from "../../server/tools/check/exact/swept.ts";
